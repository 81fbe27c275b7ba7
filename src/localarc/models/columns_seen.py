"""The columns of numbers that rows have, named or not."""

from __future__ import annotations

from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import NDArray

from localarc.models.features import floats
from localarc.tables.rows import ColumnName, Table
from localarc.validation import IntArray

MOST_COLUMNS = 1024


def numeric_columns(table: Table) -> tuple[ColumnName, ...]:
    """The columns that have numbers, at most the first 1,024."""
    names: list[Any] = table.names
    if table.frame is not None:
        kinds = table.frame.schema
        names = [name for name in names if kinds[name].is_numeric() or kinds[name] == nw.Boolean]
    elif table.row is not None:
        names = [name for name in names if isinstance(table.row[name], int | float | np.number)]
    elif table.array.ndim == 2:
        width = range(table.array.shape[1])
        is_number = table.array.dtype.kind in "biuf"
        names = [at for at in width if is_number or _has_numbers(table.array[:, at])]
    return tuple(name for name in names if isinstance(name, str | int))[:MOST_COLUMNS]


def _has_numbers(column: NDArray[Any]) -> bool:
    return all(isinstance(value, int | float | np.number) for value in column.tolist())


def numbers_of(table: Table, names: tuple[ColumnName, ...], rows: IntArray) -> NDArray[np.float32]:
    """(rows, columns): NaN where a column is missing, has other values, or none."""
    found = np.full((len(rows), len(names)), np.nan, np.float32)
    if not len(rows):
        return found
    part = table.take(rows)
    for at, name in enumerate(names):
        try:
            with np.errstate(over="ignore"):
                found[:, at] = floats(part.column(name))
        except (TypeError, ValueError, OverflowError):  # no such column, or no numbers in it
            continue
    found[np.isinf(found)] = np.nan
    return found
