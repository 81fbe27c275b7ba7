"""Tables that packages carry: CSV files, plain or compressed, with a header."""

from __future__ import annotations

import csv
import gzip
import io
import zipfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from localarc.validation import FloatArray
from localarc_lab import data
from localarc_lab.arena.entry import spread_out

MISSING = ("", "NA")


class Columns:
    """Rows of a table by the names of its columns.

    >>> table = Columns(["hour", "airport"], [["5", "JFK"], ["NA", "LGA"]])
    >>> table.text("airport"), table.numbers("hour").tolist()
    (['JFK', 'LGA'], [5.0, nan])
    """

    def __init__(self, header: list[str], rows: list[list[str]]) -> None:
        self._position = {name: i for i, name in enumerate(header)}
        self._rows = rows

    def __len__(self) -> int:
        return len(self._rows)

    def text(self, name: str) -> list[str]:
        """Return a column as text."""
        position = self._position[name]
        return [row[position] for row in self._rows]

    def numbers(self, *names: str) -> FloatArray:
        """Return a column as numbers, or several as a matrix; NaN where a cell is missing."""
        columns = [
            [np.nan if cell in MISSING else float(cell) for cell in self.text(name)]
            for name in names
        ]
        return np.array(columns[0]) if len(names) == 1 else np.array(columns).T

    def where(self, name: str, known: bool = True) -> Columns:
        """Return the rows in which a column is known."""
        position = self._position[name]
        rows = [row for row in self._rows if (row[position] not in MISSING) == known]
        return Columns(list(self._position), rows)

    def sort(self, *names: str) -> Columns:
        """Return the rows in ascending order of some columns of numbers, and then as they were."""
        order = np.lexsort([self.numbers(name) for name in reversed(names)])
        return Columns(list(self._position), [self._rows[i] for i in order])

    def spread(self, rows: int) -> Columns:
        """Return at most `rows` rows, evenly spread."""
        return Columns(list(self._position), [self._rows[i] for i in spread_out(len(self), rows)])


def read(dataset: str, file: str, rows: int | None = None) -> Columns:
    """Return a table of a data set, or at most `rows` of its rows, evenly spread."""
    lines = _lines(data.get(dataset) / file)
    header = next(csv.reader([next(lines)]))
    found = list(lines)
    chosen = found if rows is None else [found[i] for i in spread_out(len(found), rows)]
    return Columns(header, list(csv.reader(chosen)))


def read_matrix(dataset: str, file: str) -> FloatArray:
    """Return a table of numbers without a header."""
    return np.array(
        [[float(cell) for cell in row] for row in csv.reader(_lines(data.get(dataset) / file))]
    )


def _lines(path: Path) -> Iterator[str]:
    content = path.read_bytes()
    if path.suffix == ".gz":
        content = gzip.decompress(content)
    elif path.suffix == ".zip":
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            content = archive.read(archive.namelist()[0])
    return iter(content.decode("utf-8").splitlines())
