"""Arrays and functions by address."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numba import carray, njit  # type: ignore[attr-defined]

from localarc.engine.addresses import (
    address_of,
    caller_of,
    float_pointer,
    integer_pointer,
    table_of,
)
from localarc.engine.numba_tools import FLOAT, INTEGER, compile_entry

call: Any = caller_of(INTEGER, FLOAT)


def fill(address: int, value: float) -> int:
    """Write the value everywhere in the first array of a table; how many entries it has."""
    table = carray(integer_pointer(address), (1, 4))
    array = carray(float_pointer(table[0, 0]), (table[0, 1], table[0, 2]))
    if value < 0.0:
        raise MemoryError
    array[:, :] = value
    return int(array.size)


@njit
def call_it(function: int, address: int, value: float) -> Any:
    return call(function, (address, value))


def test_a_function_called_by_its_address_reads_arrays_by_theirs() -> None:
    array = np.zeros((2, 3))
    compiled = compile_entry(fill, on_disk=False)
    table = table_of((array,))
    assert call_it(address_of(compiled, INTEGER, FLOAT), table.ctypes.data, 2.5) == 6
    assert (array == 2.5).all()


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_function_that_fails_returns_zero() -> None:
    array = np.zeros((2, 3))
    compiled = compile_entry(fill, on_disk=False)
    table = table_of((array,))
    assert call_it(address_of(compiled, INTEGER, FLOAT), table.ctypes.data, -1.0) == 0
    assert (array == 0.0).all()


def test_with_bounds_checks_no_read_outside_an_array_by_its_address_is_missed() -> None:
    """`make slow` runs the loops' tests with NUMBA_BOUNDSCHECK=1, which does the same."""

    @njit(boundscheck=True)
    def entry(address: int, i: int, j: int) -> Any:
        return carray(float_pointer(address), (2, 3))[i, j]

    array = np.arange(6.0).reshape(2, 3)
    assert entry(array.ctypes.data, 1, 2) == 5.0
    for outside in [(2, 0), (0, 3), (-3, 0)]:
        with pytest.raises(IndexError):
            entry(array.ctypes.data, *outside)


def test_a_table_has_a_row_for_each_array_and_each_function() -> None:
    arrays = np.zeros(4), np.zeros((2, 3)), np.zeros((5, 6, 7))
    table = table_of(arrays, 11, 12)
    assert table[:3, 0].tolist() == [array.ctypes.data for array in arrays]
    assert table[:3, 1:].tolist() == [[4, 1, 1], [2, 3, 1], [5, 6, 7]]
    assert table[3:, 0].tolist() == [11, 12]
