"""Strict functions round as Python does, whoever calls them first."""

from __future__ import annotations

from typing import Any

from numba import njit

from localarc.engine.numba_tools import STRICT_OPTIONS, jit


def multiply_and_add(a: float, b: float, c: float) -> float:
    return a * b + c


STRICT: Any = njit(multiply_and_add, **STRICT_OPTIONS)


def test_a_strict_function_is_not_contracted_into_a_caller_that_is() -> None:
    @jit
    def contracted(a: float, b: float, c: float) -> float:
        return float(STRICT(a, b, c))

    a, b = 1.0 + 2.0**-30, 1.0 - 2.0**-30  # their product rounds to 1; fused, it does not
    assert contracted(a, b, -1.0) == a * b - 1.0 == 0.0
