"""exp(-v) and log(v) without a branch or a call, so that loops over them are vectorised."""

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types

from localarc.engine.numba_tools import jit, operation

LOG2_E = 1.4426950408889634
LOG_2 = 0.6931471805599453
SQRT_2 = 1.4142135623730951
ROUNDER = 1.5 * 2.0**52  # adding it leaves the nearest integer in the low bits
TWO_52 = 2.0**52
MAX_EXPONENT = 708.0  # exp(-708) = 3e-308, the last exponential that is a normal number

MANTISSA = 0x000FFFFFFFFFFFFF
ONE = 0x3FF0000000000000  # the bits of 1.0
TWO_52_BITS = 0x4330000000000000  # the bits of 2**52


def _reinterpret(source: Any, target: Any, llvm_target: Any) -> Any:
    """An operation that reinterprets the bits of one type as another of the same width."""

    def bits(context: Any, value: Any) -> Any:
        def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            return builder.bitcast(arguments[0], llvm_target)

        return target(source), code

    given, made = np.dtype(source.name), np.dtype(target.name)
    return operation(bits, lambda value: given.type(value).view(made))


as_bits: Any = _reinterpret(types.float64, types.int64, ir.IntType(64))
as_float: Any = _reinterpret(types.int64, types.float64, ir.DoubleType())
_as_bits_32: Any = _reinterpret(types.float32, types.int32, ir.IntType(32))
_as_float_32: Any = _reinterpret(types.int32, types.float32, ir.FloatType())


@jit
def exp_minus(v: float) -> float:
    """exp(-v) for v >= 0, to about 4e-16 of its value; beyond 708 it stays at 3e-308.

    v = -(n + r) log 2 with n an integer and |r| <= 1/2; the polynomial interpolates 2**r at the
    Chebyshev nodes, and n is added to the exponent's bits.
    """
    v = min(v, MAX_EXPONENT)
    shifted = ROUNDER - v * LOG2_E
    r = -v * LOG2_E - (shifted - ROUNDER)
    p = 7.0725834608047575e-09
    p = p * r + 1.0208690185957821e-07
    p = p * r + 1.3215442604231796e-06
    p = p * r + 1.5252657260787487e-05
    p = p * r + 1.5403530441697656e-04
    p = p * r + 1.333355823016397e-03
    p = p * r + 9.618129107606925e-03
    p = p * r + 5.550410866444773e-02
    p = p * r + 2.4022650695910097e-01
    p = p * r + 6.9314718055995e-01
    p = p * r + 1.0
    return as_float(as_bits(p) + (as_bits(shifted) << 52))  # type: ignore[no-any-return]


_LOG2_E = np.float32(LOG2_E)
_ROUNDER = np.float32(1.5 * 2.0**23)
_MAX_EXPONENT_32 = np.float32(87.0)
_SHIFT = np.int32(23)
_C0, _C1, _C2, _C3, _C4, _C5, _C6 = (
    np.float32(c)
    for c in (
        1.0,
        6.931472067028326e-01,
        2.4022650922288757e-01,
        5.550327226670302e-02,
        9.618056678524637e-03,
        1.340042817761594e-03,
        1.5461444698569338e-04,
    )
)


@jit
def exp_minus_single(v: Any) -> Any:
    """`exp_minus` in float32, to about 1e-7 of its value; beyond 87 it stays at 2e-38."""
    v = min(v, _MAX_EXPONENT_32)
    shifted = _ROUNDER - v * _LOG2_E
    r = -v * _LOG2_E - (shifted - _ROUNDER)
    p = _C6
    p = p * r + _C5
    p = p * r + _C4
    p = p * r + _C3
    p = p * r + _C2
    p = p * r + _C1
    p = p * r + _C0
    return _as_float_32(np.int32(_as_bits_32(p) + (_as_bits_32(shifted) << _SHIFT)))


@jit
def log(v: float) -> float:
    """log(v) for a normal v > 0: v = 2**n m with m near 1, and log m = 2 artanh((m-1)/(m+1))."""
    bits = as_bits(v)
    m = as_float((bits & MANTISSA) | ONE)
    n = as_float((bits >> 52) | TWO_52_BITS) - (TWO_52 + 1023.0)
    high = m > SQRT_2
    m = 0.5 * m if high else m
    n = n + 1.0 if high else n
    s = (m - 1.0) / (m + 1.0)
    z = s * s
    p = 1.0 / 21.0
    p = p * z + 1.0 / 19.0
    p = p * z + 1.0 / 17.0
    p = p * z + 1.0 / 15.0
    p = p * z + 1.0 / 13.0
    p = p * z + 1.0 / 11.0
    p = p * z + 1.0 / 9.0
    p = p * z + 1.0 / 7.0
    p = p * z + 1.0 / 5.0
    p = p * z + 1.0 / 3.0
    return n * LOG_2 + (2.0 * s + 2.0 * s * z * p)  # type: ignore[no-any-return]
