"""Vectors of eight numbers as one value, for the loops of the lattice.

Loops of eight are too short for the compiler's own vectoriser, so these operations emit LLVM vector
instructions. The caller fixes the order of every sum; no processor's vector width changes it.
"""

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import models, register_model

from localarc.engine.numba_tools import operation

SIDE = 8  # numbers in a row

_VECTOR = ir.VectorType(ir.DoubleType(), SIDE)
_INT32 = ir.IntType(32)


class _Row(types.Type):
    """The numba type of such a value."""

    def __init__(self) -> None:
        super().__init__(name=f"row_of_{SIDE}")


class _RowModel(models.PrimitiveModel):
    def __init__(self, manager: Any, kind: Any) -> None:
        super().__init__(manager, kind, _VECTOR)  # type: ignore[no-untyped-call]


register_model(_Row)(_RowModel)
_ROW = _Row()


def _pointer(context: Any, builder: Any, kind: Any, array: Any, index: Any) -> Any:
    return builder.gep(context.make_array(kind)(context, builder, array).data, [index])


def _vector_pointer(context: Any, builder: Any, kind: Any, array: Any, index: Any) -> Any:
    pointer = _pointer(context, builder, kind, array, index)
    return builder.bitcast(pointer, _VECTOR.as_pointer())


def _splat(builder: Any, number: Any) -> Any:
    empty = ir.Constant(_VECTOR, ir.Undefined)
    first = builder.insert_element(empty, number, ir.Constant(_INT32, 0))
    lanes = ir.Constant(ir.VectorType(_INT32, SIDE), [0] * SIDE)
    return builder.shuffle_vector(first, empty, lanes)


def _load(typing: Any, array: Any, at: Any) -> Any:
    def code(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        return builder.load(_vector_pointer(context, builder, array, *values), align=8)

    return _ROW(array, types.int64), code


def _store(typing: Any, array: Any, at: Any, row: Any) -> Any:
    def code(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        builder.store(values[2], _vector_pointer(context, builder, array, *values[:2]), align=8)
        return context.get_dummy_value()

    return types.void(array, types.int64, _ROW), code


def _broadcast_at(typing: Any, array: Any, at: Any) -> Any:
    def code(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        return _splat(builder, builder.load(_pointer(context, builder, array, *values)))

    return _ROW(array, types.int64), code


def _broadcast(typing: Any, number: Any) -> Any:
    def code(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        return _splat(builder, values[0])

    return _ROW(types.float64), code


def _multiply(typing: Any, left: Any, right: Any) -> Any:
    def code(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        return builder.fmul(*values)

    return _ROW(_ROW, _ROW), code


def _add(typing: Any, left: Any, right: Any) -> Any:
    def code(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        return builder.fadd(*values)

    return _ROW(_ROW, _ROW), code


def _multiply_add(typing: Any, left: Any, right: Any, onto: Any) -> Any:
    def code(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        product = builder.fmul(values[0], values[1], flags=["contract"])
        return builder.fadd(product, values[2], flags=["contract"])

    return _ROW(_ROW, _ROW, _ROW), code


def _sum_lanes(typing: Any, row: Any) -> Any:
    def code(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        lanes = [builder.extract_element(values[0], ir.Constant(_INT32, n)) for n in range(SIDE)]
        while len(lanes) > 1:
            half = len(lanes) // 2
            lanes = [builder.fadd(lanes[n], lanes[n + half]) for n in range(half)]
        return lanes[0]

    return types.float64(_ROW), code


def _view(typing: Any, array: Any, start: Any, stop: Any) -> Any:
    def code(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        whole = context.make_array(array)(context, builder, values[0])
        made = context.make_array(array)(context, builder)
        count = builder.sub(values[2], values[1])
        context.populate_array(
            made,
            data=builder.gep(whole.data, [values[1]]),
            shape=[count],
            strides=[whole.itemsize],
            itemsize=whole.itemsize,
            meminfo=None,  # the owner of the array keeps it alive
            parent=None,
        )
        return made._getvalue()

    return array(array, types.int64, types.int64), code


view: Any = operation(_view, lambda array, start, stop: array[start:stop])
"""view(array, start, stop): array[start:stop] of a flat array, unchecked and unreferenced."""

load: Any = operation(_load, lambda array, at: array[at : at + SIDE].copy())
"""load(array, at): eight numbers of a flat array from `at`."""

store: Any = operation(_store, lambda array, at, row: np.copyto(array[at : at + SIDE], row))
"""store(array, at, row): write eight numbers there."""

broadcast_at: Any = operation(_broadcast_at, lambda array, at: np.full(SIDE, array[at]))
"""broadcast_at(array, at): the number at `at`, in all eight lanes."""

broadcast: Any = operation(_broadcast, lambda number: np.full(SIDE, number))
"""broadcast(number): the number, in all eight lanes."""

multiply: Any = operation(_multiply, np.multiply)
"""multiply(left, right), lane by lane."""

add: Any = operation(_add, np.add)
"""add(left, right), lane by lane."""

multiply_add: Any = operation(_multiply_add, lambda left, right, onto: left * right + onto)
"""multiply_add(left, right, onto): left * right + onto, lane by lane."""

sum_lanes: Any = operation(_sum_lanes, lambda row: row.reshape(2, 2, 2).sum(0).sum(0).sum())
"""sum_lanes(row): the sum of the eight lanes, by halves."""
