"""Learning rates: how large a step round t takes."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from math import sqrt

import numpy as np

from localarc import validation
from localarc.validation import FloatArray

_HINT = "It is the size of the first step, in units of the score, e.g. 1.0."


class Rate(ABC):
    """eta_t: positive and non-increasing in the round t = 1, 2, ..."""

    @abstractmethod
    def __call__(self, t: int) -> float:
        """The step of round t."""

    def values(self, start: int, stop: int) -> FloatArray:
        """The steps of rounds start, ..., stop - 1."""
        return np.fromiter(map(self, range(start, stop)), np.float64, stop - start)

    def sum_bound(self, rounds: int) -> float:
        """At least the sum of the first so many steps."""
        return float(self.values(1, rounds + 1).sum())


@dataclass(frozen=True)
class InverseSqrt(Rate):
    """`eta / sqrt(t)`, the paper's rate.

    >>> InverseSqrt(1.0)(4)
    0.5
    """

    eta: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "eta", validation.positive("eta", self.eta, _HINT))

    def __call__(self, t: int) -> float:
        """The step of round t."""
        return self.eta / sqrt(t)

    def values(self, start: int, stop: int) -> FloatArray:
        """The steps of rounds start, ..., stop - 1."""
        return np.asarray(self.eta / np.sqrt(np.arange(start, stop, dtype=np.float64)))

    def sum_bound(self, rounds: int) -> float:
        """The integral of eta / sqrt(t) from 0."""
        return 2.0 * self.eta * sqrt(rounds)


@dataclass(frozen=True)
class Power(Rate):
    """`eta * t^(-exponent)`, exponent in [0, 1): larger settles faster, adapts slower."""

    eta: float
    exponent: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "eta", validation.positive("eta", self.eta, _HINT))
        hint = "The paper uses 0.5."
        exponent = validation.not_negative("exponent", self.exponent, hint)
        if exponent >= 1:
            raise ValueError(
                f"exponent must lie in [0, 1), got {exponent}. From 1 on, steps shrink too fast "
                "for the long-run risk to reach its target."
            )
        object.__setattr__(self, "exponent", exponent)

    def __call__(self, t: int) -> float:
        """The step of round t."""
        return float(self.eta * t**-self.exponent)

    def values(self, start: int, stop: int) -> FloatArray:
        """The steps of rounds start, ..., stop - 1."""
        rounds = np.arange(start, stop, dtype=np.float64)
        return np.asarray(self.eta * rounds**-self.exponent)

    def sum_bound(self, rounds: int) -> float:
        """The integral of the step from 0."""
        return float(self.eta * rounds ** (1.0 - self.exponent) / (1.0 - self.exponent))


@dataclass(frozen=True)
class Constant(Rate):
    """The same step for ever: keeps adapting, never settles."""

    eta: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "eta", validation.positive("eta", self.eta, _HINT))

    def __call__(self, t: int) -> float:
        """The step of round t."""
        return self.eta

    def values(self, start: int, stop: int) -> FloatArray:
        """The steps of rounds start, ..., stop - 1."""
        return np.full(stop - start, self.eta)

    def sum_bound(self, rounds: int) -> float:
        """So many equal steps."""
        return self.eta * rounds


@dataclass(frozen=True)
class Schedule(Rate):
    """A user's function of t, checked for being positive and non-increasing as it is used."""

    function: Callable[[int], float]

    def __post_init__(self) -> None:
        if not callable(self.function):
            raise TypeError(
                f"rate must be a number, a rate or a function of t, got {self.function!r}. "
                "A number eta means InverseSqrt(eta)."
            )
        self(1)
        self(2)

    def __call__(self, t: int) -> float:
        """The step of round t."""
        step = self._positive(t)
        if t > 1 and step > (before := self._positive(t - 1)):
            raise ValueError(
                f"rate must not increase, got {before} at t = {t - 1} and {step} at t = {t}. "
                "The long-run bound needs steps that only shrink."
            )
        return step

    def _positive(self, t: int) -> float:
        return validation.positive(f"rate({t})", self.function(t), "Steps are positive.")


def as_rate(rate: Rate | float | Callable[[int], float]) -> Rate:
    """A rate as it is, a number as InverseSqrt, a function of t wrapped and checked."""
    if isinstance(rate, Rate):
        return rate
    if callable(rate) and not isinstance(rate, int | float | np.number):
        return Schedule(rate)
    return InverseSqrt(validation.positive("rate", rate, _HINT))
