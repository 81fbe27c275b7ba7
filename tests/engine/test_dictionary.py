"""The dictionary stays near the exact expansion, in bounded memory, whatever the points."""

from dataclasses import replace

import numpy as np
import pytest

from engine.reference import assert_close, assert_resumes, play, random_stream
from localarc.engine import GAUSSIAN, DictionaryExpansion, ExactExpansion, Stream, named


def smooth_stream(
    seed: int, rounds: int, dimensions: int = 3, regularization: float = 1e-3
) -> Stream:
    """Points in a small cloud: few atoms are enough."""
    return random_stream(seed, rounds, dimensions, regularization, spread=0.5)


@pytest.mark.slow
@pytest.mark.parametrize("tolerance", [1e-3, 1e-5])
@pytest.mark.parametrize("regularization", [1e-4, 0.2])
def test_f_and_its_average_are_within_the_tolerance(
    tolerance: float, regularization: float
) -> None:
    stream = smooth_stream(0, 4000, regularization=regularization)
    exact, small = (
        ExactExpansion(GAUSSIAN, 3, 0.7),
        DictionaryExpansion(GAUSSIAN, 3, tolerance, 0.7),
    )
    true, played = exact.replay(stream), small.replay(stream)
    assert_close(played.thresholds, true.thresholds, tolerance)
    queries = stream.points[::40] + 0.05
    assert_close(small.evaluate(queries), exact.evaluate(queries), tolerance)
    assert_close(small.average(queries), exact.average(queries), tolerance)
    assert np.abs(small.evaluate(queries) - exact.evaluate(queries)).max() <= small.error_bound
    assert small.max_error_estimate <= 10 * tolerance
    assert small.size < small.max_size


@pytest.mark.slow
def test_replay_is_the_online_loop() -> None:
    stream = smooth_stream(1, 700)
    online, fast = (DictionaryExpansion(GAUSSIAN, 3, 1e-4) for _ in range(2))
    thresholds, losses = play(online, stream, 1.0)
    played = fast.replay(stream)
    assert_close(played.thresholds, thresholds, 1e-12)
    np.testing.assert_array_equal(played.losses, losses)
    assert online.size == fast.size
    assert online.max_error_estimate == pytest.approx(fast.max_error_estimate, rel=1e-6)


def test_until_the_buffer_is_full_it_is_exact() -> None:
    stream = smooth_stream(2, 255)
    exact, small = ExactExpansion(GAUSSIAN, 3), DictionaryExpansion(GAUSSIAN, 3, 0.1)
    assert_close(small.replay(stream).thresholds, exact.replay(stream).thresholds, 1e-13)
    assert (small.size, small.held) == (0, 255)


@pytest.mark.slow  # compiles loops that nothing else uses
def test_many_features_and_a_kernel_with_a_kink() -> None:
    stream = random_stream(3, 1200, 9, spread=0.05)
    exact, small = (
        ExactExpansion(named("laplace"), 9),
        DictionaryExpansion(named("laplace"), 9, 0.05),
    )
    true, played = exact.replay(stream), small.replay(stream)
    assert_close(played.thresholds, true.thresholds, 0.05)


def test_repeated_points_do_not_make_it_singular() -> None:
    stream = smooth_stream(4, 1500)
    stream.points[::2] = stream.points[0]
    stream.points[1::4] = stream.points[1] + 1e-9 * stream.points[1::4]
    exact, small = ExactExpansion(GAUSSIAN, 3), DictionaryExpansion(GAUSSIAN, 3, 1e-8)
    true, played = exact.replay(stream), small.replay(stream)
    assert_close(played.thresholds, true.thresholds, 1e-6)
    assert np.all(np.isfinite(small.arrays()["factor"]))


def test_one_repeated_point_needs_one_atom() -> None:
    stream = replace(smooth_stream(5, 1000), points=np.ones((1000, 3)))
    small = DictionaryExpansion(GAUSSIAN, 3, 1e-9)
    exact = ExactExpansion(GAUSSIAN, 3).replay(stream)
    assert_close(small.replay(stream).thresholds, exact.thresholds, 1e-12)
    assert small.size == 1


def test_a_full_dictionary_stops_growing_and_reports_its_error() -> None:
    stream = smooth_stream(6, 3000)
    roomy, full = (
        DictionaryExpansion(GAUSSIAN, 3, 1e-4),
        DictionaryExpansion(GAUSSIAN, 3, 1e-4, max_size=8),
    )
    roomy.replay(stream)
    played = full.replay(stream)
    exact = ExactExpansion(GAUSSIAN, 3).replay(stream)
    assert full.size == 8 < roomy.size
    assert full.max_error_estimate > 10 * roomy.max_error_estimate
    assert np.abs(played.thresholds - exact.thresholds).max() < 1.0


@pytest.mark.parametrize("at", [0, 100, 256, 700])
def test_a_saved_state_resumes_bit_for_bit(at: int) -> None:
    stream = smooth_stream(7, 1100, regularization=0.1)
    assert_resumes(lambda: DictionaryExpansion(GAUSSIAN, 3, 1e-4), stream, at)


def test_far_outliers_do_no_harm() -> None:
    stream = smooth_stream(8, 1500)
    stream.points[::100] *= 1e6
    exact, small = ExactExpansion(GAUSSIAN, 3), DictionaryExpansion(GAUSSIAN, 3, 1e-4)
    true, played = exact.replay(stream), small.replay(stream)
    assert_close(played.thresholds, true.thresholds, 1e-4)


def test_evaluating_changes_nothing() -> None:
    stream = smooth_stream(9, 600)
    plain, nosy = (DictionaryExpansion(GAUSSIAN, 3) for _ in range(2))
    for point, rate in zip(stream.points, stream.rates.tolist(), strict=True):
        plain.add(point, rate)
        nosy.evaluate_one(point)
        nosy.evaluate(stream.points[:2])
        nosy.average(stream.points[:2])
        nosy.add(point, rate)
    some = stream.points[:20]
    np.testing.assert_array_equal(plain.evaluate(some), nosy.evaluate(some))
    assert [plain.evaluate_one(x) for x in some] == plain.evaluate(some).tolist()


def test_the_state_does_not_grow_with_time() -> None:
    stream = smooth_stream(10, 20_000, dimensions=2)
    small = DictionaryExpansion(GAUSSIAN, 2, 1e-4)
    small.replay(stream)
    before = small.size
    small.replay(stream)
    assert small.size <= before + 4
    assert small.nbytes < 200_000
