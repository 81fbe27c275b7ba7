"""The base of a gate: the lowest threshold that recent outcomes support."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from localarc.calibrators.gate.base import TopicBase
from localarc.calibrators.gate.outcomes import WINDOW, RecentOutcomes, supported_by
from localarc.validation import FloatArray

outcomes = st.lists(
    st.tuples(
        st.floats(0.0, 1.0) | st.sampled_from([0.5, 0.9]), st.booleans(), st.floats(1.0, 20.0)
    ),
    min_size=1,
    max_size=40,
)


def share_wrong(known: FloatArray, threshold: float) -> float:
    above = known[known[:, 0] > threshold]
    return float((above[:, 1] * above[:, 2]).sum() / above[:, 2].sum()) if len(above) else 0.0


@given(outcomes, st.sampled_from([0.05, 0.1, 0.3]))
def test_at_most_the_target_was_wrong_above_what_is_supported(known: Any, alpha: float) -> None:
    table = np.array(known, float)
    threshold = supported_by(table, alpha, current=1.0)
    assert share_wrong(table, threshold) <= alpha + 1e-6
    lower = [-1.0, *(c for c in table[:, 0] if c < threshold)]
    if threshold >= table[:, 0].min():
        assert all(share_wrong(table, c) > alpha - 1e-6 for c in lower)


def test_what_was_never_tried_is_not_supported() -> None:
    right = np.array([[0.9, 0.0, 1.0], [0.8, 0.0, 1.0]])
    assert supported_by(right, 0.1, current=0.7) == 0.7
    assert supported_by(right[:1], 0.1, current=0.95) == np.nextafter(0.9, 0.0)


def test_withheld_rounds_lower_the_threshold_and_a_wrong_answer_lifts_it_again() -> None:
    topic = RecentOutcomes(0.1, 0.9)
    for t in range(100):
        topic.see(0.3 + 0.4 * (t % 2))
        topic.withhold(idle=0.01, credit=0.001)
    lowest = topic.threshold
    assert 0.75 < lowest < 0.85
    topic.answer(0.88, wrong=False)
    assert topic.threshold == lowest
    topic.answer(0.85, wrong=True)
    assert topic.threshold == topic.supported == 0.85


def test_a_topic_that_owes_wrong_answers_does_not_look_below() -> None:
    topic = RecentOutcomes(0.1, 0.9)
    topic.answer(0.95, wrong=True)
    owing = topic.threshold
    for _ in range(800):
        topic.withhold(idle=0.01, credit=0.001)
    assert topic.threshold == owing
    for _ in range(200):
        topic.withhold(idle=0.01, credit=0.001)
    assert topic.threshold < owing


def test_right_answers_lower_the_threshold_once_enough_is_saved() -> None:
    topic, thresholds = RecentOutcomes(0.1, 0.9), []
    for _ in range(60):
        topic.answer(0.95, wrong=False)
        thresholds.append(topic.threshold)
    assert len({*thresholds[:19]}) == 1
    assert thresholds[-1] < thresholds[19] < thresholds[18]


def test_the_threshold_never_falls_below_zero() -> None:
    topic = RecentOutcomes(0.1, 0.1)
    for _ in range(1000):
        topic.withhold(idle=1.0, credit=0.001)
    assert topic.threshold == 0.0


def test_an_audit_stands_for_the_rounds_withheld_since_the_last() -> None:
    topic = RecentOutcomes(0.1, 0.9)
    for _ in range(3):
        topic.withhold(idle=0.0, credit=0.0)
    topic.audit(0.5, wrong=False)
    topic.audit(0.6, wrong=True)
    assert topic.known.tolist() == [[0.5, 0.0, 3.0], [0.6, 1.0, 1.0]]


def test_old_outcomes_are_forgotten() -> None:
    topic = RecentOutcomes(0.1, 0.9)
    for t in range(WINDOW + 10):
        topic.answer(0.9 + 1e-4 * t, wrong=False)
    assert len(topic.known) == WINDOW
    assert topic.known[0, 0] == pytest.approx(0.901)


def test_the_strictest_topic_of_a_round_decides() -> None:
    base = TopicBase(0.1, 0.003, 0.001, 0.9)
    for _ in range(50):
        base.by_topic |= base.learn({"easy": 1.0}, 0.6, wrong=False)
    easy, hard = base.decide({"easy": 1.0})[0], base.decide({"hard": 1.0})[0]
    assert easy < hard == 0.9
    assert base.decide({"easy": 1.0, "hard": 1.0})[0] == hard


def test_topics_that_are_only_looked_at_are_not_remembered() -> None:
    base = TopicBase(0.1, 0.003, 0.001, 0.9)
    base.decide({"a": 1.0})
    assert not base.by_topic
