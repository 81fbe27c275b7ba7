"""A bound: a number, and the assumptions without which it means nothing."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Bound:
    """`|mean loss - alpha| <= value`, as long as what it `assumes` is true.

    `unmet` lists the assumptions that are known to fail; then the value promises nothing. The value
    is infinite where the theorem does not apply at all.
    """

    name: str
    value: float
    assumes: tuple[str, ...]
    unmet: tuple[str, ...] = ()

    @property
    def holds(self) -> bool:
        """Whether nothing is known against it."""
        return not self.unmet

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON, with None for an infinite value."""
        return {
            "name": self.name,
            "value": self.value if math.isfinite(self.value) else None,
            "holds": self.holds,
            "assumes": list(self.assumes),
            "unmet": list(self.unmet),
        }

    def __str__(self) -> str:
        if self.holds:
            return f"{self.name}: {self.value:.4g}, assuming {'; '.join(self.assumes)}"
        return f"{self.name}: no promise, because {'; '.join(self.unmet)}"


@dataclass(frozen=True)
class Evidence:
    """What is known about a stream's losses and scores, beyond what the user stated.

    `replay` fills it from the curves; a user who knows the score range can state that alone. The
    counts are None when nobody looked.
    """

    score_range: tuple[float, float] | None = None
    full_set_fails: int | None = None
    empty_set_passes: int | None = None

    def __post_init__(self) -> None:
        if self.score_range is not None and not self.score_range[0] <= self.score_range[1]:
            raise ValueError(f"score_range must be (smallest, largest), got {self.score_range}.")

    def against(self) -> tuple[str, ...]:
        """The assumptions (A2) and (A3) that were seen to fail."""
        failed = []
        if self.full_set_fails:
            failed.append(f"a full set cost more than alpha in {self.full_set_fails} round(s)")
        if self.empty_set_passes:
            failed.append(f"an empty set cost less than alpha in {self.empty_set_passes} round(s)")
        return tuple(failed)
