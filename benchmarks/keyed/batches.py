"""Keyed events in micro-batches, numbered per key."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from localarc.validation import FloatArray, IntArray


@dataclass(frozen=True)
class Batch:
    """Some events of some keys, in order."""

    numbers: IntArray
    orders: IntArray
    scores: FloatArray

    def __len__(self) -> int:
        return len(self.numbers)

    @property
    def keys(self) -> list[str]:
        return [f"customer-{number:07d}" for number in self.numbers.tolist()]

    def frame(self) -> Any:
        import pandas

        columns = {"key": self.keys, "order": self.orders, "score": self.scores}
        return pandas.DataFrame(columns)


def batches(keys: int, events: int, number: int, seed: int = 0) -> list[Batch]:
    """Batches of `events` events, in which every key occurs equally often."""
    random = np.random.default_rng(seed)
    made, rounds = [], max(events // keys, 1)
    for i in range(number):
        order = np.concatenate([random.permutation(keys) for _ in range(rounds)])
        orders = np.repeat(np.arange(rounds) + 1 + i * rounds, keys)
        scores = np.abs(random.normal(size=len(order)))
        made.append(Batch(order.astype(np.int64), orders.astype(np.int64), scores))
    return made


def parts(batch: Batch, number: int) -> list[Batch]:
    """Split a batch into smaller ones."""
    columns = (batch.numbers, batch.orders, batch.scores)
    split = (np.array_split(column, number) for column in columns)
    return [Batch(*part) for part in zip(*split, strict=True)]
