"""What every expansion promises, whatever it remembers."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from engine.reference import assert_close, random_stream
from localarc.engine import GAUSSIAN, DictionaryExpansion, ExactExpansion, LatticeExpansion

MAKERS: dict[str, Callable[[], Any]] = {
    "all": lambda: ExactExpansion(GAUSSIAN, 2),
    "last": lambda: ExactExpansion(GAUSSIAN, 2, window=40),
    "lattice": lambda: LatticeExpansion(2),
    "dictionary": lambda: DictionaryExpansion(GAUSSIAN, 2),
}
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
