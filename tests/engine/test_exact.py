"""The exact expansion agrees with its slow reference, online and in replay."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numba import config

from engine.reference import (
    PARAMETERS,
    SlowExpansion,
    assert_close,
    assert_resumes,
    formulas,
    play,
    random_stream,
)
from localarc.engine import GAUSSIAN, ExactExpansion, Profile, Stream, named

CLOSE = 1e-12


def twins(stream: Stream, window: int | None = None, scale: float = 0.7) -> None:
    """Slow loop, compiled online loop and replay: one algorithm."""
    d = stream.points.shape[1]
    slow = SlowExpansion(formulas(d)["gaussian"], scale, window)
    online = ExactExpansion(GAUSSIAN, d, scale, window)
    fast = ExactExpansion(GAUSSIAN, d, scale, window)
    thresholds, losses = play(slow, stream, scale)
    stepwise, _ = play(online, stream, scale)
    played = fast.replay(stream)
    assert_close(played.thresholds, thresholds, CLOSE)
    assert_close(stepwise, thresholds, CLOSE)
    np.testing.assert_array_equal(played.losses, losses)
    queries = np.concatenate([stream.points[:5], stream.points[:3] + 0.3])
    for expansion in (online, fast):
        assert_close(expansion.evaluate(queries), slow.evaluate(queries), CLOSE)
        assert_close(expansion.average(queries), slow.average(queries), CLOSE)


@pytest.mark.slow
@pytest.mark.parametrize("dimensions", [1, 2, 3, 7, 9, 50])
def test_replay_and_loop_agree_with_the_slow_reference(dimensions: int) -> None:
    twins(random_stream(dimensions, rounds=600, dimensions=dimensions, spread=0.4))


@settings(derandomize=True, max_examples=25, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    rounds=st.integers(0, 330),
    regularization=st.sampled_from([0.0, 1e-4, 0.05, 0.5, 0.99]),
    rate=st.sampled_from([0.1, 1.0]),
    window=st.sampled_from([None, 1, 7, 256, 300]),
    clip=st.sampled_from([np.inf, 0.2]),
)
def test_any_short_stream(
    seed: int, rounds: int, regularization: float, rate: float, window: int | None, clip: float
) -> None:
    twins(random_stream(seed, rounds, 2, regularization, rate, clip=clip), window)


def test_strong_decay_leaves_the_average_exact() -> None:
    stream = random_stream(0, rounds=700, dimensions=2)
    twins(replace(stream, rates=np.full(700, 0.9), decays=np.full(700, 0.55)))


def test_a_ball_keeps_f_small() -> None:
    stream = random_stream(3, rounds=500, dimensions=2, radius=0.4)
    twins(stream)
    assert ExactExpansion(GAUSSIAN, 2).replay(stream).norm <= 0.16 + 1e-12


def test_a_window_with_a_radius_is_rejected() -> None:
    with pytest.raises(ValueError, match="clip"):
        ExactExpansion(GAUSSIAN, 1, window=3).replay(random_stream(0, 5, 1, radius=1.0))


@pytest.mark.slow
@pytest.mark.parametrize(
    "profile",
    [named(name, PARAMETERS.get(name, 0.0)) for name in formulas(2) if name != "gaussian"],
    ids=lambda p: str(p.name),
)
def test_every_kernel_runs_in_the_loops(profile: Profile) -> None:
    stream = random_stream(1, rounds=300, dimensions=2)
    slow = SlowExpansion(formulas(2)[profile.name])
    thresholds, losses = play(slow, stream, 1.0)
    played = ExactExpansion(profile, 2).replay(stream)
    assert_close(played.thresholds, thresholds, CLOSE)
    np.testing.assert_array_equal(played.losses, losses)


@pytest.mark.parametrize("window", [None, 40])
@pytest.mark.parametrize("archive", [True, False])
def test_a_saved_state_resumes_bit_for_bit(window: int | None, archive: bool) -> None:
    stream = random_stream(5, rounds=900, dimensions=2, regularization=0.1)
    for at in (0, 500):
        assert_resumes(lambda: ExactExpansion(GAUSSIAN, 2, 1.0, window, archive), stream, at)


def test_a_window_without_archive_stays_small_and_has_no_average() -> None:
    stream = random_stream(6, rounds=9000, dimensions=1)
    forgetful = ExactExpansion(GAUSSIAN, 1, window=50, archive=False)
    kept = ExactExpansion(GAUSSIAN, 1, window=50)
    played = forgetful.replay(stream)
    assert_close(played.thresholds, kept.replay(stream).thresholds, CLOSE)
    for point in stream.points:
        forgetful.add(point, 0.1)
    assert forgetful.nbytes < 0.2 * kept.nbytes
    with pytest.raises(ValueError, match="archive"):
        forgetful.average(stream.points[:1])


def test_repeated_points_and_far_outliers_change_nothing() -> None:
    stream = random_stream(7, rounds=300, dimensions=3)
    stream.points[100:200] = stream.points[0]
    stream.points[250] = 1e150
    twins(stream)


CHECKED = getattr(config, "BOUNDSCHECK", None) == 1


@pytest.mark.skipif(CHECKED, reason="checks separate operations that are fused")
def test_one_point_and_many_points_get_the_same_bits() -> None:
    expansion = ExactExpansion(GAUSSIAN, 2)
    stream = random_stream(8, rounds=700, dimensions=2)
    expansion.replay(stream)
    values = expansion.evaluate(stream.points[:20])
    assert [expansion.evaluate_one(x) for x in stream.points[:20]] == values.tolist()
