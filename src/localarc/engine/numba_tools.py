"""Compile a loop once for each kernel it runs with, and cache it on disk.

The README of this folder describes the pipeline, and how to read code that goes through it.
"""

import hashlib
from collections.abc import Callable
from functools import cache, partial, wraps
from pathlib import Path
from types import FunctionType
from typing import Any, TypeVar, cast

import numpy as np
from numba import config, njit, typeof, types
from numba.extending import intrinsic

from localarc import constants, validation
from localarc.engine.disk_cache import DiskCache

Function = TypeVar("Function", bound=Callable[..., Any])

INTERPRETED = bool(config.DISABLE_JIT)  # type: ignore[attr-defined]
"""Whether `NUMBA_DISABLE_JIT=1` makes the loops plain Python, to debug them or measure coverage."""

# Reassociation stays off: it would cancel the rounding trick of exponential.py, and it would make
# sums depend on the width of the processor's vectors.
OPTIONS: dict[str, Any] = {
    "error_model": "numpy",
    "fastmath": {"contract"},
    "nogil": True,
}


def jit(function: Function) -> Function:
    """Compile a function that other loops call; it is compiled into them."""
    return cast(Function, njit(function, **OPTIONS))


# Where a compiled loop must give the bits of the same lines in Python: nothing is contracted. It
# must be said: a function that says nothing is compiled as its first caller is.
STRICT_OPTIONS = OPTIONS | {"fastmath": False}


def strict_jit(function: Function) -> Function:
    """Compile a function so that every operation rounds as it does in Python."""
    code = with_unique_name(function, "strict")
    return cast(Function, _on_disk(njit(code, **STRICT_OPTIONS)))


def with_unique_name(function: Function, label: str) -> Function:
    """Give the function a name that no other kernel and no other source version uses.

    Loops that are read from disk bring their parts along as symbols, made of a function's name and
    a number that counts up in each process. If the parts of two kernels shared a name, a process
    that compiles one kernel and reads the other from disk could link the wrong one. It did.
    """
    function.__qualname__ = f"{function.__name__}_{label}_{_digest()}"
    return function


def with_globals(function: Function, **parts: Any) -> Function:
    """Copy the function, with the global names in `parts` replaced by the given values."""
    python_function = getattr(function, "py_func", function)
    scope = {**python_function.__globals__, **parts}
    code, name = python_function.__code__, python_function.__name__
    return cast(Function, FunctionType(code, scope, name))


def compile_entry(
    function: Function, label: str = "", on_disk: bool = True, keep_gil: bool = False, **parts: Any
) -> Function:
    """Compile a loop that Python calls, with `parts` in place of the globals of those names.

    The source stays ordinary Python: `compile_entry(replay, "cauchy_2", kernel_row=...)` is
    `replay` with another kernel. Numba names a cache file after the function and checks the
    timestamp of that function's own file alone, so the name carries the label and a digest of the
    engine's sources. `keep_gil` is for calls so short that releasing the lock would cost more.
    """
    code = with_unique_name(with_globals(function, **parts), label)
    compiled = njit(code, **{**OPTIONS, "nogil": not keep_gil})
    return cast(Function, _on_disk(compiled) if on_disk else compiled)


def _on_disk(compiled: Any) -> Any:
    """Cache a compiled function on disk, where that is possible."""
    if INTERPRETED:
        return _as_compiled(compiled)
    compiled._cache = DiskCache(compiled.py_func)  # as numba's cache=True, which may raise
    return compiled


def _as_compiled(function: Callable[..., Any]) -> Callable[..., Any]:
    """A loop in plain Python: dividing by zero and integers that overflow are no news there."""

    @wraps(function)
    def call(*arguments: Any) -> Any:
        with np.errstate(all="ignore"):
            return function(*arguments)

    return call


def operation(build: Callable[..., Any], plain: Callable[..., Any]) -> Any:
    """An operation that `build` emits for compiled loops; `plain` is the same one in Python."""
    return plain if INTERPRETED else intrinsic(build)


# One input as a user has it: any stride, perhaps read-only, perhaps inside a packed record.
POINT = types.Array(types.float64, 1, "A", readonly=True, aligned=False)
FLOAT, INTEGER = types.float64, types.int64


def bind_state(function: Any, state: tuple[Any, ...], *argument_types: Any) -> partial[Any]:
    """Fix the first arguments of a compiled function, and call it without numba's dispatcher.

    The dispatcher inspects the type of every argument of every call, which takes as long as a step
    on a lattice. Without it nothing is checked: callers must pass exactly the `argument_types`.
    """
    if INTERPRETED:
        return partial(function, *state)
    signature = (*map(cast(Any, typeof), state), *argument_types)
    if signature not in function.overloads:
        function.compile(signature)
    return partial(function.overloads[signature].entry_point, *state)


@cache
def _digest() -> str:
    """A digest of every source that compiled code is made of."""
    content = b"".join(source.read_bytes() for source in _sources())
    return hashlib.sha256(content).hexdigest()[:12]


def _sources() -> list[Path]:
    """The files of `engine` and `betting.compiled`, and those whose constants are compiled in."""
    package = Path(constants.__file__).parent
    folders = package / "engine", package / "betting" / "compiled"
    compiled = [source for folder in folders for source in sorted(folder.rglob("*.py"))]
    return [*compiled, Path(constants.__file__), Path(validation.__file__)]
