"""Where nodes lie: the hats around an input, with their centres in the units of the features."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from localarc.constants import GRID_SHIFT, LEVELS
from localarc.engine.auto import layout
from localarc.engine.auto.engine import AutoEngine
from localarc.engine.auto.loops import PEEK
from localarc.validation import FloatArray

_NONE = np.empty(0, np.int64), np.empty(0)


@dataclass(frozen=True)
class Hat:
    """A hat: where it is largest, how far it reaches, and its node."""

    slot: int
    level: int
    weight: float  # at the input
    centre: tuple[float | None, ...]  # None in features that it ignores
    width: tuple[float | None, ...]
    node: FloatArray


def hats_at(engine: AutoEngine, x: FloatArray) -> Iterator[Hat]:
    """The hats around an input that exist, from coarse to fine; joint ones first on each level."""
    d = engine.dimensions
    if d == 0 or engine.numbers[layout.MEASURED] == 0.0:
        return
    engine.serve(PEEK, x, *_NONE, 0.0, 1.0, 0.0, 0.0)
    slots, weights = engine.located()
    for level in range(LEVELS):
        start = 1 + level * layout.hat_columns(d)
        for column, corner in _corners(engine, x, level):
            slot = int(slots[start + column])
            if slot >= 0:
                centre, width = _place(engine, level, corner)
                node, weight = engine.nodes[slot].copy(), float(weights[start + column])
                yield Hat(slot, level, weight, centre, width, node)


def _corners(engine: AutoEngine, x: FloatArray, level: int) -> Iterator[tuple[int, Any]]:
    """By column, the corner of the grid at which a hat is centred: {feature: position}."""
    d = engine.dimensions
    cells, fractions = _cell(engine, x, level)
    order = np.argsort(-fractions, kind="stable")
    corner = {i: float(cells[i]) for i in range(d)}
    yield 0, dict(corner)
    for k, i in enumerate(order.tolist()):
        corner[i] += 1.0
        yield 1 + k, dict(corner)
    if d > 1:
        for i in range(d):
            for side in range(2):
                yield d + 1 + 2 * i + side, {i: float(cells[i]) + side}


def _cell(engine: AutoEngine, x: FloatArray, level: int) -> tuple[FloatArray, FloatArray]:
    """The cell of an input, and its position inside."""
    origin, width, exponent = engine.grid()
    position = (x - origin) / width * 2.0 ** (level - exponent) + _offsets(engine, level)
    cells = np.floor(np.clip(position, -1e15, 1e15))
    return cells, position - cells


def _offsets(engine: AutoEngine, level: int) -> FloatArray:
    features = np.arange(1, engine.dimensions + 1)
    shifts: FloatArray = ((level - engine.grid()[2] + 64) * features * GRID_SHIFT) % 1.0
    return shifts


def _place(engine: AutoEngine, level: int, corner: Any) -> tuple[Any, Any]:
    """Centre and width in the units of the features; None in those that a hat ignores."""
    origin, width, exponent = engine.grid()
    steps = width * 2.0 ** (exponent - level)
    offsets = _offsets(engine, level)
    centre: list[float | None] = [None] * engine.dimensions
    reach: list[float | None] = [None] * engine.dimensions
    for i, position in corner.items():
        if math.isfinite(width[i]):
            centre[i] = float(origin[i] + (position - offsets[i]) * steps[i])
            reach[i] = float(steps[i])
    return tuple(centre), tuple(reach)
