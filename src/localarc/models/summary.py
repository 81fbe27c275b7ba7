"""What a calibrated model has kept so far: the verdict first, then groups and neighbourhoods."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from typing import Any

from localarc.betting import AutoCertificate, Place
from localarc.guarantees.chance import is_too_early
from localarc.guarantees.verdict import LEAST_ROUNDS, Part, Verdict, verdict
from localarc.models.calibration import Calibration
from localarc.models.counts import Seen
from localarc.models.levels import Levels
from localarc.models.per_class import PerClass

_ROWS_SHOWN = 12
_WORST = 5
_ALL_PLACES = 10**9


@dataclass(frozen=True)
class Coverage:
    """The coverage of a group or of a neighbourhood.

    Parameters
    ----------
    name : str
        What it is.
    rows : float
        The number of its rows; for a neighbourhood, their weight.
    coverage : float
        The share of them that was covered.
    at_least : float, default NaN
        The coverage that theorem E guarantees so far; NaN for a third, which has no promise.
    too_few : bool, default False
        Whether there are too few rows to judge it.

    Examples
    --------
    >>> print(Coverage("region=north", 400, 0.893, 0.81))
    region=north: 89.3 % of 400 rows, guaranteed at least 81.0 %
    """

    name: str
    rows: float
    coverage: float
    at_least: float = math.nan
    too_few: bool = False

    def __str__(self) -> str:
        text = f"{self.name}: {_percent(self.coverage)} of {self.rows:,.0f} rows"
        if self.too_few:
            text += ", too few to judge"
        if math.isnan(self.at_least):
            return text
        if self.at_least > 0.0:
            return f"{text}, guaranteed at least {_percent(self.at_least)}"
        return f"{text}, no guarantee so far"


@dataclass(frozen=True)
class LevelSummary:
    """What was kept at one coverage level.

    Parameters
    ----------
    target : float
        The coverage that was asked for.
    verdict : Verdict
        Whether it is kept.
    rows : int
        The number of rows with outcomes that were shown: asked, or learned by `update`, which
        scores each row with the set it had at the time.
    coverage : float
        The share of them that was covered; for masks and rankings, the mean recall.
    at_least, at_most : float
        What theorem E guarantees about the rows learned from: all of these and those of warm-ups,
        each by the finite threshold that it was charged at.
    mean_size : float
        The mean size of the finite sets shown.
    groups, places : tuple of Coverage
        Each group, and the neighbourhoods with the lowest coverage, of the rows learned from.
    thirds : tuple of Coverage
        The thirds of columns with the lowest coverage, in a sample of the rows shown.
    unbounded : int
        How many rows were shown an unbounded set, which covers everything.
    warm_up_rows, warm_up_coverage : int, float
        The rows of warm-ups, which were never shown, and the share of them that would have been
        covered.
    learned, learned_coverage : int, float
        The rows that the guarantee is about, and the share of them that their finite thresholds
        covered.
    looked_at : str
        Of how many columns there are thirds, and in how many rows.
    uninformed : int
        The rows whose set was unbounded because too little was known, left out by the guarantee.

    Examples
    --------
    >>> level = LevelSummary(0.9, Verdict("kept", "Misses 10 %, target 10 %."), 500, 0.9, 0.85,
    ...     0.95, 3.2, learned=500, learned_coverage=0.9)
    >>> print(level)
    Misses 10 %, target 10 %.
    coverage 90.0 % of 500 rows shown, promised 90.0 %; mean size 3.2
    guaranteed from 85.0 % to 95.0 % of 500 rows learned, 90.0 % so far
    """

    target: float
    verdict: Verdict
    rows: int
    coverage: float
    at_least: float
    at_most: float
    mean_size: float
    groups: tuple[Coverage, ...] = ()
    places: tuple[Coverage, ...] = ()
    thirds: tuple[Coverage, ...] = ()
    unbounded: int = 0
    warm_up_rows: int = 0
    warm_up_coverage: float = math.nan
    learned: int = 0
    learned_coverage: float = math.nan
    looked_at: str = ""
    uninformed: int = 0

    @property
    def outcomes(self) -> int:
        """The number of all rows with outcomes, those of warm-ups among them."""
        return self.learned + self.uninformed

    def __str__(self) -> str:
        lines = [self.verdict.text, *self._counts()]
        sections = (
            ("by group", self.groups),
            ("worst places", self.places),
            (f"worst thirds of {self.looked_at}", self.thirds),
        )
        for title, parts in sections:
            if parts:
                lines += [f"{title}:", *(f"  {part}" for part in parts[:_ROWS_SHOWN])]
            if len(parts) > _ROWS_SHOWN:
                lines.append(f"  and {len(parts) - _ROWS_SHOWN} more")
        return "\n".join(lines)

    def _counts(self) -> list[str]:
        lines = []
        if self.rows:
            full = f", {self.unbounded:,} with unbounded sets" if self.unbounded else ""
            lines.append(
                f"coverage {_percent(self.coverage)} of {self.rows:,} rows shown{full}, promised "
                f"{_percent(self.target)}; mean size {self.mean_size:.4g}"
            )
        if self.warm_up_rows:
            lines.append(
                f"warm-up: {_percent(self.warm_up_coverage)} of {self.warm_up_rows:,} rows, shown "
                "to nobody"
            )
        if self.learned:
            lines.append(
                f"guaranteed from {_percent(max(0.0, self.at_least))} to "
                f"{_percent(min(1.0, self.at_most))} of {self.learned:,} rows learned, "
                f"{_percent(self.learned_coverage)} so far"
                + (f"; {self.uninformed:,} before anything was known" if self.uninformed else "")
            )
        return lines


@dataclass(frozen=True)
class Summary:
    """What a calibrated model has kept so far; `print` it.

    Parameters
    ----------
    levels : tuple of LevelSummary
        One per coverage level.
    notes : tuple of str
        What limits the promise: many rows pending at once, too few outcomes, a full table.

    Examples
    --------
    >>> print(Summary((), ("3 of 10 outcomes are known; until then, sets are unbounded.",)))
    3 of 10 outcomes are known; until then, sets are unbounded.
    """

    levels: tuple[LevelSummary, ...]
    notes: tuple[str, ...] = field(default=())

    @property
    def verdict(self) -> Verdict:
        """The verdict of the first level that is not kept, else of the largest."""
        for level in self.levels:
            if not level.verdict.good:
                return level.verdict
        return self.levels[-1].verdict

    def __str__(self) -> str:
        return "\n".join([*map(str, self.levels), *self.notes])


def summarize(calibration: Calibration) -> Summary:
    """The summary of everything learned so far."""
    levels = calibration.levels
    if isinstance(levels, PerClass) and not levels.calibrators:
        return Summary((), ("No row was seen so far.",))
    certificates = [[cal.certificate() for cal in level] for level in levels.calibrators]
    made = [_level(calibration, at, of_level) for at, of_level in enumerate(certificates)]
    notes = _notes(levels, len(calibration.pending), certificates[-1][0])
    return Summary(tuple(made), tuple(notes))


def _level(
    calibration: Calibration, at: int, certificates: Sequence[AutoCertificate]
) -> LevelSummary:
    target, counts = calibration.levels.coverages[at], calibration.counts
    shown, warm, learned = counts.shown(at), counts.warm(at), _learned(certificates)
    places = _places(calibration, at)
    groups = _groups(certificates, _titles(calibration), 1.0 - target)
    thirds = sorted(calibration.sample.thirds(at), key=lambda part: -part.risk)
    parts = [*_parts(groups, "group"), *_parts(places, "neighbourhood"), *thirds]
    above, below = (sum(_value(getattr(c, side)) for c in certificates) for side in _SIDES)
    return LevelSummary(
        target,
        _judged(calibration, at, certificates, parts),
        shown.rows,
        _covered(shown),
        target - above,
        target + below,
        counts.mean_size(at),
        groups,
        places[:_WORST],
        tuple(Coverage(str(p.name), p.rounds, 1.0 - p.risk) for p in thirds[:_WORST]),
        unbounded=counts.unbounded(at),
        warm_up_rows=warm.rows,
        warm_up_coverage=_covered(warm),
        learned=learned.rows,
        learned_coverage=_covered(learned),
        looked_at=_looked_at(calibration),
        uninformed=certificates[0].uninformed,
    )


def _judged(
    calibration: Calibration,
    at: int,
    certificates: Sequence[AutoCertificate],
    parts: Sequence[Part],
) -> Verdict:
    """The verdict on the rows shown; if a bound was passed, its certificate's verdict.

    The bound is about all rows learned, and judges the rows shown where these are the same.
    """
    for certificate in certificates:
        if any(bound.passed for bound in certificate.bounds):
            return certificate.verdict
    alpha = round(1.0 - calibration.levels.coverages[at], 12)
    shown, learned = calibration.counts.shown(at), _learned(certificates)
    bound = _bound(certificates)
    same = shown.rows == learned.rows and math.isclose(shown.risk, learned.risk, rel_tol=1e-9)
    judged = learned if same or not shown.rows else shown
    found = verdict(
        alpha,
        judged.risk,
        judged.rows,
        bound=bound if judged is learned else None,
        parts=parts,
        misses=calibration.kind.counts_misses,
        consistent=all(c.consistent for c in certificates),
        size_ratio=calibration.sample.size_ratio(at),
    )
    if shown.rows or not judged.rows:
        return found
    return Verdict(found.state, f"No outcome of a row shown so far. Warm-up: {found.text}")


def _learned(certificates: Sequence[AutoCertificate]) -> Seen:
    """The rows that the certificates are about."""
    rows = int(certificates[0].rounds)
    return Seen(rows, sum(c.risk for c in certificates) if rows else math.nan)


def _covered(seen: Seen) -> float:
    return 1.0 - seen.risk if seen.rows else math.nan


def _looked_at(calibration: Calibration) -> str:
    sample = calibration.sample
    count, rows = len(sample.columns or ()), sample.known
    which = f"{rows:,} rows" + (f" sampled of {sample.seen:,}" if rows < sample.seen else "")
    return f"{count:,} column{'' if count == 1 else 's'} in {which}, named in local or not"


_SIDES = "above", "below"


def _bound(certificates: Sequence[AutoCertificate]) -> float | None:
    bounds = [certificate.tightest for certificate in certificates]
    return sum(b.value for b in bounds if b) if all(bounds) else None


def _value(bound: Any) -> float:
    return float(bound.value) if bound.holds else math.inf


def _groups(
    certificates: Sequence[AutoCertificate], title: Callable[[Hashable], str], alpha: float
) -> tuple[Coverage, ...]:
    found = []
    for group, first in certificates[0].groups.items():
        tails = [c.groups[group] for c in certificates]
        missed, above = sum(t.risk for t in tails), sum(_value(t.above) for t in tails)
        if first.rounds:
            promised = 1.0 - sum(t.alpha for t in tails)
            few = is_too_early(first.rounds, alpha, 1.0)
            found.append(Coverage(title(group), first.rounds, 1.0 - missed, promised - above, few))
    return tuple(sorted(found, key=lambda part: part.coverage))


def _titles(calibration: Calibration) -> Callable[[Hashable], str]:
    levels = calibration.levels
    if isinstance(levels, Levels):
        return calibration.columns.title
    names = dict(enumerate(levels.kind.classes or ()))

    def title(group: Any) -> str:
        if isinstance(group, tuple):
            return f"{title(group[0])} and {calibration.columns.title(group[1])}"
        if isinstance(group, int):
            return f"class {names.get(group, group)}"
        return calibration.columns.title(group)

    return title


def _places(calibration: Calibration, at: int) -> tuple[Coverage, ...]:
    """All places that were looked at, the worst first."""
    levels = calibration.levels
    if not isinstance(levels, Levels):
        return ()
    found: list[Coverage] = []
    for tail, cal in zip(levels.kind.tails, levels.calibrators[at], strict=True):
        side = f", {tail} end" if tail else ""
        places: Callable[..., Sequence[Place]] = getattr(cal, "places", lambda *limits: ())
        found += [
            Coverage(
                _where(place, calibration.columns.names) + side,
                place.weight,
                1.0 - place.risk,
                1.0 - place.alpha - _value(place.above),
                is_too_early(place.weight, 1.0 - levels.coverages[at], 1.0),
            )
            for place in places(_ALL_PLACES, LEAST_ROUNDS)
        ]
    return tuple(sorted(found, key=lambda part: part.coverage))


def _where(place: Place, names: Sequence[str]) -> str:
    parts = [
        f"{name} {centre:.4g} +- {width:.2g}"
        for name, centre, width in zip(names, place.centre, place.width, strict=True)
        if centre is not None and width is not None
    ]
    return ", ".join(parts) or "everywhere"


def _parts(found: Sequence[Coverage], kind: Any) -> list[Part]:
    return [Part(part.name, part.rows, 1.0 - part.coverage, kind=kind) for part in found]


def _notes(levels: Levels | PerClass, pending: int, certificate: AutoCertificate) -> list[str]:
    notes = []
    needed = levels.needed(len(levels.coverages) - 1)
    if levels.rounds < needed:
        notes.append(
            f"{levels.rounds} of {needed} outcomes are known; until then, sets are unbounded."
        )
    if certificate.most_pending > 1 and certificate.rounds:
        batches = certificate.rounds / certificate.most_pending
        notes.append(
            f"Up to {certificate.most_pending:,} rows were pending together, so that the promise "
            f"is about that of {batches:,.0f} rows learned at once."
        )
    if certificate.rounds:
        notes.append(
            "This is about rows in order, each with the set of its own moment. The sets of one "
            "moment, a snapshot, may cover more or less."
        )
    if pending:
        notes.append(f"{pending:,} rows are pending.")
    return [*notes, *certificate.notes]


def _percent(value: float) -> str:
    return f"{100.0 * value:.1f} %"
