"""Who may decide: a gate, one threshold online, and thresholds that know everything in advance."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

import numpy as np

from benchmarks.gate.questions import TOPICS, Questions
from localarc import Decision, Gate
from localarc.validation import FloatArray, IntArray


@dataclass(frozen=True)
class Decided:
    """Which rounds were answered, and with which thresholds."""

    answered: IntArray
    thresholds: FloatArray
    gate: Gate | None = None

    @property
    def share(self) -> float:
        """The share of the rounds that were answered."""
        return float(self.answered.mean())

    def error(self, questions: Questions, topic: int | None = None) -> float:
        """The share of the answers that were wrong."""
        inside = self.answered == 1
        if topic is not None:
            inside &= questions.topic == topic
        return float(questions.wrong[inside].mean()) if inside.any() else 0.0


def gated(
    questions: Questions, alpha: float, *, topics: bool = True, audits: float = 0.0, late: int = 0
) -> Decided:
    """A gate; outcomes arrive when `late` newer answers wait, audits of a random share at once."""
    gate, random = Gate(alpha), np.random.default_rng(0)
    answered, thresholds = np.zeros(len(questions), np.int64), np.zeros(len(questions))
    waiting: deque[tuple[Decision, bool]] = deque()
    for t in range(len(questions)):
        about = TOPICS[questions.topic[t]] if topics else None
        decision = gate.decide(about, confidence=float(questions.confidence[t]))
        answered[t], thresholds[t] = decision.answer, decision.threshold
        wrong = bool(questions.wrong[t])
        if decision.answer:
            waiting.append((decision, wrong))
        elif random.random() < audits:
            gate.audit(decision, wrong=wrong)
        if len(waiting) > late:
            gate.tell(*waiting.popleft())
    return Decided(answered, thresholds, gate)


def one_threshold_online(questions: Questions, alpha: float, rate: float) -> Decided:
    """One threshold that rises after wrong answers, falls after right ones, and drifts down."""
    threshold, idle = 1.0 - alpha, 0.003
    answered, thresholds = np.zeros(len(questions), np.int64), np.zeros(len(questions))
    for t in range(len(questions)):
        thresholds[t] = threshold
        answered[t] = questions.confidence[t] > threshold
        excess = questions.wrong[t] - alpha if answered[t] else -idle
        threshold = min(max(threshold + rate * excess, 0.0), 1.0)
    return Decided(answered, thresholds)


def best_threshold(questions: Questions, error: float) -> float:
    """The largest share that one fixed threshold answers at this error, chosen in hindsight."""
    return _answered(questions.confidence, questions.wrong, error) / len(questions)


def best_by_topic_and_half(questions: Questions, error: float) -> float:
    """The same with a threshold for each topic before and after the change, each at this error."""
    late = np.arange(len(questions)) >= len(questions) // 2
    total = 0
    for topic in range(len(TOPICS)):
        for half in (late, ~late):
            inside = half & (questions.topic == topic)
            total += _answered(questions.confidence[inside], questions.wrong[inside], error)
    return total / len(questions)


def _answered(confidence: FloatArray, wrong: IntArray, error: float) -> int:
    ranked = wrong[np.argsort(-confidence)]
    errors = np.cumsum(ranked) / np.arange(1, len(ranked) + 1)
    fine = np.flatnonzero(errors <= error)
    return int(fine[-1]) + 1 if len(fine) else 0
