"""Assumptions: what a calibrator saw of them while it ran, and a warning when one is broken."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

from localarc.adaptive.running_constant import RunningConstant
from localarc.adaptive.settings import Settings

PUNCTUAL = "no loss was pending when a threshold went out"


class AssumptionWarning(UserWarning):
    """A stream violates an assumption of the guarantees."""


@dataclass(frozen=True)
class Lateness:
    """How late losses were: the largest number pending, and how that is known."""

    pending: int = 0
    measured: bool = False
    stated: bool = False

    @property
    def assumes(self) -> tuple[str, ...]:
        """What has to be assumed about the time of feedback."""
        if self.measured:
            return ()
        if self.stated and self.pending:
            return (f"at most {self.pending} loss(es) pending, as stated",)
        return (PUNCTUAL,)


def broken_full_set(constant: RunningConstant) -> tuple[str, ...]:
    """Whether a round showed (A2) to be false: a threshold of the highest score cost too much."""
    return _broken("a full set cost more", constant.full_fails, constant.full_since)


def broken_empty_set(constant: RunningConstant) -> tuple[str, ...]:
    """Whether a round showed (A3) to be false: a threshold below all scores cost too little."""
    return _broken("an empty set cost less", constant.empty_passes, constant.empty_since)


def broken_rate(constant: RunningConstant) -> tuple[str, ...]:
    """Whether the steps that were used grew."""
    if not constant.rate_rise:
        return ()
    return (f"the rate rose in round {constant.rate_rise}: call restart() instead",)


def _broken(what: str, times: int, since: int) -> tuple[str, ...]:
    return (f"{what} than alpha in {times} round(s), first in round {since}",) if times else ()


def warn_of_broken_assumption(settings: Settings, constant: RunningConstant) -> None:
    """Warn that a round did not fit the stated score range."""
    for text in broken_assumptions(settings, constant):
        warnings.warn(text, AssumptionWarning, stacklevel=4)


def broken_assumptions(settings: Settings, constant: RunningConstant) -> tuple[str, ...]:
    """What rounds showed to be false, and what to do; a floor needs no (A3)."""
    empty = () if settings.floor is not None else broken_empty_set(constant)
    reasons = "; ".join((*broken_full_set(constant), *empty))
    if not reasons:
        return ()
    advice = "the mean loss may stay away from the target"
    if empty:
        low = settings.limits[2]
        advice += f". If rounds can be harmless, set floor={low:g}, the lowest useful threshold"
    advice += ". If losses come late, use ask and tell"
    return (f"{reasons}: {advice}.",)
