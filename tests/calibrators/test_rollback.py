"""All or nothing: whatever fails in mid-stream, a calibrator is what it was before."""

import copy
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from examples import CALIBRATORS, bump, sparse
from localarc import (
    LARC,
    RBF,
    KeepAll,
    Mondrian,
    replay,
    replay_many,
)
from localarc.calibrators import adaptive_rounds
from localarc.calibrators.base import BaseCalibrator
from localarc.curves import Curves, miscoverage
from localarc.kernels import Custom

pytestmark = pytest.mark.slow

ROUNDS = 32
FAR = 1e3  # an input that only the last rounds have
NEAR = [[0.0, 0.0], [1.0, 0.0]]


every_calibrator = pytest.mark.parametrize("make", CALIBRATORS.values(), ids=CALIBRATORS)


class OutOfLuckError(Exception):
    """What fails here."""


@pytest.fixture(autouse=True)
def _few_rounds_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(adaptive_rounds, "_ROUNDS_AT_ONCE", 8)


def rounds(seed: int, names: str = "ab") -> tuple[Any, Curves, list[str]]:
    random = np.random.default_rng(seed)
    X = random.normal(size=(ROUNDS, 2))
    groups = [names[i] for i in random.integers(0, len(names), ROUNDS)]
    return X, miscoverage(np.abs(random.normal(size=ROUNDS))), groups


def started(make: Callable[[], BaseCalibrator]) -> BaseCalibrator:
    """A calibrator that has learned already."""
    cal = make()
    replay(cal, *rounds(0))
    return cal


def failing(after: int, error: type[BaseException] = OutOfLuckError) -> Callable[[int], None]:
    """A report of progress that fails after a number of rounds."""
    done = 0

    def progress(more: int) -> None:
        nonlocal done
        done += more
        if done >= after:
            raise error

    return progress


def assert_unchanged_by(
    cal: BaseCalibrator, fail: Callable[[], object], error: type[BaseException]
) -> None:
    """The state is the same to the last byte, and so is all that comes after."""
    before, twin = cal.state(), copy.deepcopy(cal)
    X, curves, groups = rounds(5, "abc")
    with pytest.raises(error):
        fail()
    assert cal.state() == before
    assert cal.rounds == twin.rounds
    runs = [replay(each, X, curves, groups) for each in (cal, twin)]
    assert np.array_equal(runs[0].thresholds, runs[1].thresholds)
    assert cal.state() == twin.state()


@every_calibrator
@pytest.mark.parametrize("after", [1, 19, ROUNDS])
def test_a_replay_that_fails_between_rounds_changes_nothing(
    make: Callable[[], BaseCalibrator], after: int
) -> None:
    cal = started(make)
    X, curves, groups = rounds(1, "bcd")
    assert_unchanged_by(cal, lambda: replay(cal, X, curves, groups, failing(after)), OutOfLuckError)


@every_calibrator
def test_a_first_replay_that_fails_leaves_a_calibrator_new(
    make: Callable[[], BaseCalibrator],
) -> None:
    cal = make()
    with pytest.raises(OutOfLuckError):
        replay(cal, *rounds(1), failing(19))
    assert cal.rounds == 0
    assert cal.state() == make().state()


@pytest.mark.parametrize("name", ["ARC", "exact", "groups"])
def test_a_replay_that_is_interrupted_changes_nothing(name: str) -> None:
    cal = started(CALIBRATORS[name])
    interrupt = failing(19, KeyboardInterrupt)
    assert_unchanged_by(cal, lambda: replay(cal, *rounds(1, "bcd"), interrupt), KeyboardInterrupt)


def brittle(X: Any, z: Any) -> Any:
    """A kernel that does not know what to do far away."""
    if (np.abs(X) >= FAR).any():
        raise OutOfLuckError
    return bump(X, z)


def swelling(X: Any, z: Any) -> Any:
    """A kernel that exceeds its stated scale far away."""
    return bump(X, z) * (1.0 + (np.abs(z) >= FAR).any())


BRITTLE: dict[str, tuple[Callable[[], BaseCalibrator], type[Exception]]] = {
    "fails": (lambda: LARC(0.2, Custom(brittle, scale=1.0)), OutOfLuckError),
    "fails, ball": (lambda: LARC(0.2, Custom(brittle, scale=1.0), radius=0.4), OutOfLuckError),
    "exceeds": (lambda: LARC(0.2, Custom(swelling, scale=1.0, sample=NEAR)), ValueError),
    "exceeds, ball": (
        lambda: LARC(0.2, Custom(swelling, scale=1.0, sample=NEAR), radius=0.4),
        ValueError,
    ),
    "fails in a group": (
        lambda: Mondrian(lambda: LARC(0.2, Custom(brittle, scale=1.0))),
        OutOfLuckError,
    ),
}
every_brittle = pytest.mark.parametrize(("make", "error"), BRITTLE.values(), ids=BRITTLE)


@every_brittle
@pytest.mark.parametrize("far", [1, 13, ROUNDS - 1])
def test_a_kernel_that_fails_in_some_round_changes_nothing(
    make: Callable[[], BaseCalibrator], error: type[Exception], far: int
) -> None:
    cal = started(make)
    X, curves, groups = rounds(2, "bcd")
    X[far] = FAR
    assert_unchanged_by(cal, lambda: replay(cal, X, curves, groups), error)


@every_brittle
def test_many_losses_are_learned_all_or_none(
    make: Callable[[], BaseCalibrator], error: type[Exception]
) -> None:
    cal: Any = started(make)
    X, _, groups = rounds(2, "bcd")
    X[13] = FAR
    more = {"groups": groups} if "groups" in cal.learns_from else {}
    assert_unchanged_by(cal, lambda: cal.partial_fit(X, np.full(ROUNDS, 0.5), **more), error)


@every_brittle
@pytest.mark.parametrize("group", ["a", "new"])
def test_one_loss_is_learned_or_not(
    make: Callable[[], BaseCalibrator], error: type[Exception], group: str
) -> None:
    cal: Any = started(make)
    where = {"groups": group} if "groups" in cal.learns_from else {}
    assert_unchanged_by(cal, lambda: cal.update([FAR, FAR], 0.5, **where), error)


class Absurd:
    """A curve whose loss no calibrator takes."""

    def loss(self, threshold: float) -> float:
        return 7.0

    def size(self, threshold: float) -> float:
        return 0.0


def items(bad: Any, at: int) -> Iterator[Any]:
    X, curves, groups = rounds(3, "bcd")
    for t in range(ROUNDS):
        good = (X[t], curves[t], groups[t])
        if t == at and isinstance(bad, type):
            raise bad
        yield bad(good) if t == at else good


BAD_ITEMS: dict[str, tuple[Any, type[Exception]]] = {
    "no round": (lambda good: 3.0, ValueError),
    "no curve": (lambda good: (good[0], 0.5, good[2]), ValueError),
    "too many parts": (lambda good: (*good, 1, 2), ValueError),
    "loss too large": (lambda good: (good[0], Absurd(), good[2]), ValueError),
    "input of text": (lambda good: (["a", "b"], good[1], good[2]), TypeError),
    "source fails": (OutOfLuckError, OutOfLuckError),
}


@pytest.mark.parametrize(
    ("make", "bad", "error"),
    [
        pytest.param(make, *wrong, id=f"{name}-{what}")
        for (name, make), (what, wrong) in sparse([*CALIBRATORS.items()], [*BAD_ITEMS.items()])
        if (name, what) != ("ARC", "input of text")  # ARC does not look at inputs
    ],
)
def test_a_bad_round_among_good_ones_changes_nothing(
    make: Callable[[], BaseCalibrator], bad: Any, error: type[Exception]
) -> None:
    cal = started(make)
    assert_unchanged_by(cal, lambda: replay(cal, items(bad, 21)), error)


@every_calibrator
def test_an_iterator_that_is_interrupted_changes_nothing(
    make: Callable[[], BaseCalibrator],
) -> None:
    cal = started(make)
    source = items(OutOfLuckError, ROUNDS)
    stop = failing(19)
    assert_unchanged_by(cal, lambda: replay(cal, source, progress=stop), OutOfLuckError)


def test_a_group_keeps_its_calibrator_through_a_failure() -> None:
    """Whoever holds the calibrator of a group holds the one in use."""
    cal = Mondrian(CALIBRATORS["exact"])
    replay(cal, *rounds(0))
    held = dict(cal.calibrators)
    with pytest.raises(OutOfLuckError):
        replay(cal, *rounds(1, "bcd"), failing(19))
    assert list(cal.calibrators) == list(held)
    for group, part in held.items():
        assert cal.calibrators[group] is part


def test_groups_can_be_replayed_and_rolled_back() -> None:
    days = [(2024, 1, 1 + t % 3) for t in range(ROUNDS)]
    X, curves, _ = rounds(0)
    parts, whole = (
        Mondrian(lambda: LARC(0.2, RBF.from_paper(1.0), memory=KeepAll())) for _ in range(2)
    )
    first = replay(parts, X[:20], curves.take(slice(0, 20)), days[:20])
    new_days = [(2025, 1, 1)] * ROUNDS
    with pytest.raises(OutOfLuckError):
        replay(parts, X, curves, new_days, failing(19))
    second = replay(parts, X[20:], curves.take(slice(20, ROUNDS)), days[20:])
    run = replay(whole, X, curves, days)
    joined = np.concatenate([first.thresholds, second.thresholds])
    assert np.allclose(joined, run.thresholds, rtol=0, atol=1e-12)
    assert set(parts.calibrators) == set(days)


def test_of_many_the_one_that_fails_has_learned_nothing() -> None:
    X, curves, _ = rounds(2)
    X[13] = FAR
    good, bad = CALIBRATORS["exact"](), BRITTLE["fails"][0]()
    before = bad.state()
    with pytest.raises(OutOfLuckError):
        replay_many([good, bad], X, curves)
    assert bad.state() == before
