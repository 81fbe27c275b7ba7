"""The cases: what is measured, as a ratio to the NumPy loop, and the bar it should reach."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from benchmarks.engine.random_features import random_features
from benchmarks.engine.streams import (
    ALPHA,
    Work,
    area,
    calibrator,
    demand,
    loop,
    part,
    run_online,
    run_replay,
    seconds,
)
from localarc import (
    ARC,
    LARC,
    RBF,
    AutoLARC,
    Dictionary,
    KeepAll,
    KeepLast,
    Lattice,
    Mondrian,
    replay,
    replay_many,
)


@dataclass(frozen=True)
class Row:
    """One measurement."""

    what: str
    work: str
    value: str
    bar: str
    met: bool | None
    note: str = ""


@dataclass(frozen=True)
class Growth:
    """The cost of a step at round t, and the size of the state."""

    name: str
    t: int
    microseconds: float
    bytes: int


@dataclass(frozen=True)
class Cost:
    """The cost of a step and the largest deviation from exact thresholds."""

    stream: str
    memory: str
    microseconds: float
    deviation: float


def ratio(what: str, work: Work, value: float, bar: float, note: str = "") -> Row:
    return Row(what, work.name, f"{value:,.0f}x", f"{bar:g}x", value >= bar, note)


def warm(work: Work, *memories: Any) -> None:
    """Compile everything first; compilation is measured separately."""
    short = part(work, 0, 600)
    for memory in memories:
        run_replay(short, memory)
        run_online(calibrator(work, memory), short)


def against_the_loop() -> Iterator[Row]:
    """Exact, lattice and dictionary, run_replay and online, against the same loop."""
    plane, week = area(), demand()
    warm(plane, KeepAll(), Lattice(), Lattice(1e-8))
    warm(week, KeepAll(), Dictionary(1e-4))
    for work, bar in ((plane, 30), (week, 25)):
        slow = loop(work)
        base = seconds(partial(loop, work), 3)
        yield from _exact(work, slow, base, bar)
        if work is plane:
            yield from _lattice(work, slow, base)
            yield from _random_features(work, slow, base)
        else:
            yield from _dictionary(work, slow, base)


def _exact(work: Work, slow: Any, base: float, bar: float) -> Iterator[Row]:
    run = run_replay(work, KeepAll())
    fast = seconds(lambda: run_replay(work, KeepAll()))
    yield ratio("exact replay", work, base / fast, bar, _agreement(run, slow))
    thresholds, losses = run_online(calibrator(work, KeepAll()), work)
    step = seconds(lambda: run_online(calibrator(work, KeepAll()), work))
    yield ratio("exact online", work, base / step, 20, _agree(thresholds, losses, slow))
    yield _sweep(work, fast)
    yield _length_scales(work, fast)


def _length_scales(work: Work, one: float) -> Row:
    """l, l / 4 and l / 16: one distance and one exponential."""

    def together() -> Any:
        kernels = [RBF.from_paper(work.length_scale / ratio) for ratio in (1.0, 4.0, 16.0)]
        many = [LARC(ALPHA, kernel, memory=KeepAll()) for kernel in kernels]
        return replay_many(many, work.X, work.curves)

    together()
    value = f"{3 * one / seconds(together):.1f}x"
    return Row("3 length scales at once, against 3 replays", work.name, value, "-", None)


def _sweep(work: Work, one: float) -> Row:
    alphas = np.linspace(0.05, 0.5, 11)
    kernel = RBF.from_paper(work.length_scale)

    def together() -> Any:
        many = [LARC(float(alpha), kernel, memory=KeepAll()) for alpha in alphas]
        return replay_many(many, work.X, work.curves)

    together()
    return ratio("11 alphas at once, against 11 replays", work, 11 * one / seconds(together), 4)


def _lattice(work: Work, slow: Any, base: float) -> Iterator[Row]:
    for memory, name, bar in (
        (Lattice(), "lattice at rounding accuracy, replay", 300),
        (Lattice(1e-8), "Lattice(1e-8), replay", 600),
    ):
        run = run_replay(work, memory)
        fast = seconds(partial(run_replay, work, memory), 60)  # each takes a hundredth of a second
        yield ratio(name, work, base / fast, bar, _agreement(run, slow))
    step = seconds(lambda: run_online(calibrator(work, Lattice(1e-8)), work))
    thresholds, losses = run_online(calibrator(work, Lattice(1e-8)), work)
    note = _agree(thresholds, losses, slow)
    yield ratio("Lattice(1e-8), online", work, base / step, 120, note)


def _dictionary(work: Work, slow: Any, base: float) -> Iterator[Row]:
    memory = Dictionary(1e-4)
    run = run_replay(work, memory)
    fast = seconds(lambda: run_replay(work, memory))
    yield ratio("Dictionary(1e-4), replay", work, base / fast, 150, _agreement(run, slow))
    step = seconds(lambda: run_online(calibrator(work, memory), work))
    yield ratio("Dictionary(1e-4), online", work, base / step, 80)


def _random_features(work: Work, slow: Any, base: float) -> Iterator[Row]:
    short = part(work, 0, 4000)
    thresholds = random_features(short, 4096)
    spent = seconds(lambda: random_features(short, 4096), 1) / len(short)
    error = np.abs(thresholds - slow.thresholds[: len(short)]).max()
    value = f"{base / len(work) / spent:.1f}x"
    note = f"largest error {error:.1e} in the first {len(short):,} rounds: not offered"
    yield Row("random Fourier features, 4,096", work.name, value, "-", None, note)


def _agreement(run: Any, slow: Any) -> str:
    return _agree(run.thresholds, run.losses, slow)


def _agree(thresholds: Any, losses: Any, slow: Any) -> str:
    error = np.abs(thresholds - slow.thresholds).max()
    changed = int((losses != slow.losses).sum())
    return f"largest deviation {error:.1e}, {changed} losses differ"


def python_calls() -> Iterator[Row]:
    """Scalar calibrators against two empty method calls."""
    work = area()
    empty = seconds(lambda: run_online(Empty(), work))
    makers: dict[str, Callable[[], Any]] = {
        "ARC, online": lambda: ARC(ALPHA),
        "Mondrian of ARC, online": lambda: Mondrian(lambda: ARC(ALPHA), lambda x: x[0] > 70.0),
    }
    for name, make in makers.items():
        spent = seconds(partial(_run_new, make, work)) - empty
        value = f"{spent / len(work) * 1e9:,.0f} ns"
        yield Row(name, "threshold and update", value, "-", None, "in addition to two empty calls")


def _run_new(make: Callable[[], Any], work: Work) -> None:
    run_online(make(), work)


def auto() -> Iterator[Row]:
    """AutoLARC, as multiples of the time of LARC on a lattice with d = 2, in the same run."""
    plane, week = area(), demand()
    warm(plane, Lattice())
    for work in (plane, week):
        _auto_replay(part(work, 0, 600))
        run_auto(AutoLARC(ALPHA), part(work, 0, 600))
    unit = seconds(partial(run_replay, plane, Lattice()), 30) / len(plane)
    for work, bar in ((plane, 4), (week, 12)):
        spent = seconds(partial(_auto_replay, work), 7) / len(work)
        yield _multiple("AutoLARC, replay", work, spent / unit, bar, f"{spent * 1e6:.2f} us")
        empty = seconds(partial(run_auto, Empty(), work), 7) / len(work)
        step = seconds(partial(_auto_online, work), 7) / len(work) - empty
        note = "threshold and update, less two empty calls, against its replay"
        yield _multiple("AutoLARC, online", work, step / spent, 2, note)


def _multiple(what: str, work: Work, value: float, bar: float, note: str) -> Row:
    return Row(what, work.name, f"{value:.2f}x", f"at most {bar:g}x", value <= bar, note)


def _auto_replay(work: Work) -> None:
    replay(AutoLARC(ALPHA), work.X, work.curves)


def _auto_online(work: Work) -> None:
    run_auto(AutoLARC(ALPHA), work)


def run_auto(cal: Any, work: Work) -> None:
    """The two calls of a user's loop, with scores."""
    scores = work.scores.tolist()
    for t, x in enumerate(work.X):
        cal.update(x, float(scores[t] > cal.threshold(x)), scores[t])


class Empty:
    """Two calls that do nothing."""

    def threshold(self, x: Any) -> float:
        return 0.0

    def update(self, x: Any, loss: float, score: float | None = None) -> None:
        return None


def growth() -> Iterator[Growth]:
    """The cost of a step as t grows, for the figure and its row."""
    plane, week = area(1_002_000), demand(1_002_000)
    for name, work, memory in (
        ("Lattice, d = 2", plane, Lattice()),
        ("Dictionary(1e-4), d = 7", week, Dictionary(1e-4)),
        ("KeepLast(1000), d = 7", week, KeepLast(1000, archive=False)),
        ("KeepAll, d = 7", week, KeepAll()),
        ("AutoLARC, d = 2", plane, None),
        ("AutoLARC, d = 7", week, None),
    ):
        yield from _growth(name, work, memory, 100_000 if memory == KeepAll() else 1_000_000)


def _growth(name: str, work: Work, memory: Any, most: int) -> Iterator[Growth]:
    if memory is not None:
        warm(work, memory)
    cal: Any = AutoLARC(ALPHA) if memory is None else calibrator(work, memory)
    done = 0
    for t in (1_000, 10_000, 100_000, 1_000_000):
        if t > most:
            return
        _resume(cal, part(work, done, t))
        before = cal.state()
        next_rounds = part(work, t, t + 2000)
        times = []
        for _ in range(3):
            cal.restore(before)
            times.append(seconds(partial(_resume, cal, next_rounds), 1))
        cal.restore(before)
        done = t
        yield Growth(name, t, min(times) / 2000 * 1e6, cal.nbytes)


def _resume(cal: Any, work: Work) -> None:
    replay(cal, work.X, work.curves)


def costs() -> Iterator[Cost]:
    """Time per step against deviation, for the figure."""
    for work, memories in (
        (
            area(),
            [Lattice(1e-3), Lattice(1e-6), Lattice(1e-8), Lattice(), KeepLast(1000), KeepAll()],
        ),
        (
            demand(),
            [Dictionary(1e-2), Dictionary(1e-4), Dictionary(1e-6), KeepLast(1000), KeepAll()],
        ),
    ):
        slow = loop(work)
        warm(work, *memories)
        for memory in memories:
            run = run_replay(work, memory)
            spent = seconds(partial(run_replay, work, memory)) / len(work)
            error = float(np.abs(run.thresholds - slow.thresholds).max())
            yield Cost(work.name, _short(memory), spent * 1e6, max(error, 1e-16))


def _short(memory: Any) -> str:
    """The strategy and its first setting."""
    name = type(memory).__name__
    settings = list(vars(memory).values())
    return f"{name}({settings[0]:g})" if settings else name
