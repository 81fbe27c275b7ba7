"""Eight numbers at a time: a lattice tile read or written as vectors, spelled out for the compiler.

Loops of eight are too short for the compiler's own vectoriser, so these say it in its language.
The order of every sum is written down here; no processor's vector width changes it.
"""

from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

SIDE = 8  # numbers to a row, rows to a tile
TILE_SIZE = SIDE * SIDE

_ROW = ir.VectorType(ir.DoubleType(), SIDE)
_INT32 = ir.IntType(32)
_INT64 = ir.IntType(64)
_FIRST = ir.Constant(_INT64, 0)


def _pointer(context: Any, builder: Any, kind: Any, array: Any, index: Any) -> Any:
    return builder.gep(context.make_array(kind)(context, builder, array).data, [index])


def _later(builder: Any, pointer: Any, places: int) -> Any:
    return builder.gep(pointer, [ir.Constant(_INT64, places)])


def _load(builder: Any, pointer: Any) -> Any:
    return builder.load(builder.bitcast(pointer, _ROW.as_pointer()), align=8)


def _store(builder: Any, row: Any, pointer: Any) -> None:
    builder.store(row, builder.bitcast(pointer, _ROW.as_pointer()), align=8)


def _all(builder: Any, number: Any) -> Any:
    """The number, eight times."""
    empty = ir.Constant(_ROW, ir.Undefined)
    first = builder.insert_element(empty, number, ir.Constant(_INT32, 0))
    lanes = ir.Constant(ir.VectorType(_INT32, SIDE), [0] * SIDE)
    return builder.shuffle_vector(first, empty, lanes)


def _multiply_add(builder: Any, left: Any, right: Any, onto: Any) -> Any:
    product = builder.fmul(left, right, flags=["contract"])
    return builder.fadd(product, onto, flags=["contract"])


def _add_rows(
    typing: Any, lanes: Any, share: Any, weights: Any, start: Any, tiles: Any, tile: Any
) -> Any:
    def code(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        kinds = signature.args
        target = _pointer(context, builder, kinds[0], values[0], _FIRST)
        weight = _pointer(context, builder, kinds[2], values[2], values[3])
        nodes = _pointer(context, builder, kinds[4], values[4], values[5])
        zero = ir.Constant(_ROW, [0.0] * SIDE)
        sums = [zero, zero]  # two chains run abreast
        for q in range(SIDE):
            each = _all(builder, builder.load(_later(builder, weight, q)))
            row = _load(builder, _later(builder, nodes, SIDE * q))
            sums[q % 2] = _multiply_add(builder, each, row, sums[q % 2])
        both = builder.fadd(sums[0], sums[1])
        shared = _multiply_add(builder, _all(builder, values[1]), both, _load(builder, target))
        _store(builder, shared, target)
        return context.get_dummy_value()

    integer, number = types.int64, types.float64
    return types.void(lanes, number, weights, integer, tiles, integer), code


def _add_terms(typing: Any, sums: Any, lanes: Any, row: Any, at: Any) -> Any:
    def code(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        kinds = signature.args
        target = _pointer(context, builder, kinds[0], values[0], _FIRST)
        lanes = _load(builder, _pointer(context, builder, kinds[1], values[1], _FIRST))
        row = _load(builder, _pointer(context, builder, kinds[2], values[2], values[3]))
        _store(builder, _multiply_add(builder, lanes, row, _load(builder, target)), target)
        return context.get_dummy_value()

    return types.void(sums, lanes, row, types.int64), code


def _add_products(
    typing: Any, tiles: Any, one: Any, other: Any, weights: Any, start: Any, row: Any, at: Any,
    factor: Any, another: Any,
) -> Any:  # fmt: skip
    def code(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        kinds = signature.args
        nodes = [_pointer(context, builder, kinds[0], values[0], values[n]) for n in (1, 2)]
        weight = _pointer(context, builder, kinds[3], values[3], values[4])
        own = _load(builder, _pointer(context, builder, kinds[5], values[5], values[6]))
        each = [builder.load(_later(builder, weight, q)) for q in range(SIDE)]
        rises = [builder.fmul(own, _all(builder, values[n])) for n in (7, 8)]
        for q in range(SIDE):
            here = _all(builder, each[q])
            for tile, rise in zip(nodes, rises, strict=True):
                place = _later(builder, tile, SIDE * q)
                onto = _load(builder, place)
                _store(builder, _multiply_add(builder, here, rise, onto), place)
        return context.get_dummy_value()

    integer, number = types.int64, types.float64
    signature = types.void(
        tiles, integer, integer, weights, integer, row, integer, number, number
    )  # fmt: skip
    return signature, code


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

add_rows: Any = intrinsic(_add_rows)
"""add_rows(lanes, share, weights, start, tiles, tile): lanes += share * (weights @ tile).

Eight lanes, eight weights from `start`, and a tile of 64 numbers that begins at `tile`; all arrays
are flat.
"""

add_terms: Any = intrinsic(_add_terms)
"""add_terms(sums, lanes, row, at): eight sums += eight lanes * eight numbers of row from `at`."""

add_products: Any = intrinsic(_add_products)
"""add_products(tiles, one, other, weights, start, row, at, factor, another):

the tile that begins at `one` += factor * outer(weights, row), and the one at `other` += another *
outer(weights, row), with eight weights from `start` and eight numbers of the row from `at`.
"""
