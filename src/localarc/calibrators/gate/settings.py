"""The settings of a gate, checked once."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

from localarc import validation
from localarc.calibrators.auto.settings import MOST_PENDING, checked_max_pending


@dataclass(frozen=True)
class GateSettings:
    """What stays the same during a run, except `shadow`."""

    wrong_at_most: float
    credit: float
    idle: float
    initial_threshold: float
    auditable: int
    max_bytes: int
    max_pending: int = field(default=MOST_PENDING, compare=False)  # nothing learned depends on it

    def to_json(self) -> dict[str, Any]:
        """Plain values for JSON."""
        values = asdict(self)
        if self.max_pending == MOST_PENDING:
            del values["max_pending"]
        return values

    @staticmethod
    def from_json(content: dict[str, Any]) -> GateSettings:
        """The settings that `to_json` described."""
        return checked_settings(**{"max_pending": MOST_PENDING} | content)

    def describe(self) -> str:
        """The settings as they are written in a call."""
        return f"wrong_at_most={self.wrong_at_most}, credit={self.credit}, idle={self.idle}"


def checked_settings(
    wrong_at_most: float,
    credit: float,
    idle: float,
    initial_threshold: float | None,
    auditable: int,
    max_bytes: int,
    max_pending: int,
) -> GateSettings:
    """The settings, if they make sense."""
    hint = "It is the share of answers that may be wrong, e.g. 0.05."
    target = validation.finite("wrong_at_most", wrong_at_most, hint)
    if not 0.0 < target < 1.0:
        raise ValueError(f"wrong_at_most must lie strictly between 0 and 1, got {target}. {hint}")
    hint = "It is how many wrong answers a withheld round pays for, e.g. 0.001."
    pay = validation.not_negative("credit", credit, hint)
    if pay > target:
        raise ValueError(f"credit must be at most wrong_at_most, {target}, got {pay}. {hint}")
    hint = "It is a confidence between 0 and 1."
    start = 1.0 - target
    if initial_threshold is not None:
        start = validation.finite("initial_threshold", initial_threshold, hint)
    if not 0.0 <= start <= 1.0:
        raise ValueError(f"initial_threshold must lie in [0, 1], got {start}. {hint}")
    return GateSettings(
        wrong_at_most=target,
        credit=pay,
        idle=validation.not_negative("idle", idle, "It lowers thresholds in withheld rounds."),
        initial_threshold=start,
        auditable=validation.integer("auditable", auditable, 0, "It counts withheld decisions."),
        max_bytes=max_bytes,
        max_pending=checked_max_pending(max_pending),
    )
