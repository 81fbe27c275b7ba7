"""Arrays and functions by address: what compiled code can hand on without an owner.

Each array passed from Python costs a tenth of a round, and each one that compiled functions pass to
each other an atomic instruction for counting references. Arrays made from addresses have no owner
and cost neither. The object in Python keeps the arrays alive for as long as it uses the table.

A function that is called is compiled into its caller, again for every caller. One that is called by
its address is compiled once. The address is an argument: it differs between processes, and the
caller can be cached on disk.
"""

import ctypes
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils

from localarc.engine.numba_tools import INTERPRETED, operation
from localarc.validation import IntArray

_interpreted: dict[int, Callable[..., int]] = {}  # functions that have no address


def table_of(arrays: Sequence[Any], *addresses: int) -> IntArray:
    """A row for each contiguous array: its address, and three lengths, 1 where it has fewer.

    The addresses of functions follow, one in each row.
    """
    rows = [[a.ctypes.data, *a.shape, *[1] * (3 - a.ndim)] for a in arrays]
    return np.array([*rows, *([address, 1, 1, 1] for address in addresses)], np.int64)


def _pointer(kind: Any, in_c: Any) -> Any:
    pointer: Any = types.CPointer(kind)  # type: ignore[no-untyped-call]

    def to_pointer(typing: Any, address: Any) -> Any:
        def code(context: Any, builder: Any, signature: Any, values: Any) -> Any:
            return builder.inttoptr(values[0], context.get_value_type(pointer))

        return pointer(types.int64), code

    return operation(to_pointer, lambda at: ctypes.cast(int(at), ctypes.POINTER(in_c)))


float_pointer: Any = _pointer(types.float64, ctypes.c_double)
"""float_pointer(address): for `numba.carray`."""

integer_pointer: Any = _pointer(types.int64, ctypes.c_int64)
"""integer_pointer(address): for `numba.carray`."""

short_pointer: Any = _pointer(types.int32, ctypes.c_int32)
"""short_pointer(address): for `numba.carray`, of integers of four bytes."""


def address_of(function: Any, *kinds: Any) -> int:
    """Where a compiled function of arguments of these kinds begins, for `caller_of`.

    It stays valid for as long as the function exists.
    """
    if INTERPRETED:
        _interpreted[id(function)] = function
        return id(function)
    if kinds not in function.overloads:
        function.compile(kinds)
    compiled = function.overloads[kinds]
    return int(compiled.library.get_pointer_to_function(compiled.fndesc.llvm_cfunc_wrapper_name))


def caller_of(*kinds: Any) -> Any:
    """call(address, arguments): the integer that a function of such arguments returns.

    An exception inside is printed, and the function returns 0.
    """

    def call(typing: Any, address: Any, arguments: Any) -> Any:
        def code(context: Any, builder: Any, signature: Any, values: Any) -> Any:
            plain = [context.get_value_type(kind) for kind in kinds]
            function = ir.FunctionType(context.get_value_type(types.int64), plain)
            at = builder.inttoptr(values[0], function.as_pointer())
            unpacked = cgutils.unpack_tuple(builder, values[1])  # type: ignore[no-untyped-call]
            return builder.call(at, unpacked)

        return types.int64(types.int64, types.Tuple(kinds)), code  # type: ignore[no-untyped-call]

    return operation(call, lambda address, arguments: _interpreted[address](*arguments))
