"""Frames of pandas, Polars, PyArrow and DuckDB: columns in as Arrow, added columns out."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from localarc import validation
from localarc.many.panel.table import arrow


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

    def table(self, names: Iterable[str] | None = None) -> Any:
        """Some columns, or all, as an Arrow table."""
        chosen = self._frame if names is None else self._frame.select(*names)
        try:
            return chosen.to_arrow()
        except OverflowError:
            _require_int64(chosen)
            raise

    def plus(self, added: Any) -> Any:
        """The frame with the columns of an Arrow table, in its own library."""
        import narwhals.stable.v2 as nw

        if self._is_duckdb:
            return self.like(with_columns(self._frame.to_arrow(), added))
        more = nw.from_arrow(added, backend=self._frame.implementation)
        index = nw.maybe_get_index(self._frame)
        if index is not None:
            more.to_native().index = index  # of pandas; other frames have none
        return nw.concat([self._frame, more], how="horizontal").to_native()

    def like(self, rows: Any) -> Any:
        """An Arrow table as a frame of the same library."""
        import narwhals.stable.v2 as nw

        if self._is_duckdb:
            return self._native.query("frame", "SELECT * FROM rows")  # it finds the variable
        return nw.from_arrow(rows, backend=self._frame.implementation).to_native()


def _require_int64(frame: Any) -> None:
    """Raise if a column of objects has an integer that Arrow cannot hold."""
    for name in (name for name, kind in frame.schema.items() if not kind.is_numeric()):
        for row, value in enumerate(frame[name].to_list()):
            if isinstance(value, int) and not -(2**63) <= value < 2**63:
                raise ValueError(
                    f"{name} must have integers of 64 bits, got {validation.shown(value)} in row "
                    f"{row}, counted from 0. Pass such numbers as floats, and such names as text."
                )


def with_columns(table: Any, added: Any) -> Any:
    """An Arrow table with the columns of another one."""
    for name in added.column_names:
        table = table.append_column(name, added[name])
    return table


def _eager(frame: Any, is_duckdb: bool) -> Any:
    arrow()
    try:
        import narwhals.stable.v2 as nw
        from narwhals.exceptions import DuplicateError
    except ImportError as error:
        raise ImportError("this requires narwhals: pip install 'localarc[keyed]'") from error
    if is_duckdb:
        return nw.from_native(frame).collect("pyarrow")
    try:
        found = nw.from_native(frame, pass_through=True)
    except DuplicateError:
        validation.distinct_columns("frame", frame)
        raise
    if not isinstance(found, nw.LazyFrame):
        validation.distinct_columns("frame", frame)
    if not isinstance(found, nw.DataFrame):
        raise TypeError(
            f"frame must be a data frame of pandas, Polars, PyArrow or DuckDB, got "
            f"{type(frame).__module__.partition('.')[0]}'s {type(frame).__name__}. Collect a lazy "
            "frame first; for Spark use localarc.many.spark.calibrate."
        )
    return found
