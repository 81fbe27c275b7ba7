"""Speed: a round of AutoLARC, as a multiple of one of L-ARC on a lattice in the same run."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from benchmarks.auto.measured import Measured, at_most
from benchmarks.engine.streams import ALPHA, Work, area, demand, part, run_replay, seconds
from localarc import AutoLARC, Lattice, replay

BARS = {2: 4.0, 7: 12.0}  # by features, of a replay; online twice that, and two empty calls
ROUNDS = 10_000
LONG = 1_000_000


class Empty:
    """Two calls that do nothing."""

    def threshold(self, x: Any) -> float:
        return 0.0

    def update(self, x: Any, loss: float, score: float) -> None:
        return None


def measure() -> list[Measured]:
    plane, week = part(area(), 0, ROUNDS), part(demand(), 0, ROUNDS)
    run_replay(plane, Lattice())  # compiles
    unit = seconds(lambda: run_replay(plane, Lattice())) / ROUNDS
    rows = []
    for work, bar in ((plane, BARS[2]), (week, BARS[7])):
        _online(AutoLARC(ALPHA), part(work, 0, 100))
        spent = seconds(partial(_replay, work)) / ROUNDS
        rows.append(at_most(work.name, "replay, in rounds of L-ARC", spent / unit, bar))
        empty = seconds(partial(_online, Empty(), work)) / ROUNDS
        online = seconds(partial(_online_new, work)) / ROUNDS - empty
        what = "threshold and update, beyond two empty calls"
        rows.append(at_most(work.name, what, online / unit, 2.0 * bar))
    return [*rows, *_growth()]


def _growth() -> list[Measured]:
    """The last tenth of a million rounds against the second, and the size of the state."""
    work, cal, tenth = area(LONG), AutoLARC(ALPHA), LONG // 10
    times = [
        seconds(partial(_replay_on, cal, part(work, t, t + tenth)), 1)
        for t in range(0, LONG, tenth)
    ]
    name = f"d = 2, T = {LONG:,}"
    return [
        at_most(name, "last tenth against the second, in time", times[-1] / times[1], 2.0),
        at_most(name, "megabytes in memory", cal.nbytes / 1e6, 9.0),
        at_most(name, "megabytes stored", len(cal.state()) / 1e6, 9.0),
    ]


def _replay(work: Work) -> None:
    _replay_on(AutoLARC(ALPHA), work)


def _replay_on(cal: AutoLARC, work: Work) -> None:
    replay(cal, work.X, work.curves)


def _online_new(work: Work) -> None:
    _online(AutoLARC(ALPHA), work)


def _online(cal: Any, work: Work) -> None:
    """The loop of a user who has the scores."""
    scores = work.scores.tolist()
    for x, score in zip(np.asarray(work.X), scores, strict=True):
        cal.update(x, float(score > cal.threshold(x)), score)
