"""The base of a gate: a threshold per topic; a round uses its strictest topic's."""

from __future__ import annotations

import copy
from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from localarc.calibrators.auto.groups import label_from_json, label_to_json
from localarc.calibrators.gate.closed import Closed, why_closed
from localarc.calibrators.gate.outcomes import NUMBERS, WINDOW, RecentOutcomes
from localarc.memory.base import Arrays

Topics = Mapping[Hashable, float]
"""The topics of a round with their weights; empty if it has none."""

Outcomes = dict[Hashable, RecentOutcomes]


class TopicBase:
    """Recent outcomes by topic; rounds without a topic share one.

    What happens to a round changes nothing here: methods return the topics as they then are.
    """

    def __init__(self, alpha: float, idle: float, credit: float, start: float) -> None:
        self.alpha, self.idle, self.credit, self.start = alpha, idle, credit, start
        self.by_topic: Outcomes = {}

    def decide(self, topics: Topics) -> tuple[float, float]:
        """Threshold and unit of a round; changes nothing."""
        strictest = max(
            (self.by_topic.get(name) or self._fresh() for name in _names(topics)),
            key=lambda topic: topic.threshold,
        )
        return strictest.threshold, strictest.spread

    def see(self, topics: Topics, confidence: float, answered: bool) -> Outcomes:
        """The outcomes by topic after a round was decided."""

        def seen(topic: RecentOutcomes) -> None:
            topic.see(confidence)
            if not answered:
                topic.withhold(self.idle, self.credit)

        return self._after(topics, seen)

    def learn(
        self, topics: Topics, confidence: float, wrong: bool, weight: float = 1.0
    ) -> Outcomes:
        """The same after the outcome of an answer that went out."""
        return self._after(topics, lambda topic: topic.answer(confidence, wrong, weight))

    def audit(self, topics: Topics, confidence: float, wrong: bool) -> Outcomes:
        """The same after the outcome that a withheld answer would have had."""
        return self._after(topics, lambda topic: topic.audit(confidence, wrong))

    def why_closed(self, name: Hashable | None, threshold: float) -> Closed | None:
        """Why nothing of a topic is answered at present; None stands for rounds without one."""
        return why_closed(self.by_topic.get(name), threshold, self.idle, self.credit)

    def _after(self, topics: Topics, happens: Callable[[RecentOutcomes], None]) -> Outcomes:
        found = {}
        for name in _names(topics):
            found[name] = topic = copy.copy(self.by_topic.get(name)) or self._fresh()
            happens(topic)
        return found

    def _fresh(self) -> RecentOutcomes:
        return RecentOutcomes(self.alpha, self.start)

    # ---- state -------------------------------------------------------------------------------

    def to_json(self) -> list[Any]:
        """The names of the topics, in the order of `arrays`."""
        return [None if name is None else label_to_json(name) for name in self.by_topic]

    def arrays(self) -> Arrays:
        """The numbers of each topic, how many outcomes it has, and these one after the other."""
        topics = list(self.by_topic.values())
        rows = [[getattr(topic, name) for name in NUMBERS] for topic in topics]
        return {
            "topic numbers": np.array(rows, np.float64).reshape(-1, len(NUMBERS)),
            "topic outcomes": np.array([len(topic.known) for topic in topics], np.int64),
            "outcomes": np.vstack([np.empty((0, 3)), *(topic.known for topic in topics)]),
        }

    def restore(self, names: Iterable[Any], arrays: Arrays) -> None:
        """Continue from what `to_json` and `arrays` returned; raises ValueError if they differ."""
        labels = [None if name is None else label_from_json(name) for name in names]
        numbers, counts, known = (
            arrays[name] for name in ("topic numbers", "topic outcomes", "outcomes")
        )
        if numbers.ndim == 2 and numbers.shape[1] == len(NUMBERS) - 1:  # of an earlier release
            numbers = np.column_stack([numbers, np.ones(len(numbers))])  # no confidence is higher
        fits = numbers.shape == (len(labels), len(NUMBERS)) and known.shape == (counts.sum(), 3)
        if not fits or len(counts) != len(labels) or (counts > WINDOW).any() or (counts < 0).any():
            raise ValueError("its topics and their outcomes do not belong together")
        if not all(np.isfinite(part).all() for part in (numbers, known)):
            raise ValueError("its outcomes are not finite")
        parts = np.split(known, np.cumsum(counts))[:-1]
        self.by_topic = {
            label: replace(self._fresh(), **dict(zip(NUMBERS, row, strict=True)), known=part.copy())
            for label, row, part in zip(labels, numbers.tolist(), parts, strict=True)
        }


def _names(topics: Topics) -> Iterable[Hashable]:
    return topics or (None,)
