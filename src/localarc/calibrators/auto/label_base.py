"""The base of LabelSets: per label, a quantile of its recent scores and a learned offset."""

from __future__ import annotations

import math
from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from localarc.calibrators.auto.groups import label_from_json, label_to_json
from localarc.calibrators.auto.recent_scores import KEPT, RecentScores
from localarc.engine.auto.base import RANGE_PART, VISITS_COUNTED
from localarc.engine.auto.engine import RATE
from localarc.memory.base import Arrays
from localarc.serialization import StateError
from localarc.validation import FloatArray

FEW = 16  # scores are too few for a spread of their own


@dataclass
class LabelScores:
    """One label: the scores that it had when it was true, and what its losses add to them."""

    recent: RecentScores = field(default_factory=RecentScores)
    offset: float = 0.0  # in units
    rounds: float = 0.0


class LabelBase:
    """What is known about the scores of true labels: by label, and of all labels together."""

    def __init__(self, alpha: float, initial_threshold: float) -> None:
        self._alpha, self._initial = alpha, initial_threshold
        self._rate = RATE / math.sqrt(alpha * (1.0 - alpha))
        self.by_label: dict[Hashable, LabelScores] = {}
        self._all = RecentScores()
        self._rounds = 0.0
        self._order: tuple[Hashable, ...] = ()  # the labels of the table
        self._table: FloatArray = np.empty((5, 0))
        self._learned: set[Hashable] = set()  # since the table was made

    def threshold(self, label: Hashable) -> float:
        """The label's base, within the scores seen; the largest while it has too few scores."""
        if not len(self._all):
            return self._initial
        smallest, largest = self._range(label)
        return min(max(self._free(label), smallest), largest)

    def _range(self, label: Hashable) -> tuple[float, float]:
        """The smallest and largest recent score, of all labels and of the label itself.

        A rare label's own scores may all be older than the recent scores of all labels.
        """
        own, every = self.by_label.get(label), self._all
        if own is None or not len(own.recent):
            return every.smallest, every.largest
        recent = own.recent
        return min(every.smallest, recent.smallest), max(every.largest, recent.largest)

    def _free(self, label: Hashable) -> float:
        """The label's quantile and offset, before they are clipped."""
        own = self.by_label.get(label)
        quantile = None if own is None else own.recent.quantile(self._alpha)
        if own is None or quantile is None:
            return self._range(label)[1]
        return quantile + self.unit(label) * own.offset

    def unit(self, label: Hashable) -> float:
        """The label's spread, that of all labels while it has few scores; always positive."""
        every = self._all
        if not len(every):
            return abs(self._initial) or 1.0
        size = max(abs(every.smallest), abs(every.largest)) or 1.0
        if len(every) < FEW:
            return size
        own = self.by_label.get(label)
        spread = every.spread if own is None or len(own.recent) < FEW else own.recent.spread
        return max(spread, (every.largest - every.smallest) / RANGE_PART) or size

    def thresholds(self, labels: tuple[Hashable, ...]) -> tuple[FloatArray, FloatArray]:
        """`threshold` and `unit` of several labels, bit for bit."""
        every = self._all
        if len(every) < FEW:
            each = [(self.threshold(label), self.unit(label)) for label in labels]
            return np.array([base for base, _ in each]), np.array([unit for _, unit in each])
        quantiles, offsets, spreads, smallest, largest = self._columns(labels)
        if np.isnan(spreads).any():
            spreads = np.where(np.isnan(spreads), every.spread, spreads)
        low, high = every.smallest, every.largest
        units = np.maximum(spreads, (high - low) / RANGE_PART)
        units[units == 0.0] = max(abs(low), abs(high)) or 1.0
        bases = np.maximum(quantiles + units * offsets, np.minimum(smallest, low))
        return np.minimum(bases, np.maximum(largest, high)), units

    def _columns(self, labels: tuple[Hashable, ...]) -> FloatArray:
        """(5, K): `_column` of each label; those that learned since the last call are made anew."""
        if self._order != labels:
            self._order = labels
            self._table = np.array([self._column(label) for label in labels]).T.copy()
        for label in self._learned & {*labels}:
            self._table[:, labels.index(label)] = self._column(label)
        self._learned.clear()
        return self._table

    def _column(self, label: Hashable) -> tuple[float, ...]:
        """Quantile (infinite if there is none), offset, spread (NaN of few scores), their range."""
        own = self.by_label.get(label)
        if own is None or not len(own.recent):
            return math.inf, 0.0, math.nan, math.inf, -math.inf
        recent = own.recent
        quantile = recent.quantile(self._alpha)
        spread = math.nan if len(recent) < FEW else recent.spread
        top = math.inf if quantile is None else quantile
        return top, own.offset, spread, recent.smallest, recent.largest

    def learn(self, label: Hashable, score: float, loss: float, pending: int) -> None:
        """The score of a true label and the loss of its threshold; other rounds may be pending."""
        own = self.by_label.setdefault(label, LabelScores())
        expected = pending * own.rounds / max(self._rounds, 1.0)  # of the others, with this label
        own.offset += self._step(label, own, loss - self._alpha, 1.0 + expected)
        own.rounds += 1.0
        self._rounds += 1.0
        if math.isfinite(score):
            own.recent.add(score)
            self._all.add(score)
        self._learned.add(label)

    def _step(self, label: Hashable, own: LabelScores, excess: float, late: float) -> float:
        """As in AutoLARC; nothing before there is a quantile, or beyond the scores seen."""
        quantile = own.recent.quantile(self._alpha)
        if quantile is None:
            return 0.0
        free, (smallest, largest) = quantile + self.unit(label) * own.offset, self._range(label)
        if (free - min(max(free, smallest), largest)) * excess > 0.0:
            return 0.0
        visits = 1.0 + min(own.rounds, VISITS_COUNTED * late)
        return self._rate * excess / math.sqrt(visits) / late

    # ---- state -------------------------------------------------------------------------------

    def to_json(self) -> dict[str, Any]:
        """The labels, with the number of recent scores of each."""
        return {
            "labels": [label_to_json(label) for label in self.by_label],
            "counts": [len(own.recent) for own in self.by_label.values()],
        }

    def arrays(self) -> dict[str, Any]:
        """The scores, of one label after the other and of all together; the offsets."""
        every = self.by_label.values()
        return {
            "label scores": np.concatenate(
                [np.empty(0), *(own.recent.to_array() for own in every)]
            ),
            "all scores": self._all.to_array(),
            "learned": np.array([[own.offset, own.rounds] for own in every]).reshape(-1, 2),
        }

    def restore(self, content: dict[str, Any], arrays: Arrays) -> None:
        """Continue from what `to_json` and `arrays` returned."""
        labels = [label_from_json(label) for label in content["labels"]]
        counts, scores, learned = content["counts"], arrays["label scores"], arrays["learned"]
        sound = all(type(count) is int and 0 <= count <= KEPT for count in counts)
        if not sound or len({*labels}) != len(counts) or sum(counts) != len(scores):
            raise StateError("its scores do not belong to its labels.")
        parts = np.split(scores, np.cumsum(counts)[:-1]) if counts else []
        for label, part, numbers in zip(labels, parts, learned.tolist(), strict=True):
            self.by_label[label] = LabelScores(RecentScores(part.tolist()), *numbers)
        self._all = RecentScores(arrays["all scores"].tolist())
        self._rounds = sum(own.rounds for own in self.by_label.values())
