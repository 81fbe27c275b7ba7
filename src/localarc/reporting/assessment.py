"""Assessment: the certificate, groups and worst neighbourhoods of a run, and its summary."""

from __future__ import annotations

import importlib.metadata
import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, TypeAlias, TypedDict

import numpy as np

from localarc import measures
from localarc.calibrators.adaptive import AdaptiveCalibrator
from localarc.calibrators.base import BaseCalibrator
from localarc.calibrators.mondrian import Mondrian
from localarc.guarantees import Certificate, Part, Verdict
from localarc.kernels import Kernel
from localarc.measures import GroupRisk, LocalRisk, Neighbourhood
from localarc.measures.neighbourhoods import candidate_risks, select_worst
from localarc.running.record import Record
from localarc.streams import Stream

if TYPE_CHECKING:
    from localarc.betting import AutoCertificate

AnyCertificate: TypeAlias = "Certificate | AutoCertificate"


@dataclass(frozen=True)
class Run:
    """A replayed calibrator, its record and the name under which a report shows them.

    Parameters
    ----------
    name : str
        Name of the method, such as "L-ARC".
    calibrator : AutoLARC, ARC, LARC or Mondrian
        The calibrator after the replay.
    record : Record
        What `replay` returned.

    Examples
    --------
    >>> from localarc import ARC, replay
    >>> from localarc.streams import heteroscedastic
    >>> stream, cal = heteroscedastic(100, seed=0), ARC(alpha=0.1)
    >>> Run("ARC", cal, replay(cal, stream.X, stream.curves)).name
    'ARC'
    """

    name: str
    calibrator: BaseCalibrator
    record: Record


@dataclass(frozen=True)
class Assessment:
    """The results of a run.

    Parameters
    ----------
    run : Run
        The run.
    certificate : Certificate or AutoCertificate
        Risk, consistency check and bounds.
    groups : list of GroupRisk
        Risk and set size per group, from the lowest to the highest risk; empty without groups.
    worst : list of Neighbourhood
        Neighbourhoods with the highest risk, the worst first; empty without a kernel, or with too
        few rounds.
    verdict : Verdict
        Whether the target is met, overall, in every group and in every neighbourhood.

    Examples
    --------
    >>> from localarc import ARC, replay
    >>> from localarc.streams import heteroscedastic
    >>> stream, cal = heteroscedastic(100, seed=0), ARC(alpha=0.1)
    >>> run = Run("ARC", cal, replay(cal, stream.X, stream.curves))
    >>> assess(stream, run).certificate.consistent
    True
    """

    run: Run
    certificate: AnyCertificate
    groups: list[GroupRisk]
    worst: list[Neighbourhood]
    verdict: Verdict

    @property
    def size(self) -> float:
        """The mean size of the sets that are bounded."""
        return self.run.record.mean_size


def assess(stream: Stream, run: Run, kernel: Kernel | None = None) -> Assessment:
    """Return the certificate, the groups and the worst neighbourhoods of a run.

    Parameters
    ----------
    stream : Stream
        The stream that was replayed.
    run : Run
        The run.
    kernel : Kernel, optional
        Defines neighbourhoods; without one, none are assessed.

    Returns
    -------
    Assessment
        The results.

    Examples
    --------
    >>> from localarc import ARC, replay
    >>> from localarc.streams import heteroscedastic
    >>> stream, cal = heteroscedastic(100, seed=0), ARC(alpha=0.1)
    >>> run = Run("ARC", cal, replay(cal, stream.X, stream.curves, stream.groups))
    >>> [row.group for row in assess(stream, run).groups]
    ['easy', 'middle', 'hard']
    """
    record = run.record
    groups: list[GroupRisk] = []
    if record.groups is not None:
        groups = measures.group_risk(record.losses, record.groups, record.sizes)
        groups.sort(key=lambda row: row.risk)
    largest = float(np.sqrt((stream.X**2).sum(axis=1).max(initial=0.0)))
    known = record.losses if run.calibrator.rounds == len(record) else None
    certificate: AnyCertificate = run.calibrator.certificate(
        evidence=record.evidence, input_bound=largest, losses=known
    )
    places = None if kernel is None else candidate_risks(stream.X, record.losses, kernel)
    parts = [*_group_parts(groups), *_place_parts(places, stream)]
    verdict = certificate.judge(parts, record.size_ratio)
    return Assessment(run, certificate, groups, _worst(places, kernel), verdict)


def _group_parts(groups: Sequence[GroupRisk]) -> list[Part]:
    """Return the groups, for the verdict."""
    return [Part(row.group, row.count, row.risk, row.standard_error) for row in groups]


def _place_parts(places: LocalRisk | None, stream: Stream) -> list[Part]:
    """Return the neighbourhoods that were looked at, for the verdict."""
    names = feature_names(stream)
    return [
        Part(describe_centre(p, names), p.count, p.risk, p.standard_error, "neighbourhood")
        for p in places or ()
    ]


def describe_centre(place: Neighbourhood, names: Sequence[str]) -> str:
    """Return the centre of a neighbourhood, by feature."""
    pairs = zip(names, place.centre.tolist(), strict=True)
    return ", ".join(f"{name} = {coordinate(x)}" for name, x in pairs)


def coordinate(x: float) -> str:
    """Return a coordinate with three digits, whole from 1,000 on."""
    return f"{x:,.0f}" if 1e3 <= abs(x) < 1e9 else f"{x:.3g}"


def _worst(places: LocalRisk | None, kernel: Kernel | None) -> list[Neighbourhood]:
    """Return the worst neighbourhoods, or none if there are too few rounds."""
    if places is None or kernel is None:
        return []
    try:
        return select_worst(places, kernel)
    except ValueError:  # no neighbourhood has enough rounds
        return []


class MethodSummary(TypedDict):
    """The part of a `Summary` on one method; see `summary` for the fields."""

    method: str
    calibrator: str
    verdict: dict[str, str]
    warnings: list[str]
    risk: float | None
    size: float | None
    size_ratio: float | None
    bound: dict[str, object] | None
    score_range: dict[str, float | bool | None]
    certificate: dict[str, object]
    groups: list[dict[str, object]]
    neighbourhoods: list[dict[str, object]]


class Summary(TypedDict):
    """The summary of several runs, as in summary.json; see `summary` for the fields."""

    format: str
    localarc: str
    source: str
    rounds: int
    features: list[str]
    target: float
    methods: list[MethodSummary]


def summary(stream: Stream, assessments: Sequence[Assessment]) -> Summary:
    """Return the summary of several runs as JSON values.

    Parameters
    ----------
    stream : Stream
        The stream that was replayed.
    assessments : sequence of Assessment
        One per method, the main method first.

    Returns
    -------
    Summary
        A dict with None for numbers that are not finite, and these fields:

        - format, localarc: the format and the version of localarc
        - source, rounds, features
        - target: alpha, the target risk
        - methods: for each method

          - method, calibrator: name and settings
          - verdict: whether the target is met (state, text)
          - warnings: what went wrong without an error, each with the number to change
          - risk, size: mean loss and mean set size
          - size_ratio: how many times as large sets are as those of a rolling quantile
          - unbounded: how many rounds had an unbounded set, which the mean size leaves out
          - bound: the smallest bound on |risk - target| that holds (value, name, assumes)
          - score_range: low, high, and whether it was stated or observed
          - certificate: risk, consistency check, and all bounds with met and unmet assumptions
          - groups: group, count, risk, standard_error, size, size_standard_error
          - neighbourhoods: centre (by feature), risk, standard_error, count; the worst first

    Examples
    --------
    >>> from localarc import ARC, replay
    >>> from localarc.streams import heteroscedastic
    >>> stream, cal = heteroscedastic(100, seed=0), ARC(alpha=0.1)
    >>> run = Run("ARC", cal, replay(cal, stream.X, stream.curves))
    >>> summary(stream, [assess(stream, run)])["rounds"]
    100
    """
    features = feature_names(stream)
    return {
        "format": "localarc summary 1",
        "localarc": version(),
        "source": stream.name,
        "rounds": len(stream),
        "features": features,
        "target": assessments[0].run.record.alpha,
        "methods": [jsonable(_method(item, features)) for item in assessments],
    }


def _method(assessment: Assessment, features: list[str]) -> dict[str, Any]:
    """Return the part of the summary on one method."""
    record, bound = assessment.run.record, assessment.certificate.bound
    (low, high), stated = effective_score_range(assessment.run)
    return {
        "method": assessment.run.name,
        "calibrator": record.calibrator,
        "verdict": asdict(assessment.verdict),
        "warnings": list(record.warnings),
        "risk": record.risk,
        "size": assessment.size,
        "size_ratio": record.size_ratio,
        "unbounded": record.unbounded,
        "bound": bound.to_dict() if bound.holds else None,
        "score_range": {"low": low, "high": high, "stated": stated},
        "certificate": assessment.certificate.to_dict(),
        "groups": [{**asdict(row), "group": str(row.group)} for row in assessment.groups],
        "neighbourhoods": [
            {**asdict(place), "centre": dict(zip(features, place.centre.tolist(), strict=True))}
            for place in assessment.worst
        ],
    }


def effective_score_range(run: Run) -> tuple[tuple[float, float], bool]:
    """Return the score range that bounds assume, and whether it was stated (or observed)."""
    parts: list[object] = [run.calibrator]
    if isinstance(run.calibrator, Mondrian):
        parts = list(run.calibrator.calibrators.values())
    stated = [part.settings.score_range for part in parts if isinstance(part, AdaptiveCalibrator)]
    if stated and stated[0] is not None:
        return stated[0], True
    return run.record.evidence.score_range or (math.nan, math.nan), False


def feature_names(stream: Stream) -> list[str]:
    """Return the names of the features, or x1, x2, ... if they have none."""
    return list(stream.features) or [f"x{j + 1}" for j in range(stream.X.shape[1])]


def version() -> str:
    """Return the installed version of localarc."""
    try:
        return importlib.metadata.version("localarc")
    except importlib.metadata.PackageNotFoundError:
        return "unknown"


def jsonable(value: Any) -> Any:
    """Replace numbers that JSON cannot represent by None."""
    if isinstance(value, dict):
        return {key: jsonable(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [jsonable(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
