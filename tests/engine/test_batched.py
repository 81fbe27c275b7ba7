"""Many runs at once are the runs one by one; instances in different threads do not meet."""

import math
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest

from engine.reference import assert_close, random_stream
from localarc.engine import (
    GAUSSIAN,
    DictionaryExpansion,
    ExactExpansion,
    LatticeExpansion,
    Profile,
    named,
    replay_many,
)


@pytest.mark.slow
def test_many_runs_are_the_runs_one_by_one() -> None:
    stream = random_stream(0, 900, 2)
    streams = [replace(stream, alpha=alpha) for alpha in (0.05, 0.2, 0.5)]
    streams.append(replace(stream, rates=np.full(900, 0.8), decays=np.full(900, 0.6)))
    streams.append(replace(stream, clip=0.1, radius=0.3, constant=0.5))
    streams.append(replace(stream, constant=3.0, floor=2.5))
    together = [ExactExpansion(GAUSSIAN, 2, scale=0.1 * n + 0.5) for n in range(6)]
    singly = [ExactExpansion(GAUSSIAN, 2, scale=0.1 * n + 0.5) for n in range(6)]
    results = replay_many(together, streams)
    assert results[-1].constant >= 2.5
    for one, other, stream, result in zip(together, singly, streams, results, strict=True):
        expected = other.replay(stream)
        np.testing.assert_array_equal(result.thresholds, expected.thresholds)
        np.testing.assert_array_equal(result.losses, expected.losses)
        assert (result.constant, result.norm) == (expected.constant, expected.norm)
        for name, array in other.arrays().items():
            np.testing.assert_array_equal(one.arrays()[name], array)
        one.add(stream.points[0], 1.0)


@pytest.mark.slow
@pytest.mark.parametrize(("profile", "dimensions"), [(GAUSSIAN, 9), (named("laplace"), 2)])
def test_length_scales_share_distances(profile: Profile, dimensions: int) -> None:
    stream = random_stream(3, 900, dimensions)
    ratios = [1.0, 1.0, 4.0, 5.0, 16.0, 80.0]  # some are powers of the ones before, some not
    streams = [replace(stream, points=math.sqrt(ratio) * stream.points) for ratio in ratios]
    streams[1] = replace(streams[1], alpha=0.3)
    together = [ExactExpansion(profile, dimensions) for _ in ratios]
    results = replay_many(together, streams, ratios)
    for one, stream, result in zip(together, streams, results, strict=True):
        alone = ExactExpansion(profile, dimensions)
        expected = alone.replay(stream)
        assert_close(result.thresholds, expected.thresholds, 1e-12)
        np.testing.assert_array_equal(result.losses, expected.losses)
        assert_close(one.evaluate(stream.points[:5]), alone.evaluate(stream.points[:5]), 1e-12)


def test_ratios_of_length_scales_must_fit_the_points() -> None:
    stream = random_stream(0, 20, 2)
    two = [ExactExpansion(GAUSSIAN, 2), ExactExpansion(GAUSSIAN, 2)]
    with pytest.raises(ValueError, match="up to the ratio"):
        replay_many(two, [stream, stream], [1.0, 4.0])
    with pytest.raises(ValueError, match="ascend from 1"):
        replay_many(two, [stream, stream], [4.0, 1.0])


@pytest.mark.slow
def test_single_precision_stays_near_and_leaves_a_state_to_resume_from() -> None:
    stream = random_stream(2, 2000, 2)
    stream.points[:] += 1000.0
    exact, single = ExactExpansion(GAUSSIAN, 2), ExactExpansion(GAUSSIAN, 2)
    expected, (result,) = exact.replay(stream), replay_many([single], [stream], single=True)
    assert_close(result.thresholds, expected.thresholds, 1e-4)
    some = stream.points[:20]
    assert_close(single.evaluate(some), exact.evaluate(some), 1e-4)
    assert_close(single.average(some), exact.average(some), 1e-4)


def test_single_precision_is_for_the_gaussian() -> None:
    with pytest.raises(ValueError, match="Gaussian"):
        replay_many([ExactExpansion(named("laplace"), 2)], [random_stream(0, 5, 2)], single=True)


def test_runs_that_share_nothing_are_rejected() -> None:
    stream, other = random_stream(0, 20, 2), random_stream(1, 20, 2)
    two = [ExactExpansion(GAUSSIAN, 2), ExactExpansion(GAUSSIAN, 2)]
    with pytest.raises(ValueError, match="one stream"):
        replay_many(two, [stream, other])
    with pytest.raises(ValueError, match="one by one"):
        replay_many([two[0], ExactExpansion(named("laplace"), 2)], [stream, stream])


def test_instances_in_threads_agree_with_serial_runs() -> None:
    streams = [random_stream(seed, 1500, 2) for seed in range(3)]
    makers = (
        lambda: ExactExpansion(GAUSSIAN, 2),
        lambda: LatticeExpansion(2),
        lambda: DictionaryExpansion(GAUSSIAN, 2),
    )
    jobs = [(make, stream) for make in makers for stream in streams]
    serial = [make().replay(stream).thresholds for make, stream in jobs]
    with ThreadPoolExecutor(4) as pool:
        threaded = list(pool.map(lambda job: job[0]().replay(job[1]).thresholds, jobs))
    for one, other in zip(serial, threaded, strict=True):
        np.testing.assert_array_equal(one, other)
