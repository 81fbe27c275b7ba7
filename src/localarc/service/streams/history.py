"""A series of a run that stays short: when it is full, every other point goes."""

from __future__ import annotations

from typing import Any

import msgspec

MOST_POINTS = 1024


class Series(msgspec.Struct, array_like=True):
    """Columns with a point every `stride` rounds; strides are powers of two."""

    stride: int = 1
    rounds: list[int] = []
    at: list[float] = []
    risk: list[float] = []
    threshold: list[float] = []
    size: list[float | None] = []
    observed: list[float | None] = []
    pending: list[int] = []
    late: list[int] = []
    expired: list[int] = []

    def wants(self, rounds: int) -> bool:
        """Whether this round is one to keep."""
        return rounds % self.stride == 0

    def add(
        self,
        rounds: int,
        at: float,
        risk: float,
        threshold: float,
        size: float | None,
        observed: float | None,
        pending: int,
        late: int,
        expired: int,
    ) -> None:
        """Add a point, and thin the series out when it is full."""
        point = rounds, at, risk, threshold, size, observed, pending, late, expired
        for column, value in zip(self.columns(), point, strict=True):
            column.append(value)
        if len(self.rounds) >= MOST_POINTS:
            self.stride *= 2
            kept = [i for i, t in enumerate(self.rounds) if t % self.stride == 0]
            for column in self.columns():
                column[:] = [column[i] for i in kept]

    def columns(self) -> tuple[list[Any], ...]:
        """The columns, in the order of `add`."""
        return (
            self.rounds, self.at, self.risk, self.threshold, self.size,
            self.observed, self.pending, self.late, self.expired,
        )  # fmt: skip
