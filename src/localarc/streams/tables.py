"""A table as a stream: one row a round, in the order of the file."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from localarc import validation
from localarc.curves import miscoverage
from localarc.streams.columns import Columns, TableError
from localarc.streams.csv import read_csv
from localarc.streams.parquet import read_parquet
from localarc.streams.stream import Stream
from localarc.validation import FloatArray

__all__ = ["TableError", "read_table"]

_READERS = {".csv": read_csv, ".parquet": read_parquet, ".pq": read_parquet}


def read_table(
    path: str | os.PathLike[str],
    features: Sequence[str] | None,
    score: str,
    loss: str | None = None,
    group: str | None = None,
    loss_bound: float = 1.0,
    width: str | None = None,
) -> Stream:
    """The rounds of a CSV or Parquet file, by the names of its columns.

    `score` holds the true outcome's score: a set {score <= threshold} misses the truth when the
    threshold is below it. A miss costs 1, or what the column `loss` says, between 0 and
    `loss_bound`. Where `features` is None, x is the number of the round.

    The size of a set is that of an interval, `max(0, width + 2 * threshold)`. The column `width`
    holds the width at threshold 0, upper - lower for quantiles; without it that is 0, as for
    `prediction +- threshold`, unless a score is negative: then it is no distance from a prediction,
    and sizes are not known.

    A table that is not a stream raises a `TableError` of one sentence with file, row and column;
    rows are counted from 1 below the header, and a CSV's line in the file is given beside them.
    """
    source = Path(path)
    names = () if features is None else _features(features)
    bound = validation.positive(
        "loss_bound", loss_bound, "It is the largest possible loss, e.g. 1.0."
    )
    wanted = dict.fromkeys([*names, score, *(each for each in (loss, width) if each is not None)])
    columns = _read(source, list(wanted), group)
    if not columns.numbers:
        raise TableError(f"{source} has a header and no rows: give one row for each round.")
    for name in names:
        _check_varies(source, name, columns)
    groups = None if columns.labels is None else tuple(columns.labels)
    scores = columns.numbers[score]
    inputs = {name: columns.numbers[name] for name in names} or {
        "round": np.arange(1.0, len(scores) + 1.0)
    }
    cost = _costs(source, columns, loss, bound)
    curves = miscoverage(scores, cost=cost, widths=_widths(columns, scores, width), bound=bound)
    return Stream(
        source.stem, np.column_stack(list(inputs.values())), curves, groups, tuple(inputs)
    )


def _features(features: Sequence[str]) -> tuple[str, ...]:
    names = (features,) if isinstance(features, str) else tuple(features)
    if not names or not all(names) or len(set(names)) < len(names):
        raise ValueError(
            f"features must name at least one column, each once, got {', '.join(names) or 'none'}."
        )
    return names


def _read(source: Path, wanted: list[str], group: str | None) -> Columns:
    reader = _READERS.get(source.suffix.lower())
    if not source.exists():
        raise TableError(f"{source} does not exist: give the path of a CSV or Parquet file.")
    if reader is None or not source.is_file():
        raise TableError(
            f"{source} is not a table that can be read: give a file that ends in .csv or .parquet."
        )
    try:
        return reader(source, wanted, group)
    except OSError as error:
        raise TableError(f"{source} cannot be read: {error.strerror or error}.") from error


def _check_varies(source: Path, name: str, columns: Columns) -> None:
    """A feature with one value tells no place from another, which is most often a mistake."""
    values = columns.numbers[name]
    if len(values) > 1 and (values == values[0]).all():
        raise TableError(
            f"{source}, column {name!r}: the feature is {values[0]:g} in every row, so it cannot "
            "tell one kind of input from another; leave it out."
        )


def _widths(columns: Columns, scores: FloatArray, width: str | None) -> FloatArray | float | None:
    if width is not None:
        return columns.numbers[width]
    return None if (scores < 0).any() else 0.0


def _costs(source: Path, columns: Columns, loss: str | None, bound: float) -> FloatArray | None:
    if loss is None and bound < 1:
        raise ValueError(
            f"loss_bound must be at least 1 without a loss column, since a miss costs 1, got "
            f"{bound:g}. Name the column that says what a miss costs."
        )
    if loss is None:
        return None
    cost = columns.numbers[loss]
    wrong = (cost < 0) | (cost > bound)
    if wrong.any():
        t = int(np.argmax(wrong))
        raise TableError(
            f"{source}, {columns.place(t)}, column {loss!r}: a loss must lie between 0 and the "
            f"loss bound {bound:g}, got {cost[t]:g}."
        )
    return cost
