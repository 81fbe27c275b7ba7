"""Radial kernels: a user's own formula of the squared distance, at the engine's full speed."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from localarc.kernels.base import Kernel
from localarc.kernels.stationary import Stationary
from localarc.validation import FloatArray

Formula = Callable[[float], float]


@dataclass(frozen=True, init=False)
class Radial(Stationary):
    """`scale * function(u)`, with u the squared distance in length scales and function(0) = 1.

    The function must be positive semi-definite in as many dimensions as there are features; that
    cannot be checked here. Decorate it with numba's `njit`, or leave that to the engine.

    >>> round(float(Radial(lambda u: 1.0 / (1.0 + u) ** 2)([[1.0]], [0.0])[0]), 3)
    0.25
    """

    function: Formula = math.exp  # always replaced; a field after others needs a default

    def __init__(
        self,
        function: Formula,
        length_scale: float | tuple[float, ...] = 1.0,
        scale: float = 1.0,
        nonnegative: bool = True,
    ) -> None:
        if not callable(function):
            raise TypeError(f"a radial kernel needs a function of u, got {function!r}.")
        for name, value in (
            ("function", function),
            ("length_scale", length_scale),
            ("scale", scale),
            ("nonnegative", nonnegative),
        ):
            object.__setattr__(self, name, value)
        Stationary.__post_init__(self)
        peak = function(0.0)
        if not abs(peak - 1.0) <= 1e-12:
            raise ValueError(
                f"a radial function must be 1 at distance zero, got {peak}. Divide it by that, and "
                "give the height as scale."
            )

    def profile(self, u: FloatArray, dimension: int) -> FloatArray:
        """The function, number by number."""
        values = map(self.function, u.ravel().tolist())
        return np.fromiter(values, np.float64, u.size).reshape(u.shape)

    def steepness(self, dimension: int) -> float:
        """Not known for a function."""
        return np.nan

    def lipschitz(self, dimension: int = 1) -> float | None:
        """Not known for a function."""
        return None

    def scaled(self, factor: float) -> Kernel:
        """The same function with a larger or smaller scale."""
        return Radial(self.function, self.length_scale, self.scale * factor, self.nonnegative)
