"""Names of series and their numbers, 0, 1, 2, ... in order of appearance."""

from __future__ import annotations

from collections.abc import Hashable, Iterable

import numpy as np

from localarc.validation import IntArray

UNKNOWN = -1


class SeriesNames:
    """Which number each series has."""

    def __init__(self, names: Iterable[Hashable] = ()) -> None:
        self._numbers = {name: number for number, name in enumerate(names)}

    def __len__(self) -> int:
        return len(self._numbers)

    @property
    def names(self) -> list[Hashable]:
        """All names, in the order of their numbers."""
        return list(self._numbers)

    def find(self, names: list[Hashable]) -> IntArray:
        """The number of each name, or UNKNOWN."""
        get = self._numbers.get
        return np.array([get(name, UNKNOWN) for name in names], np.int64)

    def with_new(self, names: list[Hashable]) -> SeriesNames:
        """These and the new ones among `names`."""
        added = SeriesNames()
        added._numbers = self._numbers
        new = [name for name in dict.fromkeys(names) if name not in self._numbers]
        if new:
            added._numbers = dict(self._numbers)
            added._numbers.update((name, len(self) + i) for i, name in enumerate(new))
        return added
