"""Rows as columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any


def columns_from(rows: Sequence[Mapping[str, Any]]) -> dict[str, list[Any]]:
    """Return rows as columns; None where a row has no value.

    >>> columns_from([{"alpha": 0.1}, {"alpha": 0.2, "risk": 0.21}])
    {'alpha': [0.1, 0.2], 'risk': [None, 0.21]}
    """
    names = dict.fromkeys(name for row in rows for name in row)
    return {name: [row.get(name) for row in rows] for name in names}
