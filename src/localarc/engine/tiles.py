"""Points in tiles of 256, and the kernel between one point and a tile: all that the loops share.

A tile is a (d, 256) block, so that coordinate k of its points lies in one piece of memory. Places
that hold no point yet hold the origin; their weights are 0.
"""

import itertools
from typing import Any

import numpy as np
from numpy.typing import NDArray

from localarc.engine.kernels import Profile
from localarc.engine.numba_tools import entry, jit, named, rebound

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

TILE = 256
WRITTEN_OUT = 8  # up to this many coordinates, the distance is one expression in the loop


def plain(array: FloatArray) -> FloatArray:
    """The array as the loops are compiled for it: float64, in one piece, writable."""
    return np.require(array, np.float64, ["C", "W"])


def tiles_for(count: int) -> int:
    """How many tiles hold `count` points."""
    return -(-count // TILE)


def pack(rows: FloatArray) -> FloatArray:
    """(n, ...) values as (tiles, ..., 256), zero beyond n."""
    padded = np.zeros((tiles_for(len(rows)) * TILE, *rows.shape[1:]))
    padded[: len(rows)] = rows
    blocks = padded.reshape(-1, TILE, *rows.shape[1:])
    return np.ascontiguousarray(np.moveaxis(blocks, 1, -1))


def unpack(tiles: FloatArray, count: int) -> FloatArray:
    """The first `count` values of `tiles`, one to a row: the inverse of `pack`."""
    blocks = np.moveaxis(tiles, -1, 1)
    return np.ascontiguousarray(blocks.reshape(-1, *tiles.shape[1:-1])[:count])


def specialise(function: Any, profile: Profile, dimensions: int, *parts: Any) -> Any:
    """`function` compiled for one kernel and number of features.

    It, and the `parts` of its module that it calls, may call `row`, `gather`, `squares` and
    `shaped`; a part may call the parts before it.
    """
    width = min(dimensions, WRITTEN_OUT + 1)
    key = function, profile.formula, width
    if key not in _compiled:
        label = f"{profile.name or f'custom{next(_custom)}'}_{width}"
        few = dimensions <= WRITTEN_OUT
        kernel = (
            _few_features(profile, dimensions, label) if few else _many_features(profile, label)
        )
        for part in parts:
            kernel[part.__name__] = jit(named(rebound(part, **kernel), label))
        _compiled[key] = entry(function, label, bool(profile.name), **kernel)
    return _compiled[key]


_custom = itertools.count()
_compiled: dict[Any, Any] = {}


def row(tile: Any, points: Any, i: int, parameter: float, values: Any) -> None:
    """values[j] = k(tile's point j, point i of `points`), for as many j as there are values.

    Stands for what `specialise` builds.
    """
    raise NotImplementedError


def gather(tile: Any, weights: Any, points: Any, i: int, parameter: float, lanes: Any) -> None:
    """lanes[j] += weights[j] * row's values[j]. Stands for what `specialise` builds."""
    raise NotImplementedError


def squares(tile: Any, points: Any, i: int, distances: Any) -> None:
    """distances[j] = |tile's point j - point i|^2. Stands for what `specialise` builds."""
    raise NotImplementedError


def shaped(distances: Any, ratio: float, parameter: float, values: Any) -> None:
    """values[j] = k at ratio * distances[j]. Stands for what `specialise` builds."""
    raise NotImplementedError


def _few_features(profile: Profile, dimensions: int, label: str) -> dict[str, Any]:
    """The coordinates are written out as locals: only then do the loops become vector code."""
    formula = profile.formula
    squared, point = _written_out(dimensions)

    def row(tile: Any, points: Any, i: int, parameter: float, values: Any) -> None:
        x = point(points, i)
        for j in range(len(values)):
            values[j] = formula(squared(tile, j, x), parameter)

    def gather(tile: Any, weights: Any, points: Any, i: int, parameter: float, lanes: Any) -> None:
        x = point(points, i)
        for j in range(TILE):
            lanes[j] += weights[j] * formula(squared(tile, j, x), parameter)

    def squares(tile: Any, points: Any, i: int, distances: Any) -> None:
        x = point(points, i)
        for j in range(len(distances)):
            distances[j] = squared(tile, j, x)

    parts = {"row": row, "gather": gather, "squares": squares, "shaped": _shaped(formula)}
    return {name: jit(named(part, label)) for name, part in parts.items()}


def _shaped(formula: Any) -> Any:
    def shaped(distances: Any, ratio: float, parameter: float, values: Any) -> None:
        for j in range(len(values)):
            values[j] = formula(ratio * distances[j], parameter)

    return shaped


def _written_out(dimensions: int) -> tuple[Any, Any]:
    ks = range(dimensions)
    squared = " + ".join(f"(tile[{k}, j] - x[{k}]) ** 2" for k in ks)
    point = "".join(f"points[{k}, i], " for k in ks)
    scope: dict[str, Any] = {}
    exec(f"def squared(tile, j, x): return {squared}", scope)
    exec(f"def point(points, i): return ({point})", scope)
    label = str(dimensions)
    return jit(named(scope["squared"], label)), jit(named(scope["point"], label))


def _many_features(profile: Profile, label: str) -> dict[str, Any]:
    """The distance grows four coordinates at a time, in the array that takes it."""
    shaped = jit(named(_shaped(profile.formula), label))

    def squares(tile: Any, points: Any, i: int, distances: Any) -> None:
        for j in range(len(distances)):
            distances[j] = 0.0
        dimensions = tile.shape[0]
        for k in range(0, dimensions - 3, 4):
            t0, t1, t2, t3 = tile[k], tile[k + 1], tile[k + 2], tile[k + 3]
            x0, x1, x2, x3 = points[k, i], points[k + 1, i], points[k + 2, i], points[k + 3, i]
            for j in range(len(distances)):
                near = (t0[j] - x0) ** 2 + (t1[j] - x1) ** 2
                distances[j] += near + (t2[j] - x2) ** 2 + (t3[j] - x3) ** 2
        for k in range(dimensions - dimensions % 4, dimensions):
            line, x = tile[k], points[k, i]
            for j in range(len(distances)):
                distances[j] += (line[j] - x) ** 2

    squares = jit(named(squares, label))

    def row(tile: Any, points: Any, i: int, parameter: float, values: Any) -> None:
        squares(tile, points, i, values)
        shaped(values, 1.0, parameter, values)

    row = jit(named(row, label))

    def gather(tile: Any, weights: Any, points: Any, i: int, parameter: float, lanes: Any) -> None:
        values = np.empty(TILE)
        row(tile, points, i, parameter, values)
        for j in range(TILE):
            lanes[j] += weights[j] * values[j]

    gather = jit(named(gather, label))
    return {"row": row, "gather": gather, "squares": squares, "shaped": shaped}
