from collections.abc import Callable

import numpy as np
import pytest

from localarc.curves import cumulative_probability, negative_probability, quantile_excess, residual
from localarc.sets import interval, interval_from_quantiles, label_set, mask


@pytest.mark.parametrize(
    ("threshold", "y"),
    [(-0.5, 1.0), (-0.5, 2.0), (0.0, 1.0), (0.0, 1.25), (0.25, 1.25), (0.25, 3.25), (2.0, 4.5)],
)
def test_a_member_has_a_score_of_at_most_the_threshold(threshold: float, y: float) -> None:
    assert (y in interval(1.0, threshold)) == bool(residual(1.0, y) <= threshold)
    widened = interval_from_quantiles(1.0, 3.0, threshold)
    assert (y in widened) == bool(quantile_excess(1.0, 3.0, y) <= threshold)


def test_label_sets_follow_both_scores() -> None:
    p = np.array([0.1, 0.6, 0.3])
    for threshold in (-0.7, -0.6, -0.2, 0.0):
        found = label_set(p, threshold)
        assert [y in found for y in range(3)] == (negative_probability(p) <= threshold).tolist()
    for threshold in (0.5, 0.6, 0.95, 1.1):
        found = label_set(p, threshold, score="cumulative")
        assert [y in found for y in range(3)] == (cumulative_probability(p) <= threshold).tolist()


def test_sizes() -> None:
    assert interval(1.0, 0.5).size == 1.0
    assert interval(1.0, -0.5).size == 0.0
    assert interval_from_quantiles(0.0, 1.0, -0.6).size == 0.0
    assert label_set([0.2, 0.8], -0.5).size == 1
    assert mask([[0.9, 0.1], [0.6, 0.2]], -0.5).size == 0.5


def test_an_infinite_threshold_has_the_full_set() -> None:
    assert interval(1.0, np.inf).size == np.inf
    assert 1e99 in interval_from_quantiles(1.0, 3.0, np.inf)
    lower, upper = interval(np.array([1.0, 2.0]), np.array([np.inf, 0.5]))
    assert (lower.tolist(), upper.tolist()) == ([-np.inf, 1.5], [np.inf, 2.5])
    assert label_set([0.2, 0.8], np.inf, score="cumulative").labels == (0, 1)
    assert label_set([[0.2, 0.8], [0.3, 0.7]], np.array([np.inf, -0.5])).labels == [(0, 1), (1,)]
    assert mask([[0.9, 0.1]], np.inf).size == 1.0


def test_the_repr_shows_the_members() -> None:
    assert repr(interval(1.0, -0.5)) == "Interval(empty)"
    assert repr(label_set([0.2, 0.8], -0.1, labels=["no", "yes"])) == "LabelSet({'no', 'yes'})"
    assert repr(mask([[0.9, 0.1]], -0.5)) == "Mask(1 of 1 x 2 pixels)"
    assert (0, 0) in mask([[0.9, 0.1]], -0.5)
    assert (0, 1) not in mask([[0.9, 0.1]], -0.5)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: interval(1.0, float("nan")), "threshold must be finite"),
        (lambda: label_set([0.5, 1.5], 0.0), "probabilities must lie in"),
        (lambda: label_set([[0.5]], 0.0), "one entry per label"),
        (lambda: label_set([0.5], 0.0, labels=["a", "b"]), "labels must name all 1"),
        (lambda: label_set([0.5], 0.0, score="aps"), "score must be"),  # type: ignore[call-overload]
        (lambda: mask([[np.nan]], 0.0), "probabilities must be finite"),
    ],
)
def test_the_error_of_a_bad_set_names_the_rule(make: Callable[[], object], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        make()
