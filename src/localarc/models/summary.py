"""What a calibrated model has kept so far: the verdict first, then groups and neighbourhoods."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from typing import Any

from localarc.guarantees.chance import ENOUGH_LOSSES
from localarc.guarantees.theorem_e import AutoCertificate, Place
from localarc.guarantees.verdict import Part, Verdict, verdict
from localarc.models.calibration import Calibration
from localarc.models.levels import Levels
from localarc.models.per_class import PerClass

_ROWS_SHOWN = 12


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
    at_least : float
        The coverage that theorem E guarantees so far.

    Examples
    --------
    >>> print(Coverage("region=north", 400, 0.893, 0.81))
    region=north: 89.3 % of 400 rows, guaranteed at least 81.0 %
    """

    name: str
    rows: float
    coverage: float
    at_least: float

    def __str__(self) -> str:
        text = f"{self.name}: {_percent(self.coverage)} of {self.rows:,.0f} rows"
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
        The number of rows with outcomes.
    coverage : float
        The share of them that was covered; for masks and rankings, the mean recall. Rows that were
        shown unbounded sets count as their finite thresholds would have covered them.
    at_least, at_most : float
        What theorem E guarantees about it so far.
    mean_size : float
        The mean size of the finite sets shown.
    groups, places : tuple of Coverage
        Each group, and the neighbourhoods with the lowest coverage.

    Examples
    --------
    >>> level = LevelSummary(0.9, Verdict("kept", "Misses 10 %, target 10 %."), 500, 0.9, 0.85,
    ...     0.95, 3.2)
    >>> print(level)
    Misses 10 %, target 10 %.
    coverage 90.0 % of 500 rows, promised 90.0 %, guaranteed from 85.0 % to 95.0 %; mean size 3.2
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

    def __str__(self) -> str:
        lines = [self.verdict.text]
        if self.rows:
            lines.append(
                f"coverage {_percent(self.coverage)} of {self.rows:,} rows, promised "
                f"{_percent(self.target)}, guaranteed from {_percent(max(0.0, self.at_least))} to "
                f"{_percent(min(1.0, self.at_most))}; mean size {self.mean_size:.4g}"
            )
        for title, parts in (("by group", self.groups), ("worst places", self.places)):
            if parts:
                lines += [f"{title}:", *(f"  {part}" for part in parts[:_ROWS_SHOWN])]
            if len(parts) > _ROWS_SHOWN:
                lines.append(f"  and {len(parts) - _ROWS_SHOWN} more")
        return "\n".join(lines)


@dataclass(frozen=True)
class Summary:
    """What a calibrated model has kept so far; `print` it.

    Parameters
    ----------
    levels : tuple of LevelSummary
        One per coverage level.
    notes : tuple of str
        What limits the promise: rows pending together, too few outcomes, a full table.

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
    levels = calibration.levels
    target = levels.coverages[at]
    rows, risk = certificates[0].rounds, sum(c.risk for c in certificates)
    groups = _groups(certificates, _titles(calibration))
    places = _places(calibration, at)
    judged = verdict(
        round(1.0 - target, 12),
        risk if rows else math.nan,
        int(rows),
        bound=_bound(certificates),
        parts=[*_parts(groups, "group"), *_parts(places, "neighbourhood")],
        misses=calibration.kind.counts_misses,
        consistent=all(c.identity_holds for c in certificates),
    )
    above, below = (sum(_value(getattr(c, side)) for c in certificates) for side in _SIDES)
    size = calibration.mean_sizes[at]
    ends = target - above, target + below
    return LevelSummary(target, judged, int(rows), 1.0 - risk, *ends, size, groups, places)


_SIDES = "above", "below"


def _bound(certificates: Sequence[AutoCertificate]) -> float | None:
    bounds = [certificate.tightest for certificate in certificates]
    return sum(b.value for b in bounds if b) if all(bounds) else None


def _value(bound: Any) -> float:
    return float(bound.value) if bound.holds else math.inf


def _groups(
    certificates: Sequence[AutoCertificate], title: Callable[[Hashable], str]
) -> tuple[Coverage, ...]:
    found = []
    for group, first in certificates[0].groups.items():
        tails = [c.groups[group] for c in certificates]
        missed, above = sum(t.risk for t in tails), sum(_value(t.above) for t in tails)
        if first.rounds:
            promised = 1.0 - sum(t.alpha for t in tails)
            found.append(Coverage(title(group), first.rounds, 1.0 - missed, promised - above))
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
    levels = calibration.levels
    if not isinstance(levels, Levels):
        return ()
    found: list[Coverage] = []
    for tail, cal in zip(levels.kind.tails, levels.calibrators[at], strict=True):
        side = f", {tail} end" if tail else ""
        heavy = ENOUGH_LOSSES / (1.0 - levels.coverages[at])  # the verdict ignores lighter places
        found += [
            Coverage(
                _where(place, calibration.columns.names) + side,
                place.weight,
                1.0 - place.risk,
                1.0 - place.alpha - _value(place.above),
            )
            for place in cal.places(5, heavy)
        ]
    return tuple(sorted(found, key=lambda part: part.coverage)[:5])


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
    if pending:
        notes.append(f"{pending:,} rows are pending.")
    return [*notes, *certificate.notes]


def _percent(value: float) -> str:
    return f"{100.0 * value:.1f} %"
