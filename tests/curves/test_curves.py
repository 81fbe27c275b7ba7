from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from localarc import ARC, AssumptionWarning, replay
from localarc.curves import (
    Curves,
    cumulative_probability,
    false_negatives,
    from_function,
    from_table,
    miscoverage,
    negative_probability,
    quantile_excess,
    relative_regret,
    residual,
)

random = np.random.default_rng(0)
thresholds = st.floats(-3, 3, width=16)


@settings(max_examples=100, derandomize=True)
@given(score=thresholds, threshold=thresholds)
def test_a_set_misses_exactly_when_the_score_exceeds_the_threshold(
    score: float, threshold: float
) -> None:
    curve = miscoverage([score])[0]
    assert curve.loss(threshold) == float(score > threshold)


def test_a_tie_is_in_the_set() -> None:
    assert miscoverage([0.5]).loss_at(0, 0.5) == 0.0
    assert miscoverage([0.5]).loss_at(0, np.nextafter(0.5, 0)) == 1.0


def test_intervals_have_widths_and_labels_have_counts() -> None:
    intervals = miscoverage([0.5, 0.5], widths=[0.0, 1.0])
    assert intervals.sizes_at([0.3, 0.3]).tolist() == [0.6, 1.6]
    assert intervals.size_at(1, -0.8) == 0.0
    table = np.array([[-0.7, -0.2, -0.1], [-0.4, -0.4, -0.2]])
    labels = miscoverage([-0.2, -0.4], label_scores=table)
    assert labels.sizes_at([-0.15, -0.4]).tolist() == [2.0, 2.0]
    assert labels.losses_at([-0.21, -0.4]).tolist() == [1.0, 0.0]
    assert np.isnan(miscoverage([0.5]).size_at(0, 1.0))


def test_a_miss_can_have_a_loss_of_its_own() -> None:
    curves = miscoverage([0.5, 0.5], cost=[0.2, 3.0], bound=3.0)
    assert curves.losses_at([0.0, 0.0]).tolist() == [0.2, 3.0]
    assert curves.losses_at([0.5, 0.5]).tolist() == [0.0, 0.0]


@settings(max_examples=60, derandomize=True, deadline=None)
@given(
    scores=hnp.arrays(np.float64, (4, 5), elements=st.sampled_from([-0.9, -0.5, -0.4, -0.1, 0.0])),
    truth=hnp.arrays(np.bool_, (4, 5)),
    threshold=st.sampled_from([-1.0, -0.9, -0.45, -0.1, 0.0, 0.3]),
)
def test_the_false_negative_curve_is_a_direct_count(
    scores: Any, truth: Any, threshold: float
) -> None:
    curve = false_negatives([scores], [truth])[0]
    mask = scores <= threshold
    missed = 1 - (mask & truth).sum() / truth.sum() if truth.any() else 0.0
    assert curve.loss(threshold) == pytest.approx(missed, abs=1e-15)
    assert curve.size(threshold) == pytest.approx(mask.mean(), abs=1e-15)


def test_a_list_of_images_and_an_array_of_them_give_the_same_curves() -> None:
    scores = random.normal(size=(6, 8, 9))
    truth = random.uniform(size=(6, 8, 9)) < 0.3
    block = false_negatives(scores, truth)
    listed = false_negatives(list(scores), [t.astype(int) for t in truth])
    assert np.array_equal(block.losses, listed.losses)
    ragged = false_negatives([scores[0], scores[1, :4]], [truth[0], truth[1, :4]])
    assert len(ragged) == 2
    assert ragged.loss_at(0, 0.1) == block.loss_at(0, 0.1)


def test_a_grid_overstates_losses_by_at_most_its_error() -> None:
    scores = random.normal(size=(20, 10, 10))
    truth = random.uniform(size=(20, 10, 10)) < 0.4
    exact = false_negatives(scores, truth)
    coarse = false_negatives(scores, truth, grid=np.linspace(-3, 3, 31))
    assert len(coarse.losses) == 20 * 32
    for threshold in np.linspace(-3.0, 3.0, 97):
        excess = coarse.losses_at(threshold) - exact.losses_at(threshold)
        assert excess.min() >= -1e-15
        assert excess.max() <= coarse.grid_error + 1e-15
    for threshold in np.linspace(-3, 3, 31):
        assert np.array_equal(coarse.losses_at(threshold), exact.losses_at(threshold))
        assert np.array_equal(coarse.sizes_at(threshold), exact.sizes_at(threshold))


def test_an_empty_mask_has_loss_zero_and_violates_assumption_a3() -> None:
    curves = false_negatives([np.zeros((2, 2)), np.zeros((2, 2))], [np.eye(2), np.zeros((2, 2))])
    assert curves.loss_at(1, -5.0) == 0.0
    assert curves.empty_set_passes(0.1).tolist() == [1]
    with pytest.warns(AssumptionWarning, match="an empty set costs less.*first in round 2"):
        replay(ARC(0.1), np.zeros((2, 1)), curves)


@settings(max_examples=60, derandomize=True)
@given(
    scores=hnp.arrays(np.float64, 6, elements=st.sampled_from([-0.9, -0.5, -0.4, 0.0])),
    gains=hnp.arrays(np.float64, 6, elements=st.floats(0.01, 5)),
    threshold=st.sampled_from([-1.0, -0.9, -0.45, 0.0]),
)
def test_the_regret_is_one_minus_the_best_relative_gain_in_the_set(
    scores: Any, gains: Any, threshold: float
) -> None:
    curve = relative_regret([scores], [gains])[0]
    chosen = scores <= threshold
    expected = 1 - gains[chosen].max() / gains.max() if chosen.any() else 1.0
    assert curve.loss(threshold) == pytest.approx(expected, abs=1e-15)
    assert curve.size(threshold) == chosen.sum()


def test_a_function_or_a_table_on_a_grid_is_never_understated() -> None:
    grid = np.linspace(0, 1, 11)
    curves = from_function(lambda t, g: (1 - g) / (t + 1), 3, grid, size=lambda t, g: 10 * g)
    assert curves.losses_at([0.55, 0.5, -0.1]) == pytest.approx([0.5, 0.25, 1.0])
    assert curves.sizes_at([0.55, 1.0, -0.1]) == pytest.approx([5.0, 10.0, 0.0])
    assert curves.grid_error == pytest.approx(2 / 3)  # below the grid, round 2 is taken for 1
    whole = from_function(lambda t, g: (1 - g) / (t + 1), 1, grid)
    assert whole.grid_error == pytest.approx(0.1)
    same = from_table(np.array([(1 - grid) / (t + 1) for t in range(3)]), grid)
    assert np.array_equal(same.losses, curves.losses)


def test_rounds_can_be_taken_by_index_slice_and_mask() -> None:
    scores = [random.normal(size=(2, n + 1)) for n in range(6)]
    curves = false_negatives(scores, [np.ones_like(s) for s in scores])
    for chosen in (
        [4, 0, 4],
        slice(1, 5, 2),
        slice(2, 5),
        slice(4, 2),
        np.array([True, False] * 3),
    ):
        part = curves.take(chosen)
        for i, t in enumerate(np.arange(6)[chosen]):
            for g in (-1.0, 0.0, 1.0):
                assert part.loss_at(i, g) == curves.loss_at(int(t), g)
                assert part.size_at(i, g) == curves.size_at(int(t), g)


def test_evaluating_all_rounds_equals_evaluating_each_round() -> None:
    scores = [random.normal(size=(3, n + 1)) for n in range(5)]
    curves = false_negatives(scores, [np.ones_like(s) for s in scores])
    at = random.normal(size=5)
    assert curves.losses_at(at).tolist() == [curves.loss_at(t, g) for t, g in enumerate(at)]
    assert curves.sizes_at(at).tolist() == [curves.size_at(t, g) for t, g in enumerate(at)]
    assert len(curves.take([]).losses_at([])) == 0


def test_the_assumptions_are_checked_at_both_ends() -> None:
    curves = from_table([[0.5, 0.3], [0.9, 0.0]], [0.0, 1.0])
    assert curves.full_set_fails(0.1).tolist() == [0]
    assert curves.empty_set_passes(0.1).tolist() == []
    assert curves.score_range == (0.0, 1.0)
    with pytest.warns(AssumptionWarning, match=r"full set costs more than alpha = 0.1 in 1 round"):
        run = replay(ARC(0.1), np.zeros((2, 1)), curves)
    assert run.evidence.full_set_fails == 1


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: miscoverage([0.1, np.nan]), "scores must be finite, .* got nan at position 1"),
        (lambda: miscoverage([[0.1]]), "one number per round"),
        (lambda: miscoverage([0.1], cost=[2.0]), r"round 0 .* has a loss outside \[0, 1.0\]"),
        (lambda: miscoverage([0.1], cost=[-2.0]), r"round 0 .* has a loss outside \[0, 1.0\]"),
        (lambda: miscoverage([0.1], widths=0.0, label_scores=[[0.1]]), "not both"),
        (lambda: miscoverage([0.1, 0.3], label_scores=[[0.1], [0.2]]), "score of round 1 is not"),
        (
            lambda: from_table([[0.5, 0.2], [0.1, 0.2]], [0, 1]),
            "round 1 .* loss that increases",
        ),
        (lambda: from_table([[0.5, 0.2]], [1, 0]), "ascending"),
        (lambda: from_table([[0.5, 0.2]], [1]), "must have 1 columns"),
        (lambda: from_table([[0.5]], [1], [[-1.0]]), "round 0 .* has a size that decreases"),
        (lambda: relative_regret([[0.1, 0.2]], [[0.0, 0.0]]), "gains of round 0"),
        (lambda: relative_regret([[0.1, 0.2]], [[-1.0, 1.0]]), "gains of round 0"),
        (lambda: relative_regret([[0.1, 0.2]], [[1.0]]), "shape of scores"),
        (lambda: false_negatives([np.zeros((2, 2))], []), "one mask per image"),
        (lambda: false_negatives([np.zeros((2, 2))], [np.zeros(3)]), "mask of round 0"),
        (lambda: false_negatives([np.zeros((2, 2))], [np.full((2, 2), 255)]), "only 0 and 1"),
        (lambda: false_negatives([np.full((2, 2), np.nan)], [np.eye(2)]), "scores of round 0"),
        (
            lambda: Curves(np.array([0.0]), np.array([1.0]), None, np.array([0, 1])),
            "round 0 .* must start at minus infinity",
        ),
        (
            lambda: Curves(np.array([-np.inf]), np.array([1.0]), None, np.array([0, 2])),
            "offsets must increase",
        ),
    ],
)
def test_a_bad_curve_names_its_round(make: Callable[[], object], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        make()


def test_a_round_that_does_not_exist_is_an_index_error() -> None:
    with pytest.raises(IndexError, match="round 5 does not exist: there are 2"):
        miscoverage([0.1, 0.2])[5]
    assert miscoverage([0.1, 0.2])[-1].loss(0.15) == 1.0


def test_scores_have_one_orientation() -> None:
    assert residual([1.0, 2.0], [1.5, 1.0]).tolist() == [0.5, 1.0]
    assert quantile_excess(1.0, 3.0, [0.5, 2.0, 3.25]).tolist() == [0.5, -1.0, 0.25]
    assert negative_probability([0.25, 0.75]).tolist() == [-0.25, -0.75]
    assert cumulative_probability([[0.2, 0.5, 0.3], [0.4, 0.4, 0.2]]) == pytest.approx(
        np.array([[1.0, 0.5, 0.8], [0.8, 0.8, 1.0]])
    )
    with pytest.raises(ValueError, match="Apply softmax"):
        negative_probability([2.0])


def test_the_minimum_threshold_is_where_a_loss_is_first_low_enough() -> None:
    curve = from_table([[0.9, 0.5, 0.2]], [0.0, 1.0, 2.0])[0]
    assert [curve.min_threshold(loss) for loss in (1.0, 0.9, 0.5, 0.3, 0.2, 0.0)] == [
        *(-np.inf, 0.0, 1.0, 2.0, 2.0, np.inf)
    ]
