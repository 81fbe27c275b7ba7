"""Questions: a simulated stream with three topics, and recorded confidences of a classifier."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from localarc.validation import FloatArray, IntArray
from localarc_lab.experiments.fruit.model_outputs import shipped

TOPICS = ("billing", "returns", "legal")


@dataclass(frozen=True)
class Questions:
    """Rounds in order: a topic, a feature, the model's confidence, and whether it is wrong."""

    topic: IntArray
    similarity: FloatArray
    confidence: FloatArray
    wrong: IntArray

    def __len__(self) -> int:
        return len(self.wrong)


def simulated(count: int, seed: int, overconfidence: float) -> Questions:
    """Half of the questions are on billing, a quarter each on returns and legal.

    The model's log-odds of being right are normal around 1.5 (legal: 0), and rise with the
    similarity to what it has seen. Its confidence is that probability, except that it adds
    `overconfidence` to the log-odds of legal questions, and does not notice that those of returns
    fall by 1.5 half-way.
    """
    random = np.random.default_rng(seed)
    topic = random.choice(3, count, p=[0.5, 0.25, 0.25])
    similarity = random.random(count)
    skill = np.array([1.5, 1.5, 0.0])[topic] + 2.0 * (similarity - 0.5)
    believed = skill + 1.5 * random.normal(size=count)
    changed = (topic == 1) & (np.arange(count) >= count // 2)
    right = random.random(count) < _probability(believed - 1.5 * changed)
    confidence = _probability(believed + overconfidence * (topic == 2))
    return Questions(topic, similarity, confidence, (~right).astype(np.int64))


def recorded(seed: int) -> Questions:
    """Our picture classifier on 22,688 pictures of fruit, in random order: one topic."""
    outputs = shipped()
    order = np.random.default_rng(seed).permutation(len(outputs))
    wrong = (outputs.ranks != 0).astype(np.int64)[order]
    nothing = np.zeros(len(order))
    return Questions(nothing.astype(np.int64), nothing, outputs.confidence[order], wrong)


def _probability(log_odds: FloatArray) -> FloatArray:
    return 1.0 / (1.0 + np.exp(-log_odds))
