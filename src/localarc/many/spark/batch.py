"""Batch frames: the rows of each bucket as one Arrow table, without a state store."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from localarc.many.columns import Columns
from localarc.many.frames import with_columns
from localarc.many.limits import Limits
from localarc.many.panel.streams import Prototype
from localarc.many.rows.bucket import Bucket
from localarc.many.spark.packed_columns import alias
from localarc.many.spark.processor import seed
from localarc.many.spark.schema import added_schema, bucket_of, key_text
from localarc.many.spark.session import spark_sql

SHARE = 4  # buckets per shuffle partition, unless their number is given


@dataclass(frozen=True)
class Batch:
    """The settings of a job over a batch frame, which are sent to the workers."""

    columns: Columns
    calibrator: Prototype
    limits: Limits
    rejects: bool
    saved: str = ""

    def run(self, frame: Any, buckets: int | None, initial: Any) -> Any:
        """The frame with the added columns."""
        from pyspark.sql.types import StructType

        if buckets is None:
            buckets = SHARE * int(frame.sparkSession.conf.get("spark.sql.shuffle.partitions"))
        added = StructType.fromDDL(added_schema(self.columns, self.rejects))
        named = frame.toDF(*map(alias, range(len(frame.columns))))
        schema = StructType([*named.schema.fields, *added.fields])
        names = tuple(frame.columns)
        key = key_text([alias(names.index(name)) for name in self.columns.keys])
        mine = named.groupBy(bucket_of(key, buckets))
        if initial is None:
            made = mine.applyInArrow(self._function(names), schema)
        else:
            saved = initial.groupBy(bucket_of(spark_sql().functions.col("key"), buckets))
            made = mine.cogroup(saved).applyInArrow(self._seeded_function(names), schema)
        return made.toDF(*names, *added.names)

    def _function(self, names: tuple[str, ...]) -> Callable[[Any], Any]:
        return lambda table: self.learn(table, names, self._new())

    def _new(self) -> Bucket:
        return Bucket.new(self.calibrator, self.columns, self.limits)

    def _seeded_function(self, names: tuple[str, ...]) -> Callable[[Any, Any], Any]:
        def learn(table: Any, saved: Any) -> Any:
            bucket = self._new()
            seed(bucket, saved, self.saved)
            return self.learn(table, names, bucket)

        return learn

    def learn(self, table: Any, names: tuple[str, ...], bucket: Bucket) -> Any:
        """The rows of one bucket, as an Arrow table with the added columns."""
        results = bucket.calibrate(table.rename_columns(list(names)), self.rejects)
        made = with_columns(table, results.table(self.rejects))
        return made.cast(_in_utc(made.schema))


def _in_utc(schema: Any) -> Any:
    """The schema with timestamps in UTC, as Spark requires them; it sends its own zone."""
    import pyarrow

    return pyarrow.schema([field.with_type(_type_in_utc(field.type)) for field in schema])


def _type_in_utc(kind: Any) -> Any:
    import pyarrow

    types = pyarrow.types
    if types.is_timestamp(kind) and kind.tz is not None:
        return pyarrow.timestamp(kind.unit, "UTC")
    if types.is_list(kind):
        return pyarrow.list_(kind.value_field.with_type(_type_in_utc(kind.value_type)))
    if types.is_struct(kind):
        return pyarrow.struct([part.with_type(_type_in_utc(part.type)) for part in kind])
    if types.is_map(kind):
        return pyarrow.map_(kind.key_type, _type_in_utc(kind.item_type))
    return kind
