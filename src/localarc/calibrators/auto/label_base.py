"""The base of LabelSets: the tables of its labels' scores, and which row is whose."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np

from localarc.calibrators.auto.groups import label_from_json, label_to_json
from localarc.constants import OFFSET_RATE
from localarc.engine.auto import label_rounds
from localarc.engine.auto.label_scores import (
    COUNT,
    FACTS,
    KEPT,
    LARGEST,
    OFFSET,
    OLDEST,
    QUANTILE,
    ROUNDS,
    SMALLEST,
    LabelTables,
)
from localarc.memory.base import Arrays
from localarc.serialization import StateError
from localarc.validation import FloatArray, IntArray

_LEARNED = [OFFSET, ROUNDS]


class LabelBase:
    """What is known about the scores of true labels: by label, and of all labels together."""

    def __init__(self, alpha: float, initial_threshold: float) -> None:
        rate = OFFSET_RATE / math.sqrt(alpha * (1.0 - alpha))
        self.rows: dict[Hashable, int] = {}  # from 1 on, of labels that were true
        self.tables = LabelTables(*_empty(2), alpha, initial_threshold, rate)

    def rows_of(self, labels: Sequence[Hashable]) -> IntArray:
        """Their rows, 0 for a label that was never true."""
        return np.array([self.rows.get(label, 0) for label in labels], np.int64)

    def add(self, labels: Sequence[Hashable]) -> None:
        """Make rows for labels that have none."""
        new = [label for label in dict.fromkeys(labels) if label not in self.rows]
        used = len(self.rows) + 1
        room = len(self.tables.facts)
        while room < used + len(new):
            room *= 2
        if room > len(self.tables.facts):
            self.tables = self._grown(room)
        self.rows.update(zip(new, range(used, used + len(new)), strict=True))

    def _grown(self, room: int) -> LabelTables:
        old, new = self.tables, _empty(room)
        for target, part in zip(new, old[:3], strict=True):
            target[: len(part)] = part
        return LabelTables(*new, *old[3:])

    def thresholds(self, labels: Sequence[Hashable]) -> tuple[FloatArray, FloatArray]:
        """The base of each label, and its unit."""
        bases, units = np.empty((2, len(labels)))
        label_rounds.bases(self.tables, self.rows_of(labels), bases, units)
        return bases, units

    def learn(self, label: Hashable, score: float, loss: float, pending: float) -> None:
        """The score of a true label and the loss of its threshold; other rounds may be pending."""
        self.add([label])
        label_rounds.learn(self.tables, self.rows[label], score, loss, pending)

    # ---- state -------------------------------------------------------------------------------

    def to_json(self) -> dict[str, Any]:
        """The labels, with the number of recent scores of each."""
        return {
            "labels": [label_to_json(label) for label in self.labels],
            "counts": self.tables.facts[self._learned_rows, COUNT].astype(int).tolist(),
        }

    def arrays(self) -> dict[str, Any]:
        """The scores, of one label after the other and of all together; the offsets."""
        rows = self._learned_rows
        return {
            "label scores": np.concatenate([np.empty(0), *map(self._scores, rows)]),
            "all scores": self._scores(0),
            "learned": self.tables.facts[rows][:, _LEARNED],
        }

    @property
    def labels(self) -> list[Hashable]:
        """The labels that were true; an interrupt can leave a row of one that was not."""
        return [label for label, row in self.rows.items() if self.tables.facts[row, ROUNDS]]

    @property
    def _learned_rows(self) -> list[int]:
        return [self.rows[label] for label in self.labels]

    def _scores(self, row: int) -> FloatArray:
        """Recent scores in order of arrival."""
        facts = self.tables.facts[row]
        count, oldest = int(facts[COUNT]), int(facts[OLDEST])
        scores: FloatArray = np.roll(self.tables.arrived[row], -oldest)
        return scores[:count]

    def restore(self, content: dict[str, Any], arrays: Arrays) -> None:
        """Continue from what `to_json` and `arrays` returned."""
        labels = [label_from_json(label) for label in content["labels"]]
        counts, scores, every = content["counts"], arrays["label scores"], arrays["all scores"]
        sound = all(type(count) is int and 0 <= count <= KEPT for count in [*counts, len(every)])
        if not sound or len({*labels}) != len(counts) or sum(counts) != len(scores):
            raise StateError("its scores do not belong to its labels.")
        if not (np.isfinite(scores).all() and np.isfinite(every).all()):
            raise StateError("its scores are not finite.")
        self.add(labels)
        parts = np.split(scores, np.cumsum(counts)[:-1]) if counts else []
        for row, part in enumerate([every, *parts]):
            self._place(row, part)
        facts = self.tables.facts
        facts[1 : len(labels) + 1, _LEARNED] = arrays["learned"]
        facts[0, ROUNDS] = arrays["learned"][:, 1].sum()

    def _place(self, row: int, scores: FloatArray) -> None:
        self.tables.arrived[row, : len(scores)] = scores
        self.tables.ordered[row, : len(scores)] = np.sort(scores)
        if len(scores):
            label_rounds.describe_row(self.tables, row, len(scores))


def _empty(room: int) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Tables without scores: arrived, ordered, facts."""
    facts = np.zeros((room, FACTS))
    facts[:, QUANTILE] = facts[:, SMALLEST] = np.inf
    facts[:, LARGEST] = -np.inf
    return np.zeros((room, KEPT)), np.zeros((room, KEPT)), facts
