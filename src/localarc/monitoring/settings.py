"""The fixed configuration of a monitor, checked once."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property, lru_cache

from localarc import validation


@dataclass(frozen=True)
class Settings:
    """Target, tolerance and largest loss in the units of the losses, level, window, silence."""

    target: float
    tolerance: float
    level: float
    window: int
    max_loss: float
    stale_after: float

    @classmethod
    def checked(
        cls,
        target: float,
        tolerance: float,
        level: float,
        window: int,
        max_loss: float,
        stale_after: float,
    ) -> Settings:
        """Return the settings, or raise what is wrong with them."""
        made = cls(
            validation.positive("target", target, "It is the risk that you accept, e.g. 0.1."),
            validation.not_negative("tolerance", tolerance, "It is a risk as well, e.g. 0.02."),
            validation.positive("level", level, "It is a probability, e.g. 0.01."),
            validation.integer("window", window, 1, "It is a number of rounds, e.g. 1000."),
            validation.positive("max_loss", max_loss, "It is the largest possible loss, e.g. 1."),
            validation.not_negative("stale_after", stale_after, "It is in seconds, e.g. 900."),
        )
        if made.level >= 1.0:
            raise ValueError(
                f"level must be below 1, got {level}. It is the probability of a false alarm, "
                "e.g. 0.01."
            )
        if made.limit >= made.max_loss:
            raise ValueError(
                f"target + tolerance must be below max_loss {made.max_loss:g}, got {made.limit:g}. "
                "Lower the tolerance, or set max_loss to the largest possible loss."
            )
        return _shared(made)

    @cached_property
    def limit(self) -> float:
        """The largest risk without an alarm."""
        return self.target + self.tolerance

    @cached_property
    def boundary(self) -> float:
        """The same for losses that are scaled to [0, 1]."""
        return self.limit / self.max_loss

    @cached_property
    def needed(self) -> float:
        """Logarithm of the evidence that an alarm requires: each kind has half of the level."""
        return math.log(2.0 / self.level)

    def scaled(self, loss: float) -> float:
        """Return a loss, scaled to [0, 1]."""
        return validation.loss(loss, self.max_loss, "max_loss") / self.max_loss


@lru_cache(maxsize=4096)
def _shared(settings: Settings) -> Settings:
    """Return one object for equal settings, since a service has thousands of monitors."""
    return settings
