"""Points in tiles of 256, and the kernel between one point and a tile, for all loops.

A tile is a (d, 256) block, so that coordinate k of its points is contiguous. Unused entries hold
the origin; their weights are 0.
"""

import itertools
from typing import Any

import numpy as np
from numpy.typing import NDArray

from localarc.engine.kernels import Profile
from localarc.engine.numba_tools import compile_entry, jit, with_globals, with_unique_name

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

TILE = 256
MAX_UNROLLED = 8  # up to this many coordinates, the distance is one expression in the loop


def as_contiguous(array: FloatArray) -> FloatArray:
    """The array as the compiled loops require it: float64, contiguous, writable."""
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

    It, and the `parts` of its module that it calls, may call `kernel_row`, `add_kernel_row`,
    `squared_distances` and `kernel_at`; a part may call the parts before it.
    """
    width = min(dimensions, MAX_UNROLLED + 1)
    compiled = _compiled if profile.name else profile.loops
    key = function, profile.formula, width
    if key not in compiled:
        label, kernel = _kernel_parts(compiled, profile, dimensions, width)
        place = function.__module__, profile.formula, width  # loops of a module share its parts
        shared = compiled.setdefault(place, dict(kernel))
        for part in parts:
            if part.__name__ not in shared:
                shared[part.__name__] = jit(with_unique_name(with_globals(part, **shared), label))
        compiled[key] = compile_entry(function, label, bool(profile.name), **shared)
    return compiled[key]


def _kernel_parts(
    compiled: dict[Any, Any], profile: Profile, dimensions: int, width: int
) -> tuple[str, dict[str, Any]]:
    """A label for a kernel and number of features, and the four functions that depend on them."""
    key = profile.formula, width
    if key not in compiled:
        label = f"{profile.name or f'custom{next(_custom)}'}_{width}"
        few = dimensions <= MAX_UNROLLED
        compiled[key] = (
            label,
            (
                _few_dimensions(profile, dimensions, label)
                if few
                else _many_dimensions(profile, label)
            ),
        )
    return compiled[key]  # type: ignore[no-any-return]


_custom = itertools.count()
_compiled: dict[Any, Any] = {}  # of profiles with a name; several share a formula


def kernel_row(tile: Any, points: Any, i: int, parameter: float, values: Any) -> None:
    """values[j] = k(tile's point j, point i of `points`), for j below len(values).

    A placeholder: `specialise` replaces it.
    """
    raise NotImplementedError


def add_kernel_row(
    tile: Any, weights: Any, points: Any, i: int, parameter: float, lanes: Any
) -> None:
    """lanes[j] += weights[j] * kernel_row's values[j]. A placeholder: `specialise` replaces it."""
    raise NotImplementedError


def squared_distances(tile: Any, points: Any, i: int, distances: Any) -> None:
    """distances[j] = |tile's point j - point i|^2. A placeholder: `specialise` replaces it."""
    raise NotImplementedError


def kernel_at(distances: Any, ratio: float, parameter: float, values: Any) -> None:
    """values[j] = k at ratio * distances[j]. A placeholder: `specialise` replaces it."""
    raise NotImplementedError


def _few_dimensions(profile: Profile, dimensions: int, label: str) -> dict[str, Any]:
    """Unroll the coordinates into local variables: only then are the loops vectorised."""
    formula = profile.formula
    squared, point = _unrolled(dimensions)

    def kernel_row(tile: Any, points: Any, i: int, parameter: float, values: Any) -> None:
        x = point(points, i)
        for j in range(len(values)):
            values[j] = formula(squared(tile, j, x), parameter)

    def add_kernel_row(
        tile: Any, weights: Any, points: Any, i: int, parameter: float, lanes: Any
    ) -> None:
        x = point(points, i)
        for j in range(TILE):
            lanes[j] += weights[j] * formula(squared(tile, j, x), parameter)

    def squared_distances(tile: Any, points: Any, i: int, distances: Any) -> None:
        x = point(points, i)
        for j in range(len(distances)):
            distances[j] = squared(tile, j, x)

    parts = {
        "kernel_row": kernel_row,
        "add_kernel_row": add_kernel_row,
        "squared_distances": squared_distances,
        "kernel_at": _kernel_at(formula),
    }
    return {name: jit(with_unique_name(part, label)) for name, part in parts.items()}


def _kernel_at(formula: Any) -> Any:
    def kernel_at(distances: Any, ratio: float, parameter: float, values: Any) -> None:
        for j in range(len(values)):
            values[j] = formula(ratio * distances[j], parameter)

    return kernel_at


def _unrolled(dimensions: int) -> tuple[Any, Any]:
    ks = range(dimensions)
    squared = " + ".join(f"(tile[{k}, j] - x[{k}]) ** 2" for k in ks)
    point = "".join(f"points[{k}, i], " for k in ks)
    scope: dict[str, Any] = {}
    exec(f"def squared(tile, j, x): return {squared}", scope)
    exec(f"def point(points, i): return ({point})", scope)
    label = str(dimensions)
    return jit(with_unique_name(scope["squared"], label)), jit(
        with_unique_name(scope["point"], label)
    )


def _many_dimensions(profile: Profile, label: str) -> dict[str, Any]:
    """Accumulate the distance in its array, four coordinates at a time."""
    kernel_at = jit(with_unique_name(_kernel_at(profile.formula), label))

    def squared_distances(tile: Any, points: Any, i: int, distances: Any) -> None:
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

    squared_distances = jit(with_unique_name(squared_distances, label))

    def kernel_row(tile: Any, points: Any, i: int, parameter: float, values: Any) -> None:
        squared_distances(tile, points, i, values)
        kernel_at(values, 1.0, parameter, values)

    kernel_row = jit(with_unique_name(kernel_row, label))

    def add_kernel_row(
        tile: Any, weights: Any, points: Any, i: int, parameter: float, lanes: Any
    ) -> None:
        values = np.empty(TILE)
        kernel_row(tile, points, i, parameter, values)
        for j in range(TILE):
            lanes[j] += weights[j] * values[j]

    add_kernel_row = jit(with_unique_name(add_kernel_row, label))
    return {
        "kernel_row": kernel_row,
        "add_kernel_row": add_kernel_row,
        "squared_distances": squared_distances,
        "kernel_at": kernel_at,
    }
