"""CSV files: comma-separated, with a header row, in UTF-8 with or without a byte order mark."""

from __future__ import annotations

import csv
import math
from array import array
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np

from localarc.tables.file_columns import Columns, TableError, bad_cell, check_header
from localarc.tables.plain_csv import read_plain_csv

LARGE = 4_000_000  # bytes; a smaller file is read before pyarrow is imported
_Row = tuple[int, list[str]]


def read_csv(path: Path, wanted: Sequence[str], group: str | None) -> Columns:
    """Return the wanted columns as numbers, and the group column as text."""
    large = path.stat().st_size >= LARGE
    plain = read_plain_csv(path, wanted, group) if large else None
    if plain is None:
        return read_any_csv(path, wanted, group)

    def location(t: int) -> str:  # lines are counted when an error must name one
        return read_any_csv(path, wanted, group).location(t)

    return Columns(*plain, location)


def write_csv(path: Path, columns: Mapping[str, Iterable[object]]) -> None:
    """Write columns of equal length, below a header row; None is an empty cell."""
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows(zip(*columns.values(), strict=True))


def read_any_csv(path: Path, wanted: Sequence[str], group: str | None) -> Columns:
    """The same, row by row: every variant of CSV, and errors with row, line and column."""
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            rows = _rows(path, csv.reader(file, strict=True))
            _, header = next(rows, (0, None))
            if header is None:
                raise TableError(
                    f"{path} is empty: a header row and one row per round are required."
                )
            check_header(path, header, [*wanted, *([group] if group else [])])
            return _collect(path, header, rows, wanted, group)
    except UnicodeDecodeError as error:
        raise TableError(
            f"{path} is not UTF-8 text: byte {error.object[error.start]:#04x} cannot be decoded; "
            "save the file as UTF-8."
        ) from error


def _rows(path: Path, reader: Iterator[list[str]]) -> Iterator[_Row]:
    """Yield the rows that are not blank, each with the line it ends on."""
    while True:
        try:
            row = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            line = reader.line_num  # type: ignore[attr-defined]
            raise TableError(f"{path}, line {line}: not comma-separated text: {error}.") from error
        if row:
            yield reader.line_num, row  # type: ignore[attr-defined]


def _collect(
    path: Path, header: list[str], rows: Iterator[_Row], wanted: Sequence[str], group: str | None
) -> Columns:
    """Convert the cells of every row."""
    sinks = [(name, header.index(name), array("d")) for name in wanted]
    at = None if group is None else header.index(group)
    labels: list[Hashable] = []
    lines = array("q")

    def location(t: int) -> str:
        return f"row {t + 1} (line {lines[t]})"

    for t, (line, row) in enumerate(rows):
        lines.append(line)
        if len(row) != len(header):
            raise TableError(
                f"{path}, {location(t)}: {len(row)} cells, but the header has {len(header)}; "
                "quote cells that contain a comma."
            )
        for name, column, sink in sinks:
            value = _number(row[column])
            if not math.isfinite(value):
                raise bad_cell(path, location(t), name, row[column])
            sink.append(value)
        if at is not None and group is not None:
            if not row[at].strip():
                raise bad_cell(path, location(t), group, "")
            labels.append(row[at])
    numbers = {name: np.frombuffer(sink, np.float64) for name, _, sink in sinks if len(sink)}
    return Columns(numbers, labels if group else None, location)


def _number(cell: str) -> float:
    """Return the number in a cell, or NaN; unlike Python, a table has no 1_000."""
    try:
        return float(cell) if "_" not in cell else math.nan
    except ValueError:
        return math.nan
