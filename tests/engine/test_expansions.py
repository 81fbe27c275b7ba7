"""What every expansion promises, whatever it remembers."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from engine.reference import SlowExpansion, assert_close, formulas, play, random_stream
from localarc.engine import GAUSSIAN, DictionaryExpansion, ExactExpansion, LatticeExpansion

MAKERS: dict[str, Callable[[], Any]] = {
    "all": lambda: ExactExpansion(GAUSSIAN, 2),
    "last": lambda: ExactExpansion(GAUSSIAN, 2, window=40),
    "lattice": lambda: LatticeExpansion(2),
    "dictionary": lambda: DictionaryExpansion(GAUSSIAN, 2),
}
ALL = "all", "lattice", "dictionary"
each = pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS.keys())


@each
def test_learning_is_accumulating_shrinking_and_adding(make: Callable[[], Any]) -> None:
    stream = random_stream(0, 400, 2)
    one, other = make(), make()
    for point, rate in zip(stream.points, stream.rates.tolist(), strict=True):
        one.accumulate()
        one.shrink(1 - 0.3 * rate)
        one.add(point, rate)
        other.learn_raw(point, 1 - 0.3 * rate, rate)
    some = stream.points[:30]
    assert_close(one.evaluate(some), other.evaluate(some), 1e-13)
    assert_close(one.average(some), other.average(some), 1e-13)


@each
@pytest.mark.parametrize("factors", [(0.99, 0.9), (0.4, 0.002)])
def test_a_projection_is_a_round_and_then_a_shrink_to_the_last_bit(
    make: Callable[[], Any], factors: tuple[float, float]
) -> None:
    decay, projection = factors
    one, other = make(), make()
    for n, point in enumerate(random_stream(0, 300, 2).points):
        one.learn_raw(point, decay, 0.5)
        one.shrink(projection)
        other.learn_raw(point, decay, 0.5, projection)
        assert other.rounds == n + 1
    for name, array in one.arrays().items():
        np.testing.assert_array_equal(array, other.arrays()[name], name)


@each
def test_what_arrays_returned_does_not_change_later(make: Callable[[], Any]) -> None:
    expansion = make()
    for point in random_stream(0, 60, 2).points:
        arrays = expansion.arrays()
        copies = {name: array.copy() for name, array in arrays.items()}
        expansion.learn_raw(point, 0.5, 1.0)
        for name, array in arrays.items():
            np.testing.assert_array_equal(array, copies[name], name)


@pytest.mark.slow
@pytest.mark.parametrize("name", ALL)
def test_the_constant_never_falls_below_its_floor(name: str) -> None:
    stream = random_stream(4, 400, 2, constant=3.0, floor=2.5)
    slow = SlowExpansion(formulas(2)["gaussian"])
    thresholds, losses = play(slow, stream, 1.0)
    played = MAKERS[name]().replay(stream)
    assert_close(played.thresholds, thresholds, 1e-4 if name == "dictionary" else 1e-12)
    np.testing.assert_array_equal(played.losses, losses)
    assert played.constant >= 2.5
    without = stream.constant + np.cumsum(stream.rates * (losses - stream.alpha))
    assert without.min() < 2.0


@each
def test_an_empty_expansion_is_zero_everywhere(make: Callable[[], Any]) -> None:
    expansion = make()
    assert expansion.evaluate(np.ones((3, 2))).tolist() == [0, 0, 0]
    assert expansion.average(np.ones((3, 2))).tolist() == [0, 0, 0]
    assert expansion.evaluate_one(np.ones(2)) == 0


@each
def test_an_empty_stream_changes_nothing(make: Callable[[], Any]) -> None:
    expansion = make()
    played = expansion.replay(random_stream(0, 0, 2, constant=0.5))
    assert (len(played.thresholds), played.constant, expansion.rounds) == (0, 0.5, 0)


@each
def test_arrays_of_any_layout_are_read(make: Callable[[], Any]) -> None:
    expansion = make()
    points = random_stream(1, 50, 2).points
    expansion.learn_raw(points[0], 1.0, 1.0)
    frozen = points.copy()
    frozen.flags.writeable = False
    expected = expansion.evaluate(points[::2])
    assert_close(expansion.evaluate(np.asfortranarray(points)[::2]), expected, 0.0)
    assert_close(expansion.evaluate(frozen[::2]), expected, 0.0)


@each
def test_the_average_is_the_mean_of_what_was_accumulated(make: Callable[[], Any]) -> None:
    expansion, some = make(), random_stream(2, 30, 2).points
    seen = []
    for point in some:
        seen.append(expansion.evaluate(some))
        expansion.learn_raw(point, 0.9, 0.5)
    assert_close(expansion.average(some), np.mean(seen, axis=0), 1e-13)
