"""Columns: what both kinds of table have to hold before they are a stream."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from pathlib import Path

from localarc.validation import FloatArray


class TableError(ValueError):
    """A table that is not a stream; the message names the file, and row and column if one is."""


@dataclass(frozen=True)
class Columns:
    """Numbers by column, the labels of the group column, and where each row stands in the file."""

    numbers: dict[str, FloatArray]
    labels: list[Hashable] | None
    place: Callable[[int], str]  # "row 3 (line 4)" for index 2: rows count from 1, below the header


def check_header(path: Path, header: Sequence[str], wanted: Sequence[str]) -> None:
    """Every column once, and all wanted ones among them."""
    if not header:
        raise TableError(f"{path} has no columns: give a table with a header row.")
    repeated = [name for i, name in enumerate(header) if name in header[:i]]
    if repeated:
        raise TableError(
            f"{path} has more than one column {repeated[0]!r}: rename one, so that it is clear "
            "which is meant."
        )
    for name in wanted:
        if name not in header:
            raise TableError(f"{path} has no column {name!r}: {_instead(name, header)}.")


def _instead(name: str, header: Sequence[str]) -> str:
    """What to type instead: the closest name, or all of them."""
    for mark in (";", "\t", "|"):
        if len(header) == 1 and mark in header[0]:
            return f"its columns seem to be separated by {mark!r}, and a comma is expected"
    folded = {each.strip().casefold(): each for each in reversed(header)}
    close = difflib.get_close_matches(name.strip().casefold(), folded, n=1)
    hint = f", and {folded[close[0]]!r} comes closest" if close else ""
    shown = [repr(each) for each in header[:20]]
    rest = [f"and {len(header) - 20} more"] if len(header) > 20 else []
    return f"it has {', '.join(shown + rest)}{hint}"


def bad_cell(path: Path, place: str, name: str, cell: object) -> TableError:
    """The error of a cell that is empty or not a finite number."""
    where = f"{path}, {place}, column {name!r}"
    if cell is None or (isinstance(cell, str) and not cell.strip()):
        return TableError(f"{where}: the cell is empty; fill it in or drop the row.")
    return TableError(f"{where}: expected a finite number such as 0.5, got {_short(cell)}.")


def _short(cell: object) -> str:
    text = repr(cell)
    return text if len(text) <= 60 else f"{text[:57]}..."
