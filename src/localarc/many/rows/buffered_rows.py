"""Rows that wait for the watermark, with all their columns."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from localarc.many.panel.table import arrow
from localarc.many.rows.events import NO_TIME
from localarc.validation import IntArray

_KEY, _TIME = "localarc_key", "localarc_time"


@dataclass(frozen=True)
class BufferedRows:
    """Rows as an Arrow table, None if there are none, with their keys and times."""

    rows: Any = None
    keys: Any = None
    times: IntArray | None = None

    def __len__(self) -> int:
        return 0 if self.times is None else len(self.times)

    @property
    def earliest(self) -> int | None:
        """The time of the first row."""
        return None if self.times is None else int(self.times.min())

    def filter(self, chosen: NDArray[np.bool_]) -> BufferedRows:
        """Some of the rows."""
        if self.times is None or not chosen.any():
            return BufferedRows()
        mask = arrow().array(chosen)
        return BufferedRows(self.rows.filter(mask), self.keys.filter(mask), self.times[chosen])

    def plus(self, more: BufferedRows) -> BufferedRows:
        """These rows, and more of them."""
        if self.times is None or more.times is None:
            return more if self.times is None else self
        keys = arrow().concat_arrays([self.keys, more.keys])
        times = np.concatenate([self.times, more.times])
        return BufferedRows(concat([self.rows, more.rows]), keys, times)

    def until(self, watermark: int | None) -> NDArray[np.bool_]:
        """Which rows a watermark has passed."""
        times = np.empty(0, np.int64) if self.times is None else self.times
        return times <= (NO_TIME if watermark is None else watermark)

    def to_bytes(self) -> bytes:
        """The rows as an Arrow stream; empty without rows."""
        if self.rows is None:
            return b""
        pa = arrow()
        rows = self.rows.append_column(_KEY, self.keys).append_column(_TIME, pa.array(self.times))
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, rows.schema) as writer:
            writer.write_table(rows)
        found: bytes = sink.getvalue().to_pybytes()
        return found

    @classmethod
    def from_bytes(cls, data: bytes) -> BufferedRows:
        """The inverse of `to_bytes`."""
        if not data:
            return cls()
        found = arrow().ipc.open_stream(arrow().BufferReader(data)).read_all()
        keys, times = found[_KEY].combine_chunks(), np.array(found[_TIME])
        return cls(found.drop_columns([_KEY, _TIME]), keys, times)


def concat(tables: list[Any]) -> Any:
    """Tables one after another; columns that one does not have are null there.

    A column that has types which do not go together becomes text.
    """
    pa = arrow()
    full = [table for table in tables if table.num_rows] or tables[:1]
    if len(full) == 1:
        return full[0]
    try:
        return pa.concat_tables(full, promote_options="permissive")
    except (pa.ArrowInvalid, pa.ArrowTypeError):
        return pa.concat_tables(_with_text(full), promote_options="permissive")


def _with_text(tables: list[Any]) -> list[Any]:
    """The tables, with text in the columns that cannot be concatenated."""
    pa = arrow()
    for name in dict.fromkeys(name for table in tables for name in table.column_names):
        parts = [table.select([name]) for table in tables if name in table.column_names]
        try:
            pa.unify_schemas([part.schema for part in parts], promote_options="permissive")
        except (pa.ArrowInvalid, pa.ArrowTypeError):
            tables = [_text_column(table, name) for table in tables]
    return tables


def _text_column(table: Any, name: str) -> Any:
    if name not in table.column_names:
        return table
    pa, column = arrow(), table[name]
    try:
        text = column.cast(pa.string())
    except pa.ArrowNotImplementedError:  # lists and structs
        text = pa.array(
            [None if v is None else json.dumps(v, default=str) for v in column.to_pylist()]
        )
    return table.set_column(table.column_names.index(name), name, text)
