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
    typing: Any, lanes: Any, at: Any, weights: Any, start: Any, tiles: Any, tile: Any
) -> Any:
    def code(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        kinds = signature.args
        target = _pointer(context, builder, kinds[0], values[0], values[1])
        weight = _pointer(context, builder, kinds[2], values[2], values[3])
        nodes = _pointer(context, builder, kinds[4], values[4], values[5])
        sums = [_load(builder, target), ir.Constant(_ROW, [0.0] * SIDE)]  # two chains run abreast
        for q in range(SIDE):
            each = _all(builder, builder.load(_later(builder, weight, q)))
            row = _load(builder, _later(builder, nodes, SIDE * q))
            sums[q % 2] = _multiply_add(builder, each, row, sums[q % 2])
        _store(builder, builder.fadd(sums[0], sums[1]), target)
        return context.get_dummy_value()

    return types.void(lanes, types.int64, weights, types.int64, tiles, types.int64), code


def _add_product(
    typing: Any, tiles: Any, tile: Any, weights: Any, start: Any, row: Any, at: Any, factor: Any
) -> Any:
    def code(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        kinds = signature.args
        nodes = _pointer(context, builder, kinds[0], values[0], values[1])
        weight = _pointer(context, builder, kinds[2], values[2], values[3])
        own = _load(builder, _pointer(context, builder, kinds[4], values[4], values[5]))
        each = [builder.load(_later(builder, weight, q)) for q in range(SIDE)]
        rise = builder.fmul(own, _all(builder, values[6]))
        for q in range(SIDE):
            place = _later(builder, nodes, SIDE * q)
            onto = _load(builder, place)
            _store(builder, _multiply_add(builder, _all(builder, each[q]), rise, onto), place)
        return context.get_dummy_value()

    integer, number = types.int64, types.float64
    return types.void(tiles, integer, weights, integer, row, integer, number), code


add_rows: Any = intrinsic(_add_rows)
"""add_rows(lanes, at, weights, start, tiles, tile): eight lanes += eight weights @ tile.

All arrays are flat; `tile` is where the tile's 64 numbers begin in `tiles`.
"""

add_product: Any = intrinsic(_add_product)
"""add_product(tiles, tile, weights, start, row, at, factor): tile += factor * outer(weights, row).

The tile begins at `tile`, the eight weights at `start`, the eight numbers of the row at `at`.
"""
