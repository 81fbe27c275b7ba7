"""A bucket: a panel of many keys in one row of state, and the next order of each key."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Self, TypeAlias

import numpy as np

from localarc.curves import miscoverage
from localarc.panel import Panel
from localarc.panel.streams import Prototype
from localarc.serialization import StateError
from localarc.spark.events import Events
from localarc.validation import FloatArray, IntArray

Stored: TypeAlias = tuple[bytes, str, int]
SCHEMA = "panel binary, skipped string, buckets int"


@dataclass
class Bucket:
    """The calibrators of a bucket's keys, and the orders each key consumed without learning."""

    panel: Panel
    skipped: dict[str, int] = field(default_factory=dict)

    @classmethod
    def new(cls, calibrator: Prototype) -> Self:
        """A bucket without keys."""
        return cls(Panel(calibrator))

    def store(self, buckets: int) -> Stored:
        """The row of state; `buckets` is the total number of buckets."""
        return self.panel.state(), json.dumps(self.skipped, sort_keys=True), buckets

    @classmethod
    def from_stored(cls, stored: Stored, calibrator: Prototype | None, buckets: int | None) -> Self:
        """The stored bucket; raises StateError if it was stored with other settings."""
        panel, skipped, count = stored
        if buckets is not None and count != buckets:
            raise StateError(
                f"the checkpoint was written with buckets={count}, now it is {buckets}: keys would "
                "move. Keep the number, or migrate with export_state and import_state."
            )
        return cls(Panel.from_state(bytes(panel), calibrator), json.loads(skipped))

    def due(self, names: list[str]) -> IntArray:
        """The order that the next event of each key must have."""
        skipped = np.array([self.skipped.get(name, 0) for name in names], np.int64)
        return np.asarray(self.panel.rounds_of(names) + skipped + 1)

    def skip(self, names: Mapping[str, int]) -> None:
        """Count orders that were consumed without learning."""
        for name, number in names.items():
            if number:
                if name not in self.panel:
                    self.panel.put(name, self.panel.prototype)
                self.skipped[name] = self.skipped.get(name, 0) + number

    def play(self, events: Events) -> tuple[FloatArray, FloatArray]:
        """Thresholds and losses of events with scores; every event is learned."""
        if not len(events):
            return np.empty(0), np.empty(0)
        record = self.panel.replay(events.keys(), self._inputs(events), miscoverage(events.values))
        return record.thresholds, record.losses

    def learn(self, events: Events) -> FloatArray:
        """Learn events with losses; the threshold for the same input after each of them."""
        thresholds = np.empty(len(events))
        positions = events.positions()
        for position in range(int(positions.max(initial=-1)) + 1):
            now = positions == position  # every key once
            part = events.take(now)
            keys, inputs = part.keys(), self._inputs(part)
            self.panel.update(keys, inputs, part.values)
            thresholds[now] = self.panel.thresholds(keys, inputs)
        return thresholds

    def _inputs(self, events: Events) -> FloatArray | None:
        return None if self.panel.ignores_inputs else events.X
