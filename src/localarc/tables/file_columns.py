"""Columns: what the CSV reader and the Parquet reader return, and the checks that they share."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from pathlib import Path

from localarc.validation import FloatArray


class TableError(ValueError):
    """A table that cannot be read as a stream; names the file and, if known, row and column.

    Examples
    --------
    >>> from localarc.streams import read_table
    >>> read_table("missing.csv", features=["x"], score="s")
    Traceback (most recent call last):
    localarc.tables.file_columns.TableError: missing.csv does not exist: pass the path of a CSV ...
    """


@dataclass(frozen=True)
class Columns:
    """Numbers by column, the labels of the group column, and the location of each row."""

    numbers: dict[str, FloatArray]
    labels: list[Hashable] | None
    location: Callable[[int], str]  # "row 3 (line 4)" for index 2: rows count from 1


def check_header(path: Path, header: Sequence[str], wanted: Sequence[str]) -> None:
    """Raise unless column names are unique and include the wanted ones."""
    if not header:
        raise TableError(f"{path} has no columns: a header row is required.")
    repeated = [name for i, name in enumerate(header) if name in header[:i]]
    if repeated:
        raise TableError(
            f"{path} has more than one column {repeated[0]!r}: column names must be unique."
        )
    for name in wanted:
        if name not in header:
            raise TableError(f"{path} has no column {name!r}: {_suggestion(name, header)}.")


def _suggestion(name: str, header: Sequence[str]) -> str:
    """List the columns of the file, and the closest name."""
    for mark in (";", "\t", "|"):
        if len(header) == 1 and mark in header[0]:
            return f"its columns seem to be separated by {mark!r} instead of a comma"
    folded = {column.strip().casefold(): column for column in reversed(header)}
    close = difflib.get_close_matches(name.strip().casefold(), folded, n=1)
    hint = f"; the closest is {folded[close[0]]!r}" if close else ""
    shown = [repr(column) for column in header[:20]]
    rest = [f"and {len(header) - 20} more"] if len(header) > 20 else []
    return f"it has {', '.join(shown + rest)}{hint}"


def bad_cell(path: Path, location: str, name: str, cell: object) -> TableError:
    """Return the error of a cell that is empty or not a finite number."""
    where = f"{path}, {location}, column {name!r}"
    if cell is None or (isinstance(cell, str) and not cell.strip()):
        return TableError(f"{where}: the cell is empty; fill it in or drop the row.")
    return TableError(f"{where}: expected a finite number such as 0.5, got {_short(cell)}.")


def _short(cell: object) -> str:
    """Return the repr of a cell, truncated."""
    text = repr(cell)
    return text if len(text) <= 60 else f"{text[:57]}..."
