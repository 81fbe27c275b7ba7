"""Compile a loop once for each kernel it is asked to run with, and remember it on disk."""

import hashlib
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from types import FunctionType
from typing import Any, TypeVar, cast

from numba import njit, typeof, types

Function = TypeVar("Function", bound=Callable[..., Any])

# Reassociation stays off: it would cancel the rounding trick of exponential.py, and it would make
# sums depend on the width of the processor's vectors.
OPTIONS: dict[str, Any] = {
    "error_model": "numpy",
    "fastmath": {"contract"},
    "nogil": True,
}


def jit(function: Function) -> Function:
    """A part that other loops call; it is compiled into them."""
    return cast(Function, njit(function, **OPTIONS))


# Where a compiled loop must give the bits of the same lines in Python: nothing is contracted.
LITERAL: dict[str, Any] = {name: value for name, value in OPTIONS.items() if name != "fastmath"}


def literal(function: Function) -> Function:
    """A part or an entry whose every operation rounds as it does in Python."""
    return cast(Function, njit(named(function, "literal"), cache=True, **LITERAL))


def named(function: Function, label: str) -> Function:
    """The function under a name of its own.

    Loops that are read from disk bring their parts along as symbols, made of a function's name and
    a number that counts up in each process. If two kernels' parts had one name, a process that
    compiles one kernel and reads the other could link the wrong one. It did.
    """
    function.__qualname__ = f"{function.__name__}_{label}_{_digest()}"
    return function


def rebound(function: Function, **parts: Any) -> Function:
    """The same code, in which the global names in `parts` mean what is given here."""
    plain = getattr(function, "py_func", function)
    scope = {**plain.__globals__, **parts}
    return cast(Function, FunctionType(plain.__code__, scope, plain.__name__))


def entry(
    function: Function, label: str = "", on_disk: bool = True, brief: bool = False, **parts: Any
) -> Function:
    """A loop that Python calls, compiled around `parts`; a `brief` one keeps Python's lock.

    The code stays ordinary Python that reads well on its own; `entry(replay, "cauchy_2", row=...)`
    is `replay` with another kernel. Numba names a file of its cache after the function and dates
    it by the function's own file alone, so the name carries the label and a digest of the engine.
    """
    code = named(rebound(function, **parts), label)
    options = {**OPTIONS, "nogil": not brief}  # to let go of the lock takes a while, too
    return cast(Function, njit(code, cache=on_disk, **options))


# One input as a user has it: of any stride, perhaps read-only, perhaps in the middle of a record.
POINT = types.Array(types.float64, 1, "A", readonly=True, aligned=False)
NUMBER, WHOLE = types.float64, types.int64


def bound(function: Any, state: tuple[Any, ...], *given: Any) -> Callable[..., Any]:
    """The compiled code with its first arguments fixed, called past numba's dispatcher.

    The dispatcher looks at the type of every argument of every call, which takes as long as a step
    on a lattice. So whoever calls the result must pass values of exactly the types `given`.
    """
    signature = (*map(cast(Any, typeof), state), *given)
    if signature not in function.overloads:
        function.compile(signature)
    return partial(function.overloads[signature].entry_point, *state)


@cache
def _digest() -> str:
    sources = sorted(Path(__file__).parent.rglob("*.py"))
    return hashlib.sha256(b"".join(source.read_bytes() for source in sources)).hexdigest()[:12]
