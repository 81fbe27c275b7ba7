"""Keys: who a stream belongs to, text or whole numbers, and the row each one has."""

from __future__ import annotations

from itertools import repeat
from typing import Any, TypeAlias

import numpy as np

from localarc.validation import IntArray

Key: TypeAlias = str | int

_HINT = "Keys are text or whole numbers, one for each event."


def listed(keys: Any) -> list[Key]:
    """The keys of many events as plain Python values, or one sentence on the first that is none."""
    if isinstance(keys, str | bytes | int) or not hasattr(keys, "__iter__"):
        raise TypeError(f"keys must be a sequence, got {keys!r}. {_HINT}")
    found: list[Key] = keys.tolist() if hasattr(keys, "tolist") else list(keys)
    if set(map(type, found)) <= {str, int}:
        return found
    return [key(each, i) for i, each in enumerate(found)]


def key(value: Any, event: int | None = None) -> Key:
    """One key, as a plain Python value."""
    plain = value.item() if isinstance(value, np.generic) else value
    if isinstance(plain, bool) or not isinstance(plain, str | int):
        where = "" if event is None else f" at position {event}"
        raise TypeError(f"a key must be text or a whole number, got {value!r}{where}. {_HINT}")
    return plain


class Rows:
    """The row of each key, in the order in which keys were first seen."""

    def __init__(self, keys: list[Key] | None = None) -> None:
        self.keys: list[Key] = [] if keys is None else keys
        self._rows = {key: row for row, key in enumerate(self.keys)}

    def __len__(self) -> int:
        return len(self.keys)

    def __contains__(self, key: Any) -> bool:
        return key in self._rows

    def of(self, key: Key) -> int:
        """The row of a key that was seen."""
        if key not in self._rows:
            raise KeyError(f"the panel has no key {key!r}: it has {len(self)} others.")
        return self._rows[key]

    def find(self, keys: list[Key]) -> IntArray:
        """The row of each key, -1 for keys that were never seen."""
        return np.fromiter(map(self._rows.get, keys, repeat(-1)), np.int64, len(keys))

    def plan(self, keys: list[Key]) -> tuple[IntArray, list[Key]]:
        """The row of each key, with rows that new keys would get, and the new keys."""
        rows = self.find(keys)
        fresh: dict[Key, int] = {}
        for i in np.flatnonzero(rows < 0).tolist():
            rows[i] = fresh.setdefault(keys[i], len(self.keys) + len(fresh))
        return rows, list(fresh)

    def add(self, fresh: list[Key]) -> None:
        """Give rows to new keys, in order."""
        start = len(self.keys)
        self._rows.update((key, start + i) for i, key in enumerate(fresh))
        self.keys.extend(fresh)
