"""The arrays by address: one small array of integers stands for all nine.

Each array passed from Python costs a tenth of a round, and each one that compiled functions pass to
each other an atomic instruction for counting references. Arrays made from addresses have no owner
and cost neither. The object in Python keeps the nine arrays alive for as long as it uses the table.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numba import types
from numba.extending import intrinsic

from localarc.validation import IntArray


def table_of(arrays: Sequence[Any]) -> IntArray:
    """A row for each contiguous array: its address, and three lengths, 1 where it has fewer."""
    rows = [[a.ctypes.data, *a.shape, *[1] * (3 - a.ndim)] for a in arrays]
    return np.array(rows, np.int64)


def _pointer(kind: Any) -> Any:
    pointer: Any = types.CPointer(kind)  # type: ignore[no-untyped-call]

    def to_pointer(typing: Any, address: Any) -> Any:
        def code(context: Any, builder: Any, signature: Any, values: Any) -> Any:
            return builder.inttoptr(values[0], context.get_value_type(pointer))

        return pointer(types.int64), code

    return intrinsic(to_pointer)


float_pointer: Any = _pointer(types.float64)
"""float_pointer(address): for `numba.carray`."""

integer_pointer: Any = _pointer(types.int64)
"""integer_pointer(address): for `numba.carray`."""
