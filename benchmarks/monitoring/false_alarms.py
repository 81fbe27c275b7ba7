"""False alarms: streams that keep their promise, looked at after every round."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from benchmarks.monitoring import streams
from benchmarks.monitoring.others import Mapie
from benchmarks.monitoring.watchers import LIMIT, TARGET, Broken, Drifting, Watcher, first_alarms
from localarc.validation import FloatArray


@dataclass(frozen=True)
class FalseAlarms:
    """How many streams raised an alarm at any round; MAPIE's is None for graded losses."""

    stream: str
    streams: int
    rounds: int
    broken: int
    drifting: int
    any_kind: int
    mapie: int | None


def measure(many: int, few: int, rounds: int) -> list[FalseAlarms]:
    """Independent losses in many streams, and losses of calibrators in a few."""
    independent = {
        "misses at the target": streams.misses(many, rounds, 1, TARGET),
        "misses at target + tolerance": streams.misses(many, rounds, 2, LIMIT),
        "graded losses at the target": streams.graded(many, rounds, 3, TARGET, 5.0),
        "graded losses at target + tolerance": streams.graded(many, rounds, 4, LIMIT, 5.0),
    }
    calibrated = {
        f"{name} on stationary data": streams.calibrated(name, few, rounds, TARGET)
        for name in streams.CALIBRATORS
    }
    return [
        *(_counted(name, many, rounds, losses) for name, losses in independent.items()),
        *(_counted(name, few, rounds, losses) for name, losses in calibrated.items()),
    ]


def _counted(name: str, count: int, rounds: int, losses: Iterator[FloatArray]) -> FalseAlarms:
    """One kind of stream."""
    watchers: dict[str, Watcher] = {"broken": Broken(count), "drifting": Drifting(count)}
    if not name.startswith("graded"):
        watchers["mapie"] = Mapie(count)
    first = first_alarms(watchers, losses, count)
    alarms = {watcher: np.isfinite(each) for watcher, each in first.items()}
    return FalseAlarms(
        stream=name,
        streams=count,
        rounds=rounds,
        broken=int(alarms["broken"].sum()),
        drifting=int(alarms["drifting"].sum()),
        any_kind=int((alarms["broken"] | alarms["drifting"]).sum()),
        mapie=int(alarms["mapie"].sum()) if "mapie" in alarms else None,
    )
