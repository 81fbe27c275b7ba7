"""A stream: inputs, what each threshold would have cost, and whose rounds they are."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from localarc import validation
from localarc.curves import Curve, Curves
from localarc.validation import FloatArray


class Round(NamedTuple):
    """One round: an input, its curve and its group."""

    x: FloatArray
    curve: Curve
    group: Hashable = None


@dataclass(frozen=True, eq=False)
class Stream:
    """n rounds. Iterate over it to see them one by one, or hand its parts to `replay`."""

    name: str
    X: FloatArray
    curves: Curves
    groups: tuple[Hashable, ...] | None = None
    features: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "X", validation.points(self.X))
        lengths = {len(self.X), len(self.curves), len(self.groups or self.X)}
        if len(lengths) != 1:
            raise ValueError(f"X, curves and groups must have as many rounds, got {lengths}.")

    def __len__(self) -> int:
        return len(self.X)

    def __iter__(self) -> Iterator[Round]:
        groups = self.groups or [None] * len(self)
        for t, (x, group) in enumerate(zip(self.X, groups, strict=True)):
            yield Round(x, self.curves[t], group)
