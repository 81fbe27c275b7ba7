"""Arrays of different sizes, concatenated: the local parts of many streams in few arrays."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from localarc.memory.base import Arrays

SHAPE = " shape"
"""Suffix of the name under which the shapes of an array are stored."""


def pack(parts: Sequence[Arrays]) -> dict[str, Any]:
    """For each name, all arrays of that name concatenated, and their shapes."""
    packed: dict[str, Any] = {}
    for name in parts[0] if parts else ():
        arrays = [np.asarray(part[name]) for part in parts]
        packed[name] = np.concatenate([array.ravel() for array in arrays])
        shapes = [array.shape for array in arrays]
        packed[name + SHAPE] = np.array(shapes, np.int64).reshape(len(parts), arrays[0].ndim)
    return packed


class Packed:
    """The result of `pack`, part by part."""

    def __init__(self, packed: Arrays) -> None:
        names = [name for name in packed if not name.endswith(SHAPE)]
        self._values = {name: packed[name] for name in names}
        self._shapes = {name: packed[name + SHAPE] for name in names}
        self._starts = {
            name: np.concatenate(([0], np.cumsum(shapes.prod(axis=1)))).astype(np.int64)
            for name, shapes in self._shapes.items()
        }

    def __getitem__(self, part: int) -> Arrays:
        found = {}
        for name, values in self._values.items():
            start, stop = self._starts[name][part : part + 2]
            found[name] = values[start:stop].reshape(self._shapes[name][part])
        return found
