"""Kernel formulas as functions of u, the squared distance between two already scaled points."""

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from localarc.engine.exponential import exp_minus, exp_minus_single, log
from localarc.engine.numba_tools import jit

Formula = Callable[[float, float], float]


@dataclass(frozen=True, slots=True, weakref_slot=True)
class Profile:
    """A formula k = formula(u, parameter), compiled into every loop that uses it.

    `name` labels the compiled loops on disk; a profile without a name is compiled in each process,
    and its `loops` are freed together with it. `peak` is the value at u = 0.
    """

    formula: Formula
    parameter: float = 0.0
    name: str = ""
    peak: float = 1.0
    loops: dict[Any, Any] = field(default_factory=dict, compare=False, repr=False)


@jit
def _gaussian(u: float, parameter: float) -> float:
    return exp_minus(u)


@jit
def _gaussian_single(u: float, parameter: float) -> float:
    return exp_minus_single(u)  # type: ignore[no-any-return]


@jit
def _laplace(u: float, parameter: float) -> float:
    return exp_minus(math.sqrt(u))


@jit
def _matern32(u: float, parameter: float) -> float:
    r = math.sqrt(3.0 * u)
    return (1.0 + r) * exp_minus(r)


@jit
def _matern52(u: float, parameter: float) -> float:
    r = math.sqrt(5.0 * u)
    return (1.0 + r + r * r / 3.0) * exp_minus(r)


@jit
def _cauchy(u: float, parameter: float) -> float:
    return 1.0 / (1.0 + u)


@jit
def _triangular(u: float, power: float) -> float:
    height = 1.0 - math.sqrt(u)
    inside = height > 0.0
    safe = height if inside else 1.0
    value = exp_minus(-power * log(safe))
    return value if inside else 0.0


@jit
def _rational_quadratic(u: float, shape: float) -> float:
    growth = u / shape
    base = 1.0 + growth
    lost = growth - (base - 1.0)  # the rounding error; it matters once shape is large
    return exp_minus(shape * (log(base) + lost / base))


FORMULAS: dict[str, Formula] = {
    "gaussian": _gaussian,
    "laplace": _laplace,
    "matern32": _matern32,
    "matern52": _matern52,
    "cauchy": _cauchy,
    "triangular": _triangular,
    "rational_quadratic": _rational_quadratic,
}


def named(name: str, parameter: float = 0.0) -> Profile:
    """A formula of this file, by the name that is a kernel's `compiled`."""
    return Profile(FORMULAS[name], parameter, name)


GAUSSIAN = named("gaussian")
GAUSSIAN_SINGLE = Profile(_gaussian_single, name="gaussian_single")


def custom(function: Any) -> Profile:
    """A user's own function of u, with or without numba's `njit`.

    It is compiled again with the engine's options, so that a division does not prevent
    vectorisation. `math.exp` does; use `localarc.engine.exp_minus(v)`, for v >= 0, instead.
    """
    of_u = jit(getattr(function, "py_func", function))

    def formula(u: float, parameter: float) -> float:
        return of_u(u)  # type: ignore[no-any-return]

    return Profile(jit(formula), peak=float(of_u(0.0)))
