"""The columns of a user's frame that are read, and their internal names."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

from localarc.spark.session import spark_sql

INTEGERS = ("tinyint", "smallint", "int", "bigint")
NUMBERS = (*INTEGERS, "float", "double", "decimal", "boolean")
ADDED_COLUMNS = ("threshold", "loss", "covered", "next_threshold", "rejected")
"""Columns that `calibrate` adds."""


@dataclass(frozen=True)
class Columns:
    """The user's column names; inside a bucket they are key, order, value and x0, x1, ..."""

    key: str
    order: str
    features: tuple[str, ...]
    value: str
    given_losses: bool
    key_type: str

    @classmethod
    def from_frame(
        cls,
        frame: Any,
        key: str,
        order: str,
        features: Sequence[str],
        score: str | None,
        loss: str | None,
    ) -> Self:
        """The columns of a frame; raises if they are invalid."""
        if isinstance(features, str):
            raise TypeError(f"features must be a list of columns, got the text {features!r}.")
        if (score is None) == (loss is None):
            raise ValueError(
                "pass either score= or loss=: a score yields a threshold, a loss and an update; a "
                "known loss is only learned."
            )
        value = score if score is not None else str(loss)
        types = _types(frame)
        _check_type(types, key, ("string", *INTEGERS), "key", "text or integers")
        _check_type(types, order, INTEGERS, "order", "integers")
        for name in (value, *features):
            _check_type(types, name, NUMBERS, "score, loss and features", "numbers")
        _check_distinct((key, order, *features, value), score is None)
        return cls(key, order, tuple(features), value, score is None, types[key])

    def select_input(self, frame: Any, buckets: int) -> Any:
        """The frame that a bucket reads, grouped by bucket."""
        functions = spark_sql().functions
        key = functions.col(_quoted(self.key)).cast("string")
        columns = [
            bucket_of(key, buckets).alias("bucket"),
            key.alias("key"),
            # 0 is never valid and stands for a missing order: a null would make all floats.
            functions.coalesce(
                functions.col(_quoted(self.order)).cast("bigint"), functions.lit(0)
            ).alias("order"),
            functions.col(_quoted(self.value)).cast("double").alias("value"),
        ]
        columns += [
            functions.col(_quoted(name)).cast("double").alias(f"x{i}")
            for i, name in enumerate(self.features)
        ]
        return frame.select(*columns).groupBy("bucket")

    @property
    def schema(self) -> str:
        """The schema of the rows that a bucket returns."""
        inputs = "".join(f", x{i} double" for i in range(len(self.features)))
        added = "next_threshold double" if self.given_losses else _ADDED
        return f"key string, order bigint{inputs}, value double, {added}, rejected string"

    def rename_output(self, frame: Any, rejects: bool) -> Any:
        """The rows of a bucket, under the user's column names."""
        functions = spark_sql().functions
        columns = [functions.col("key").cast(self.key_type).alias(self.key)]
        columns += [
            functions.when(functions.col("order") != 0, functions.col("order")).alias(self.order)
        ]
        columns += [functions.col(f"x{i}").alias(name) for i, name in enumerate(self.features)]
        columns += [functions.col("value").alias(self.value)]
        added = ["next_threshold"] if self.given_losses else ["threshold", "loss", "covered"]
        return frame.select(*columns, *added, *(["rejected"] if rejects else []))


_ADDED = "threshold double, loss double, covered boolean"


def bucket_of(key: Any, buckets: int) -> Any:
    """The bucket of a text key, the same on every machine and in every release."""
    functions = spark_sql().functions
    return functions.pmod(functions.xxhash64(key), functions.lit(buckets)).cast("int")


def _types(frame: Any) -> dict[str, str]:
    if not isinstance(frame, spark_sql().DataFrame):
        raise TypeError(
            f"frame must be a Spark data frame, got {type(frame).__name__}. "
            "For pandas or NumPy use localarc.panel, which does not require Spark."
        )
    return dict(frame.dtypes)


def _check_type(
    types: dict[str, str], name: Any, allowed: tuple[str, ...], role: str, wanted: str
) -> None:
    if name not in types:
        raise ValueError(f"the frame has no column {name!r}: it has {', '.join(types)}.")
    if types[name].split("(")[0] not in allowed:
        raise TypeError(
            f"{role} must be {wanted}, column {name!r} is {types[name]}. Cast it first."
        )


def _check_distinct(names: tuple[str, ...], given_losses: bool) -> None:
    if len({name.lower() for name in names}) < len(names):
        raise ValueError(f"each column can be used only once, got {', '.join(names)}.")
    added = ("next_threshold", "rejected") if given_losses else ADDED_COLUMNS
    for name in names:
        if name.lower() in added:  # Spark ignores case
            raise ValueError(
                f"column {name!r} has the name of a column that calibrate adds. Rename it."
            )


def _quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"
