"""A bound: a number, and the assumptions without which it means nothing."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from localarc import validation


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
    counts are None when nobody looked. `rounds` says how many rounds were looked at; evidence of
    several replays adds up with `+`.
    """

    score_range: tuple[float, float] | None = None
    full_set_fails: int | None = None
    empty_set_passes: int | None = None
    rounds: int | None = None

    def __post_init__(self) -> None:
        if self.score_range is not None:
            object.__setattr__(self, "score_range", validation.ascending_pair(self.score_range))
        for name in ("full_set_fails", "empty_set_passes", "rounds"):
            if getattr(self, name) is not None:
                validation.integer(name, getattr(self, name), 0, "It counts rounds.")

    def __add__(self, other: Evidence) -> Evidence:
        """What both tell; what one of them does not know, the sum does not know."""
        ranges = self.score_range, other.score_range
        both = None
        if ranges[0] is not None and ranges[1] is not None:
            both = min(ranges[0][0], ranges[1][0]), max(ranges[0][1], ranges[1][1])
        return Evidence(
            both,
            _sum(self.full_set_fails, other.full_set_fails),
            _sum(self.empty_set_passes, other.empty_set_passes),
            _sum(self.rounds, other.rounds),
        )

    def against(self, rounds: int) -> tuple[str, ...]:
        """What is known to fail of (A2) and (A3), or was never looked at, in so many rounds."""
        failed = []
        if self.full_set_fails:
            failed.append(f"a full set cost more than alpha in {self.full_set_fails} round(s)")
        if self.empty_set_passes:
            failed.append(f"an empty set cost less than alpha in {self.empty_set_passes} round(s)")
        return (*failed, *self.too_few(rounds))

    def too_few(self, rounds: int) -> tuple[str, ...]:
        """Whether fewer rounds were looked at than there were."""
        if self.rounds is None or self.rounds >= rounds:
            return ()
        covered = f"the evidence covers {self.rounds} of {rounds} rounds"
        return (f"{covered}: add up that of all replays",)


def _sum(left: int | None, right: int | None) -> int | None:
    return None if left is None or right is None else left + right
