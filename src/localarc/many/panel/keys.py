"""Keys: the text or integer that identifies a stream, and the row of each key."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import repeat
from typing import Any, TypeAlias

import numpy as np

from localarc.calibrators.undo import Undo
from localarc.serialization import Rendered
from localarc.validation import IntArray

Key: TypeAlias = str | int
Keys: TypeAlias = Iterable[object]
"""Keys of events: a list, an array or a column; every value is checked."""

_HINT = "Keys are text or integers, one per event."


def as_keys(keys: Keys) -> list[Key]:
    """The keys of many events as Python values; raises TypeError if one is not a key."""
    if isinstance(keys, str | bytes | int) or not hasattr(keys, "__iter__"):
        raise TypeError(f"keys must be a sequence, got {keys!r}. {_HINT}")
    found: list[Any] = keys.tolist() if hasattr(keys, "tolist") else list(keys)
    if set(map(type, found)) <= {str, int}:
        return found
    return [as_key(value, position) for position, value in enumerate(found)]


def as_key(value: Any, position: int | None = None) -> Key:
    """One key as a Python value."""
    key = value.item() if isinstance(value, np.generic) else value
    if isinstance(key, bool) or not isinstance(key, str | int):
        where = "" if position is None else f" at position {position}"
        raise TypeError(f"a key must be text or an integer, got {value!r}{where}. {_HINT}")
    return key


class KeyIndex:
    """The row of each key, in the order in which keys were first seen."""

    def __init__(self, keys: list[Key] | None = None) -> None:
        self.keys: list[Key] = [] if keys is None else keys
        self._rows = dict(zip(self.keys, range(len(self.keys)), strict=True))
        self._rendered: Rendered | None = None
        if len(self._rows) < len(self.keys):
            raise ValueError(f"of {len(self.keys)} keys only {len(self._rows)} are distinct")

    def __len__(self) -> int:
        return len(self.keys)

    def __contains__(self, key: object) -> bool:
        return key in self._rows

    def row(self, key: Key) -> int:
        """The row of a known key."""
        if key not in self._rows:
            raise KeyError(f"the panel has no key {key!r}: it has {len(self)} others.")
        return self._rows[key]

    def find(self, keys: Sequence[Key]) -> IntArray:
        """The row of each key, -1 for unknown keys."""
        return np.fromiter(map(self._rows.get, keys, repeat(-1)), np.int64, len(keys))

    def plan(self, keys: list[Key]) -> tuple[IntArray, list[Key]]:
        """The row of each key, including the rows that new keys would get, and the new keys."""
        rows = self.find(keys)
        new: dict[Key, int] = {}
        for i in np.flatnonzero(rows < 0).tolist():
            rows[i] = new.setdefault(keys[i], len(self.keys) + len(new))
        return rows, list(new)

    @property
    def rendered(self) -> Rendered:
        """The keys as JSON, written anew only after keys were added."""
        if self._rendered is None:
            self._rendered = Rendered.of(self.keys)
        return self._rendered

    def add(self, new: list[Key], undo: Undo) -> None:
        """Assign rows to new keys, in order."""
        if not new:
            return
        start = len(self.keys)
        undo.note(self._take_back, start, new)
        self._rendered = None
        self._rows.update(zip(new, range(start, start + len(new)), strict=True))
        self.keys.extend(new)

    def _take_back(self, start: int, new: list[Key]) -> None:
        """Forget new keys."""
        self._rendered = None
        for key in new:
            self._rows.pop(key, None)
        del self.keys[start:]
