"""The benchmark of gates: what the thresholds in hindsight are, and the claim that it measures."""

import numpy as np
import pytest
from benchmarks.gate import methods
from benchmarks.gate.questions import Questions, recorded, simulated


def questions(confidence: list[float], wrong: list[int]) -> Questions:
    nothing = np.zeros(len(wrong))
    return Questions(nothing.astype(np.int64), nothing, np.array(confidence), np.array(wrong))


def test_the_best_threshold_in_hindsight_answers_as_much_as_the_error_allows() -> None:
    some = questions([0.9, 0.8, 0.7, 0.6, 0.5], [0, 1, 0, 0, 1])
    assert methods.best_threshold(some, 0.0) == 0.2
    assert methods.best_threshold(some, 0.25) == 0.8
    assert methods.best_threshold(some, 0.4) == 1.0


def test_only_one_topic_is_over_confident_and_only_one_changes() -> None:
    stream = simulated(60_000, 0, overconfidence=2.0)
    late = np.arange(len(stream)) >= len(stream) // 2
    for topic, half, gap in [(0, True, 0.0), (1, False, 0.0), (1, True, 0.25), (2, False, 0.3)]:
        inside = (stream.topic == topic) & (late == half)
        too_sure = stream.confidence[inside].mean() - (1 - stream.wrong[inside]).mean()
        assert too_sure == pytest.approx(gap, abs=0.06)


def test_a_gate_answers_half_as_much_again_as_one_threshold_at_the_same_error() -> None:
    stream = simulated(8000, 0, overconfidence=3.0)
    made = methods.gated(stream, 0.1)
    assert made.error(stream) < 0.12
    assert made.share > 1.5 * methods.best_threshold(stream, made.error(stream))
    online = methods.one_threshold_online(stream, 0.1, rate=0.02)
    assert made.share > 1.5 * online.share


def test_the_recorded_confidences_are_those_of_the_shipped_classifier() -> None:
    stream = recorded(0)
    assert len(stream) == 22_688
    assert 1.0 - stream.wrong.mean() == pytest.approx(0.891, abs=1e-4)
    assert ((stream.confidence > 0.0) & (stream.confidence <= 1.0)).all()
