"""The paper's equations, written out slowly: the oracle for everything that is fast.

Nothing here uses localarc. `larc` is also the straightforward loop that the benchmarks compare
with: one NumPy pass over all earlier inputs a round.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
KernelFunction = Callable[[FloatArray, FloatArray], FloatArray]


@dataclass
class Run:
    """All that the equations define: g_t(x_t), L_t, c_t, and the coefficients at the end."""

    thresholds: FloatArray
    losses: FloatArray
    constants: FloatArray  # c_1, ..., c_(T+1)
    coefficients: FloatArray  # a^i_(T+1)
    mean_coefficients: FloatArray  # (1/T) sum_t a^i_t
    X: FloatArray
    kernel: KernelFunction

    def current(self, points: FloatArray) -> FloatArray:
        """g_(T+1), eq. (threshold)."""
        return np.asarray(self._expand(points, self.coefficients) + self.constants[-1])

    def average(self, points: FloatArray) -> FloatArray:
        """The time-averaged threshold, eq. (time_averaged)."""
        return np.asarray(self._expand(points, self.mean_coefficients) + self.constants[:-1].mean())

    def _expand(self, points: FloatArray, coefficients: FloatArray) -> FloatArray:
        return np.array([coefficients @ self.kernel(self.X, x) for x in points])


def larc(
    X: FloatArray,
    loss: Callable[[int, float], float],
    alpha: float,
    kernel: KernelFunction,
    rate: Callable[[int], float],
    regularization: float,
    *,
    window: int | None = None,
    start: float = 0.0,
    clip: float = math.inf,
    radius: float = math.inf,
) -> Run:
    """Eqs. (constant_component), (kernel_update), (threshold), (coeffsLARC_1), (coeffsLARC)."""
    T = len(X)
    a = np.zeros(T)
    a_sum = np.zeros(T)
    thresholds, losses = np.zeros(T), np.zeros(T)
    constants = np.zeros(T + 1)
    constants[0] = start
    for t in range(T):  # the paper's t, minus one
        k = kernel(X[:t], X[t])
        f = float(a[:t] @ k)
        thresholds[t] = min(max(f, -clip), clip) + constants[t]
        losses[t] = loss(t, thresholds[t])
        eta = rate(t + 1)
        a_sum[:t] += a[:t]
        a[:t] *= 1 - eta * regularization
        a[t] = -eta * (alpha - losses[t])
        constants[t + 1] = constants[t] - eta * (alpha - losses[t])
        if window is not None and t + 1 > window:
            a[t - window] = 0.0  # eq. (threshold_truncated), with `window` terms
        if radius < math.inf:
            a[: t + 1] *= min(1.0, radius / norm(a[: t + 1], X[: t + 1], kernel))
    return Run(thresholds, losses, constants, a, a_sum / max(T, 1), X, kernel)


def norm(a: FloatArray, X: FloatArray, kernel: KernelFunction) -> float:
    """|f|_H = sqrt(a' K a)."""
    K = np.array([kernel(X, x) for x in X])
    return math.sqrt(max(float(a @ K @ a), 1e-300))


def arc(
    loss: Callable[[int, float], float],
    T: int,
    alpha: float,
    rate: Callable[[int], float],
    start: float = 0.0,
) -> Run:
    """Eq. (aci_update_rule): L-ARC whose kernel is zero."""
    X = np.zeros((T, 1))
    return larc(X, loss, alpha, lambda A, x: np.zeros(len(A)), rate, 0.0, start=start)


def identity(losses: FloatArray, constants: FloatArray, rates: FloatArray, alpha: float) -> Any:
    """Both sides of `sum_t (L_t - alpha) = sum_r Delta_r (c_(T+1) - c_r)`."""
    inverse = 1.0 / rates
    delta = np.diff(inverse, prepend=0.0)
    return (losses - alpha).sum(), (delta * (constants[-1] - constants[:-1])).sum()


def gaussian(length_scale: float, scale: float = 1.0) -> KernelFunction:
    """`kappa exp(-|x - x'|^2 / l)`."""
    return lambda X, x: scale * np.exp(-((X - x) ** 2).sum(axis=1) / length_scale)
