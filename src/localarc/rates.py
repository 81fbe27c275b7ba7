"""Learning rates: how large a step round t takes."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from math import sqrt

import numpy as np

from localarc import validation
from localarc.validation import FloatArray

__all__ = ["Constant", "InverseSqrt", "Power", "Rate", "Schedule"]

_ADDED_UP = 2**14  # this many steps are added up one by one
_BLOCKS = 128  # a block of later steps is that part of the rounds before it
_HINT = "It is the size of the first step, in units of the score, e.g. 1.0."


class Rate(ABC):
    """eta_t, the step size of round t: positive and non-increasing in t = 1, 2, ...

    The base of the rates below; derive from it for a rate of your own, or pass a function of t.

    Examples
    --------
    >>> class Halving(Rate):
    ...     def __call__(self, t):
    ...         return 1.0 if t < 1000 else 0.5
    >>> Halving().values(999, 1001)
    array([1. , 0.5])
    """

    @abstractmethod
    def __call__(self, t: int) -> float:
        """The step of round t."""

    def values(self, start: int, stop: int) -> FloatArray:
        """The steps of rounds start, ..., stop - 1.

        Parameters
        ----------
        start, stop : int
            The first round, and the one after the last.
        """
        return np.fromiter(map(self, range(start, stop)), np.float64, stop - start)

    def sum_bound(self, rounds: int) -> float:
        """An upper bound on the sum of the first `rounds` steps.

        The first 16,384 steps are added up; beyond, a block of rounds counts as often as its first
        step, the largest. A block is a 128th of the rounds before it: `eta / sqrt(t)` is
        overestimated by less than 0.3 %, and the time grows with the logarithm of `rounds`.

        Parameters
        ----------
        rounds : int
            The number of steps.
        """
        start, stop = min(int(rounds), _ADDED_UP) + 1, int(rounds) + 1
        steps = self.values(1, start)
        total, before = float(steps.sum()), float(steps.min(initial=math.inf))
        while start < stop:
            length, step = min(start // _BLOCKS, stop - start), self(start)
            if step > before:
                raise _rises(before, start - 1, step, start)
            total, before, start = total + length * step, step, start + length
        return total


@dataclass(frozen=True)
class InverseSqrt(Rate):
    """`eta / sqrt(t)`, the paper's rate.

    Parameters
    ----------
    eta : float
        The first step, in the units of the score.

    Examples
    --------
    >>> InverseSqrt(1.0)(4)
    0.5

    References
    ----------
    Zecchin and Simeone, *Localized adaptive risk control*, NeurIPS 2024.
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
    """`eta * t^(-exponent)`: a larger exponent settles faster and adapts more slowly.

    Parameters
    ----------
    eta : float
        The first step, in the units of the score.
    exponent : float
        In [0, 1); 0.5 is the paper's rate.

    Examples
    --------
    >>> Power(1.0, exponent=0.5)(4)
    0.5

    References
    ----------
    Angelopoulos, Barber and Bates, *Online conformal prediction with decaying step sizes*, 2024.
    """

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
    """The same step in every round: keeps adapting, never settles.

    Parameters
    ----------
    eta : float
        The step, in the units of the score.

    Examples
    --------
    >>> Constant(0.05)(1000)
    0.05

    References
    ----------
    Gibbs and Candes, *Adaptive conformal inference under distribution shift*, NeurIPS 2021.
    """

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
        """The sum of equal steps."""
        return self.eta * rounds


@dataclass(frozen=True)
class Schedule(Rate):
    """A user's function of t, checked to be positive and non-increasing as it is used.

    Calibrators wrap a function that is passed as their rate.

    Parameters
    ----------
    function : callable
        The step of round t = 1, 2, ...

    Examples
    --------
    >>> Schedule(lambda t: 1.0 / t)(4)
    0.25
    """

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
            raise _rises(before, t - 1, step, t)
        return step

    def _positive(self, t: int) -> float:
        return validation.positive(f"rate({t})", self.function(t), "Steps are positive.")


def _rises(before: float, earlier: int, step: float, t: int) -> ValueError:
    """The error of a rate that increases."""
    return ValueError(
        f"rate must not increase, got {before} at t = {earlier} and {step} at t = {t}. "
        "The long-run bound needs steps that only shrink."
    )


def as_rate(rate: Rate | float | Callable[[int], float]) -> Rate:
    """A rate as it is, a number as InverseSqrt, a function of t wrapped and checked."""
    if isinstance(rate, Rate):
        return rate
    if callable(rate) and not isinstance(rate, int | float | np.number):
        return Schedule(rate)
    return InverseSqrt(validation.positive("rate", rate, _HINT))
