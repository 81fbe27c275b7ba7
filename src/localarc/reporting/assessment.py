"""A summary: what a run came to, as plain values."""

from __future__ import annotations

import importlib.metadata
import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from localarc import metrics
from localarc.calibrators.adaptive import AdaptiveCalibrator
from localarc.calibrators.base import BaseCalibrator
from localarc.calibrators.mondrian import Mondrian
from localarc.guarantees import Certificate
from localarc.kernels import Kernel
from localarc.metrics import GroupRisk, Neighbourhood
from localarc.record import Record
from localarc.streams import Stream


@dataclass(frozen=True)
class Run:
    """A calibrator that went through a stream, the record of it, and the name to show for both."""

    name: str
    calibrator: BaseCalibrator
    record: Record


@dataclass(frozen=True)
class Assessment:
    """What a run came to: `groups` from the safest to the riskiest, `worst` places first."""

    run: Run
    certificate: Certificate
    groups: list[GroupRisk]
    worst: list[Neighbourhood]

    @property
    def size(self) -> float:
        """The mean set size."""
        return float(self.run.record.sizes.mean())


def assess(stream: Stream, run: Run, kernel: Kernel | None = None) -> Assessment:
    """Certificate, groups and, as the kernel sees them, the worst neighbourhoods of a run."""
    record = run.record
    groups: list[GroupRisk] = []
    if record.groups is not None:
        groups = metrics.group_risk(record.losses, record.groups, record.sizes)
        groups.sort(key=lambda row: row.risk)
    largest = float(np.sqrt((stream.X**2).sum(axis=1).max(initial=0.0)))
    known = record.losses if run.calibrator.rounds == len(record) else None
    certificate = run.calibrator.certificate(
        evidence=record.evidence, input_bound=largest, losses=known
    )
    return Assessment(run, certificate, groups, _worst(stream, record, kernel))


def _worst(stream: Stream, record: Record, kernel: Kernel | None) -> list[Neighbourhood]:
    if kernel is None:
        return []
    try:
        return metrics.worst_neighbourhoods(stream.X, record.losses, kernel)
    except ValueError:  # too few rounds anywhere to tell bad luck from a bad place
        return []


def summary(stream: Stream, assessments: Sequence[Assessment]) -> dict[str, Any]:
    """The summary as JSON values, None where a number is not finite.

    format, localarc      what wrote this
    source, rounds, features
    target                alpha, the mean loss that was asked for
    methods               one each, the method asked for first:
      method, calibrator  its name, and its settings
      risk, size          mean loss and mean set size
      bound               the smallest bound on |risk - target| that holds: value, name, assumes
      score_range         low, high, and whether it was stated or observed
      certificate         risk, identity check and all bounds, with assumptions and those that fail
      groups              group, count, risk, standard_error, size, size_standard_error
      neighbourhoods      centre (by feature), risk, standard_error, count; the worst first
    """
    features = feature_names(stream)
    return {
        "format": "localarc summary 1",
        "localarc": version(),
        "source": stream.name,
        "rounds": len(stream),
        "features": features,
        "target": assessments[0].run.record.alpha,
        "methods": [jsonable(_method(each, features)) for each in assessments],
    }


def _method(each: Assessment, features: list[str]) -> dict[str, Any]:
    record, bound = each.run.record, each.certificate.bound
    (low, high), stated = used_range(each.run)
    return {
        "method": each.run.name,
        "calibrator": record.calibrator,
        "risk": record.risk,
        "size": each.size,
        "bound": bound.to_dict() if bound.holds else None,
        "score_range": {"low": low, "high": high, "stated": stated},
        "certificate": each.certificate.to_dict(),
        "groups": [{**asdict(row), "group": str(row.group)} for row in each.groups],
        "neighbourhoods": [
            {**asdict(place), "centre": dict(zip(features, place.centre.tolist(), strict=True))}
            for place in each.worst
        ],
    }


def used_range(run: Run) -> tuple[tuple[float, float], bool]:
    """The score range that bounds rest on, and whether it was stated rather than observed."""
    parts: list[object] = [run.calibrator]
    if isinstance(run.calibrator, Mondrian):
        parts = list(run.calibrator.calibrators.values())
    stated = [part.settings.score_range for part in parts if isinstance(part, AdaptiveCalibrator)]
    if stated and stated[0] is not None:
        return stated[0], True
    return run.record.evidence.score_range or (math.nan, math.nan), False


def feature_names(stream: Stream) -> list[str]:
    """The stream's own names for its features, or x1, x2, ..."""
    return list(stream.features) or [f"x{j + 1}" for j in range(stream.X.shape[1])]


def version() -> str:
    """The installed version of localarc."""
    try:
        return importlib.metadata.version("localarc")
    except importlib.metadata.PackageNotFoundError:
        return "unknown"


def jsonable(value: Any) -> Any:
    """The value with None for every number that JSON does not know."""
    if isinstance(value, dict):
        return {key: jsonable(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [jsonable(each) for each in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
