"""Eight numbers as one value: what a lattice's loops add up, spelled out for the compiler.

Loops of eight are too short for the compiler's own vectoriser, so these say it in its language.
The order of every sum is written down by whoever uses them; no processor's vector width changes it.
"""

from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic, models, register_model

SIDE = 8  # numbers in a row

_VECTOR = ir.VectorType(ir.DoubleType(), SIDE)
_INT32 = ir.IntType(32)


class _Row(types.Type):
    """The type of such a value, where loops are compiled."""

    def __init__(self) -> None:
        super().__init__(name=f"row_of_{SIDE}")


class _RowModel(models.PrimitiveModel):
    def __init__(self, manager: Any, kind: Any) -> None:
        super().__init__(manager, kind, _VECTOR)  # type: ignore[no-untyped-call]


register_model(_Row)(_RowModel)
_ROW = _Row()


def _pointer(context: Any, builder: Any, kind: Any, array: Any, index: Any) -> Any:
    return builder.gep(context.make_array(kind)(context, builder, array).data, [index])


def _place(context: Any, builder: Any, kind: Any, array: Any, index: Any) -> Any:
    pointer = _pointer(context, builder, kind, array, index)
    return builder.bitcast(pointer, _VECTOR.as_pointer())


def _all(builder: Any, number: Any) -> Any:
    empty = ir.Constant(_VECTOR, ir.Undefined)
    first = builder.insert_element(empty, number, ir.Constant(_INT32, 0))
    lanes = ir.Constant(ir.VectorType(_INT32, SIDE), [0] * SIDE)
    return builder.shuffle_vector(first, empty, lanes)


def _load(typing: Any, array: Any, at: Any) -> Any:
    def code(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        return builder.load(_place(context, builder, array, *values), align=8)

    return _ROW(array, types.int64), code


def _store(typing: Any, array: Any, at: Any, row: Any) -> Any:
    def code(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        builder.store(values[2], _place(context, builder, array, *values[:2]), align=8)
        return context.get_dummy_value()

    return types.void(array, types.int64, _ROW), code


def _every(typing: Any, array: Any, at: Any) -> Any:
    def code(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        return _all(builder, builder.load(_pointer(context, builder, array, *values)))

    return _ROW(array, types.int64), code


def _spread(typing: Any, number: Any) -> Any:
    def code(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        return _all(builder, values[0])

    return _ROW(types.float64), code


def _times(typing: Any, left: Any, right: Any) -> Any:
    def code(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        return builder.fmul(*values)

    return _ROW(_ROW, _ROW), code


def _plus(typing: Any, left: Any, right: Any) -> Any:
    def code(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        return builder.fadd(*values)

    return _ROW(_ROW, _ROW), code


def _multiply_add(typing: Any, left: Any, right: Any, onto: Any) -> Any:
    def code(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        product = builder.fmul(values[0], values[1], flags=["contract"])
        return builder.fadd(product, values[2], flags=["contract"])

    return _ROW(_ROW, _ROW, _ROW), code


def _total(typing: Any, row: Any) -> Any:
    def code(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        lanes = [builder.extract_element(values[0], ir.Constant(_INT32, n)) for n in range(SIDE)]
        while len(lanes) > 1:
            half = len(lanes) // 2
            lanes = [builder.fadd(lanes[n], lanes[n + half]) for n in range(half)]
        return lanes[0]

    return types.float64(_ROW), code


def _part(typing: Any, array: Any, start: Any, stop: Any) -> Any:
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
            meminfo=None,  # whoever has the whole keeps it alive
            parent=None,
        )
        return made._getvalue()

    return array(array, types.int64, types.int64), code


part: Any = intrinsic(_part)
"""part(array, start, stop): array[start:stop] of a flat array, without a look at the bounds."""

load: Any = intrinsic(_load)
"""load(array, at): eight numbers of a flat array from `at`."""

store: Any = intrinsic(_store)
"""store(array, at, row): put them there."""

every: Any = intrinsic(_every)
"""every(array, at): the one number at `at`, eight times."""

spread: Any = intrinsic(_spread)
"""spread(number): the number, eight times."""

times: Any = intrinsic(_times)
"""times(left, right), lane by lane."""

plus: Any = intrinsic(_plus)
"""plus(left, right), lane by lane."""

multiply_add: Any = intrinsic(_multiply_add)
"""multiply_add(left, right, onto): left * right + onto, lane by lane."""

total: Any = intrinsic(_total)
"""total(row): the sum of the eight, by halves."""
