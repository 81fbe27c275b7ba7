"""Columns that pass through Python unchanged, of any type and with any nulls.

Spark hands rows to a stateful processor as pandas frames, in which whole numbers, dates and flags
cannot be null, and NaN is. So a stream's columns of these types travel as numbers without nulls,
and a column of bits beside them says which were null.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from localarc.many.spark.session import spark_sql
from localarc.validation import IntArray

WATERMARK = "spark.watermarkDelayMs"
"""The metadata of the column that `withWatermark` named."""

BUCKET = "localarc_bucket"
NULLS = "localarc_nulls"
"""The column of bits: bit i is set where column i is null."""

_BITS = 63
_INTEGERS = ("tinyint", "smallint", "int", "bigint")
_NUMBERS = {"boolean": "boolean", "float": "float", "double": "double", "date": "int"}
_NUMBERS |= {"timestamp": "bigint"} | dict.fromkeys(_INTEGERS, "bigint")


@dataclass(frozen=True)
class PackedColumns:
    """The columns of a frame: their names and Spark types, in order, and the event time.

    Rows that we hold back until the watermark has passed them have a `held_time` in its place.
    """

    names: tuple[str, ...]
    types: tuple[str, ...]
    event_time: str = ""
    held_time: str = ""
    delay: int = 0

    @classmethod
    def of(cls, frame: Any) -> PackedColumns:
        """The columns of a frame."""
        names, types = zip(*frame.dtypes, strict=True)
        for field in frame.schema.fields:
            if WATERMARK in field.metadata:
                return cls(names, types, field.name, delay=int(field.metadata[WATERMARK]))
        return cls(names, types)

    def travels_as(self, i: int) -> str | None:
        """The type in which column i has no nulls; None if it travels as it is."""
        if i >= _BITS or self.names[i] == self.event_time:
            return None
        return _NUMBERS.get(self.types[i])

    @property
    def event_time_alias(self) -> str:
        """The name under which the event time travels; empty without a watermark."""
        return alias(self.names.index(self.event_time)) if self.event_time else ""

    @property
    def schema(self) -> str:
        """The schema in which the columns travel."""
        parts = [f"{alias(i)} {self.travels_as(i) or kind}" for i, kind in enumerate(self.types)]
        return ", ".join([*parts, f"{NULLS} bigint"])

    def pack(self) -> list[Any]:
        """The columns to select on the way in."""
        functions = spark_sql().functions
        columns, bits = [], functions.lit(0).cast("bigint")
        for i, name in enumerate(self.names):
            column = functions.col(quoted(name))
            if self.travels_as(i) is not None:
                bit = functions.when(column.isNull(), functions.lit(1 << i)).otherwise(0)
                bits = bits.bitwiseOR(bit.cast("bigint"))
                column = functions.coalesce(_to_number(column, self.types[i]), self._zero(i))
            columns.append(column.alias(alias(i)))
        return [*columns, bits.alias(NULLS)]

    def unpack(self) -> list[Any]:
        """The columns to select on the way out."""
        functions = spark_sql().functions
        columns = []
        for i, name in enumerate(self.names):
            column = functions.col(alias(i))
            if self.travels_as(i) is not None:
                is_null = functions.col(NULLS).bitwiseAND(functions.lit(1 << i)) != 0
                column = functions.when(~is_null, _from_number(column, self.types[i]))
            # Rows are held until the watermark passes them: to the operators that follow they
            # are of this micro-batch, and not late.
            marked = {"metadata": {WATERMARK: self.delay}} if name == self.held_time else {}
            columns.append(column.alias(name, **marked))
        return columns

    def _zero(self, i: int) -> Any:
        return spark_sql().functions.lit(0).cast(self.travels_as(i))

    def table(self, columns: Mapping[str, Any], names: Iterable[str]) -> Any:
        """Some columns of a packed pandas frame as an Arrow table, null where they were."""
        import pyarrow

        bits = columns[NULLS].to_numpy(np.int64)
        nulls = bits if bits.any() else None
        return pyarrow.table({name: self._column(columns, name, nulls) for name in names})

    def _column(self, columns: Mapping[str, Any], name: str, nulls: IntArray | None) -> Any:
        import pyarrow

        i = self.names.index(name)
        values = columns[alias(i)]
        if self.travels_as(i) is None:
            return pyarrow.array(values, from_pandas=True)
        mask = None if nulls is None else ((nulls >> i) & 1).astype(bool)
        column = pyarrow.array(values.to_numpy(), mask=mask)
        return column.view(pyarrow.timestamp("us")) if self.types[i] == "timestamp" else column

    def arrow_column(self, rows: Any, name: str) -> Any:
        """A column of a packed Arrow table, null where it was."""
        import pyarrow

        i = self.names.index(name)
        values, kind = rows[alias(i)].combine_chunks(), self.types[i]
        if self.travels_as(i) is None:
            return values
        if kind in ("float", "double"):  # NaN became null on its way through pandas
            values = values.fill_null(float("nan"))
        nulls = (rows[NULLS].to_numpy() >> i) & 1
        column = pyarrow.compute.if_else(pyarrow.array(nulls == 0), values, None)
        if kind == "date":
            return column.cast(pyarrow.int32()).view(pyarrow.date32())
        return column.view(pyarrow.timestamp("us", "UTC")) if kind == "timestamp" else column

    def holding_rows(self) -> PackedColumns:
        """The same columns, of which none is the operator's event time: Spark drops late rows."""
        return replace(self, event_time="", held_time=self.event_time)


def alias(i: int) -> str:
    """The name under which column i travels; PySpark does not quote the names of grouped frames."""
    return f"localarc_{i}"


def quoted(name: str) -> str:
    """A column name in which Spark sees no expression."""
    return "`" + name.replace("`", "``") + "`"


def _to_number(column: Any, kind: str) -> Any:
    functions = spark_sql().functions
    if kind == "timestamp":
        return functions.unix_micros(column)
    if kind == "date":
        return functions.unix_date(column)
    return column.cast("bigint") if kind in _INTEGERS else column


def _from_number(column: Any, kind: str) -> Any:
    functions = spark_sql().functions
    if kind == "timestamp":
        return functions.timestamp_micros(column)
    if kind == "date":
        return functions.date_from_unix_date(column)
    if kind in ("float", "double"):  # NaN became null on its way through pandas
        return functions.coalesce(column, functions.lit(float("nan"))).cast(kind)
    return column.cast(kind)
