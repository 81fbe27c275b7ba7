"""False alarms: streams that keep their promise, looked at after every round."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import TypeAlias

import joblib
import numpy as np

from benchmarks.monitoring import streams
from benchmarks.monitoring.others import Mapie
from benchmarks.monitoring.watchers import LIMIT, TARGET, Broken, Drifting, Watcher, first_alarms
from localarc.validation import FloatArray

Losses: TypeAlias = Callable[[], Iterator[FloatArray]]


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


def measure(many: int, few: int, rounds: int, jobs: int = 1) -> list[FalseAlarms]:
    """Independent losses in many streams, and losses of calibrators in a few."""
    kinds = {
        "misses at the target": (many, partial(streams.misses, many, rounds, 1, TARGET)),
        "misses at target + tolerance": (many, partial(streams.misses, many, rounds, 2, LIMIT)),
        "graded losses at the target": (
            many,
            partial(streams.graded, many, rounds, 3, TARGET, 5.0),
        ),
        "graded losses at target + tolerance": (
            many,
            partial(streams.graded, many, rounds, 4, LIMIT, 5.0),
        ),
    }
    for name in streams.CALIBRATORS:
        losses = partial(streams.calibrated, name, few, rounds, TARGET)
        kinds[f"{name} on stationary data"] = few, losses
    tasks = (
        joblib.delayed(_counted)(name, count, rounds, losses)
        for name, (count, losses) in kinds.items()
    )
    return list(joblib.Parallel(n_jobs=jobs)(tasks))


def _counted(name: str, count: int, rounds: int, losses: Losses) -> FalseAlarms:
    """One kind of stream."""
    watchers: dict[str, Watcher] = {"broken": Broken(count), "drifting": Drifting(count)}
    if not name.startswith("graded"):
        watchers["mapie"] = Mapie(count)
    first = first_alarms(watchers, losses(), count)
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
