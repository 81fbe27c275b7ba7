"""Frames of pandas, Polars, PyArrow and DuckDB: columns in as Arrow, added columns out."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from localarc.panel.table import arrow


class Frame:
    """A user's frame, whichever library it is from."""

    def __init__(self, frame: Any) -> None:
        self._is_duckdb = type(frame).__name__ == "DuckDBPyRelation"
        self._native = frame
        self._frame = _eager(frame, self._is_duckdb)

    @property
    def columns(self) -> list[str]:
        """The names of the columns."""
        return list(self._frame.columns)

    def table(self, names: Iterable[str]) -> Any:
        """Some columns as an Arrow table."""
        return self._frame.select(*names).to_arrow()

    def plus(self, added: Any) -> Any:
        """The frame with the columns of an Arrow table, in its own library."""
        import narwhals.stable.v2 as nw

        if self._is_duckdb:
            made = self._frame.to_arrow()
            for name in added.column_names:
                made = made.append_column(name, added[name])
            return self._native.query("frame", "SELECT * FROM made")  # DuckDB finds the variable
        more = nw.from_arrow(added, backend=self._frame.implementation)
        index = nw.maybe_get_index(self._frame)
        if index is not None:
            more.to_native().index = index  # of pandas; other frames have none
        return nw.concat([self._frame, more], how="horizontal").to_native()


def _eager(frame: Any, is_duckdb: bool) -> Any:
    arrow()
    try:
        import narwhals.stable.v2 as nw
    except ImportError as error:
        raise ImportError("this requires narwhals: pip install 'localarc[keyed]'") from error
    if is_duckdb:
        return nw.from_native(frame).collect("pyarrow")
    found = nw.from_native(frame, eager_only=True, pass_through=True)
    if not isinstance(found, nw.DataFrame):
        raise TypeError(
            f"frame must be a data frame of pandas, Polars, PyArrow or DuckDB, got "
            f"{type(frame).__module__.partition('.')[0]}'s {type(frame).__name__}. Collect a lazy "
            "frame first; for Spark use localarc.spark.calibrate."
        )
    return found
