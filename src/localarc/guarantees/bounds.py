"""A bound: a number, and the assumptions without which it means nothing."""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from localarc import validation

_PASSED = "so an assumption is false"


Side: TypeAlias = Literal["both", "above", "below"]
_DISTANCES: dict[Side, str] = {
    "both": "|mean loss - target|",
    "above": "mean loss - target",
    "below": "target - mean loss",
}


@dataclass(frozen=True)
class Bound:
    """`|mean loss - alpha| <= value`, as long as its assumptions hold; or one side of it.

    Parameters
    ----------
    name : str
        The theorem.
    value : float
        The bound, in the units of the loss; infinite where the theorem does not apply.
    assumes : tuple of str
        The assumptions.
    unmet : tuple of str, default empty
        The assumptions that are known to fail; then the value guarantees nothing.
    side : {"both", "above", "below"}, default "both"
        "above": only `mean loss - alpha <= value` is guaranteed; "below": only
        `alpha - mean loss <= value`.

    Examples
    --------
    >>> Bound("theorem A", 0.02, ("losses in [0, B]",)).holds
    True
    """

    name: str
    value: float
    assumes: tuple[str, ...]
    unmet: tuple[str, ...] = ()
    side: Side = "both"

    @property
    def one_sided(self) -> bool:
        """Whether one side only is guaranteed."""
        return self.side != "both"

    @property
    def holds(self) -> bool:
        """Whether no assumption is known to fail."""
        return not self.unmet

    @property
    def passed(self) -> bool:
        """Whether it was withdrawn because the mean loss has passed it."""
        return any(reason.endswith(_PASSED) for reason in self.unmet)

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON, with None for an infinite value."""
        return {
            "name": self.name,
            "value": self.value if math.isfinite(self.value) else None,
            "holds": self.holds,
            "assumes": list(self.assumes),
            "unmet": list(self.unmet),
            "side": self.side,
        }

    def beside(self, deviation: float) -> Bound:
        """The bound, withdrawn if `mean loss - alpha` has passed it: an assumption is false."""
        seen = {"both": abs(deviation), "above": deviation, "below": -deviation}[self.side]
        if self.unmet or not seen > self.value * (1.0 + 1e-9) + 1e-12:
            return self
        passed = f"the mean loss is {seen:.4g} from the target, more than {self.value:.4g}"
        return self.without(f"{passed}, {_PASSED}")

    def without(self, *reasons: str) -> Bound:
        """The bound, with assumptions that are known to fail."""
        return dataclasses.replace(self, unmet=(*self.unmet, *reasons))

    def __str__(self) -> str:
        if self.holds:
            value = f"{_DISTANCES[self.side]} <= {self.value:.4g}"
            assuming = f", assuming {'; '.join(self.assumes)}" if self.assumes else ""
            return f"{self.name}: {value}{assuming}"
        return f"{self.name}: no guarantee, because {'; '.join(self.unmet)}"


@dataclass(frozen=True)
class Evidence:
    """What was observed of a stream's losses and scores, beyond what the user stated.

    `replay` fills it from the curves (`record.evidence`); the evidence of several replays adds up
    with `+`.

    Parameters
    ----------
    score_range : (float, float) or None, default None
        The smallest and the largest score.
    full_set_fails : int or None, default None
        The number of rounds in which the full set cost more than alpha; None if unchecked.
    empty_set_passes : int or None, default None
        The number of rounds in which the empty set cost less than alpha; None if unchecked.
    rounds : int or None, default None
        How many rounds were checked.

    Examples
    --------
    >>> Evidence((0.0, 1.0), 0, 0, 10) + Evidence((0.5, 2.0), 1, 0, 5)
    Evidence(score_range=(0.0, 2.0), full_set_fails=1, empty_set_passes=0, rounds=15)
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
        """The evidence of both; what is unknown to one of them is unknown to the sum."""
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

    def violations(self, rounds: int, both: bool = True) -> tuple[str, ...]:
        """Which of (A2) and, for both sides, (A3) failed or were not checked in `rounds` rounds."""
        failed = []
        if self.full_set_fails:
            failed.append(f"a full set cost more than alpha in {self.full_set_fails} round(s)")
        if both and self.empty_set_passes:
            failed.append(f"an empty set cost less than alpha in {self.empty_set_passes} round(s)")
        return (*failed, *self.incomplete(rounds))

    def incomplete(self, rounds: int) -> tuple[str, ...]:
        """Whether fewer rounds were checked than there were."""
        if self.rounds is None or self.rounds >= rounds:
            return ()
        covered = f"the evidence covers {self.rounds} of {rounds} rounds"
        return (f"{covered}: add up that of all replays",)


def _sum(left: int | None, right: int | None) -> int | None:
    return None if left is None or right is None else left + right


def checked_evidence(evidence: Evidence | None) -> Evidence:
    """The evidence that was passed; without any, none."""
    if evidence is not None and not isinstance(evidence, Evidence):
        raise TypeError(
            f"evidence must be a record's evidence, got {evidence!r:.60}. For a known score range "
            "write Evidence(score_range=(0.0, 1.0))."
        )
    return evidence or Evidence()
