"""The base of LabelSets: per label, a quantile and a spread of that label's recent scores."""

from __future__ import annotations

import math
from collections.abc import Hashable
from typing import Any

import numpy as np

from localarc.calibrators.auto.groups import label_from_json, label_to_json
from localarc.calibrators.auto.recent_scores import KEPT, RecentScores
from localarc.serialization import StateError

FEW = 16  # scores are too few for a spread of their own
RANGE_PART = 1024.0  # the unit is at least the range of all scores over this


class LabelBase:
    """What is known about the scores of true labels: by label, and of all labels together."""

    def __init__(self, alpha: float, initial_threshold: float) -> None:
        self._alpha, self._initial = alpha, initial_threshold
        self.by_label: dict[Hashable, RecentScores] = {}
        self._all = RecentScores()

    def threshold(self, label: Hashable) -> float:
        """The label's quantile; the largest score of all labels while it has too few."""
        own = self.by_label.get(label)
        quantile = None if own is None else own.quantile(self._alpha)
        if quantile is not None:
            return quantile
        return self._all.largest if len(self._all) else self._initial

    def unit(self, label: Hashable) -> float:
        """The label's spread, that of all labels while it has few scores; always positive."""
        every = self._all
        if not len(every):
            return abs(self._initial) or 1.0
        size = max(abs(every.smallest), abs(every.largest)) or 1.0
        if len(every) < FEW:
            return size
        own = self.by_label.get(label)
        spread = every.spread if own is None or len(own) < FEW else own.spread
        return max(spread, (every.largest - every.smallest) / RANGE_PART) or size

    def learn(self, label: Hashable, score: float) -> None:
        """Remember the score of a true label, if it is finite."""
        if label not in self.by_label:
            self.by_label[label] = RecentScores()
        if math.isfinite(score):
            self.by_label[label].add(score)
            self._all.add(score)

    # ---- state -------------------------------------------------------------------------------

    def to_json(self) -> dict[str, Any]:
        """The labels, with the number of scores of each."""
        return {
            "labels": [label_to_json(label) for label in self.by_label],
            "counts": [len(scores) for scores in self.by_label.values()],
        }

    def arrays(self) -> dict[str, Any]:
        """The scores: of one label after the other, and of all together."""
        scores = [part.to_array() for part in self.by_label.values()]
        joined = np.concatenate([np.empty(0), *scores])
        return {"label scores": joined, "all scores": self._all.to_array()}

    def restore(self, content: dict[str, Any], arrays: dict[str, Any]) -> None:
        """Continue from what `to_json` and `arrays` returned."""
        labels = [label_from_json(label) for label in content["labels"]]
        counts, scores = content["counts"], arrays["label scores"]
        sound = all(type(count) is int and 0 <= count <= KEPT for count in counts)
        if not sound or len({*labels}) != len(counts) or sum(counts) != len(scores):
            raise StateError("the state is damaged: its scores do not belong to its labels.")
        parts = np.split(scores, np.cumsum(counts)[:-1]) if counts else []
        self.by_label = {
            label: RecentScores(part.tolist()) for label, part in zip(labels, parts, strict=True)
        }
        self._all = RecentScores(arrays["all scores"].tolist())
