"""Edge cases of curves: ties, losses equal to the target, and unsorted breakpoints."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from localarc import ARC, replay
from localarc.curves import Curves, false_negatives, from_table, miscoverage


def test_a_full_set_with_a_loss_equal_to_the_target_satisfies_a2() -> None:
    curves = from_table([[0.5, 0.1], [0.5, np.nextafter(0.1, 1.0)]], [0.0, 1.0])
    assert curves.full_set_fails(0.1).tolist() == [1]


def test_an_empty_set_with_a_loss_equal_to_the_target_satisfies_a3() -> None:
    curves = miscoverage([0.5, 0.5], cost=[0.1, np.nextafter(0.1, 0.0)])
    assert curves.empty_set_passes(0.1).tolist() == [1]


def test_a_stream_at_the_target_at_both_ends_violates_no_assumption() -> None:
    """Warnings are errors here: replay must not warn."""
    flat = from_table([[0.25, 0.25]] * 3, [0.0, 1.0], below=[0.25] * 3)
    run = replay(ARC(0.25), np.zeros((3, 1)), flat)
    assert (run.evidence.full_set_fails, run.evidence.empty_set_passes) == (0, 0)
    assert run.losses.tolist() == [0.25] * 3


@pytest.mark.parametrize("order", [[0.7, 0.2], [0.2, 0.7, 0.6]])
def test_breakpoints_that_are_not_ascending_are_rejected_with_the_round(order: list[float]) -> None:
    steps = len(order) + 1
    breakpoints = np.array([-np.inf, *sorted(order), -np.inf, *order])
    losses = np.tile(np.linspace(1.0, 0.0, steps), 2)
    with pytest.raises(ValueError, match=r"round 1 .* breakpoints that are not ascending"):
        Curves(breakpoints, losses, None, np.array([0, steps, 2 * steps]))


def test_of_repeated_breakpoints_the_last_one_counts() -> None:
    curves = Curves(
        np.array([-np.inf, 0.5, 0.5]), np.array([1.0, 0.6, 0.2]), None, np.array([0, 3])
    )
    assert curves.loss_at(0, 0.5) == 0.2
    assert curves.losses_at([0.5]).tolist() == [0.2]
    assert curves.loss_at(0, 0.4999) == 1.0


TENTHS = [round(0.1 * i - 0.5, 1) for i in range(11)]


@settings(max_examples=60, derandomize=True, deadline=None)
@given(
    scores=hnp.arrays(np.float64, (3, 4), elements=st.sampled_from(TENTHS)),
    truth=hnp.arrays(np.bool_, (3, 4)),
)
def test_scores_equal_to_a_grid_point_are_in_the_set(scores: Any, truth: Any) -> None:
    """Scores on the grid itself, so that every one is a tie."""
    curve = false_negatives([scores], [truth], grid=TENTHS)[0]
    for threshold in TENTHS:
        mask = scores <= threshold
        missed = 1 - (mask & truth).sum() / truth.sum() if truth.any() else 0.0
        assert curve.loss(threshold) == pytest.approx(missed, abs=1e-15)
        assert curve.size(threshold) == pytest.approx(mask.mean(), abs=1e-15)
