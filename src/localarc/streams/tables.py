"""Tables as streams: CSV and Parquet files with one row per round, in chronological order."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from localarc import validation
from localarc.curves import miscoverage
from localarc.streams.stream import Stream
from localarc.tables.csv import read_csv
from localarc.tables.file_columns import Columns, TableError
from localarc.tables.parquet import read_parquet
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
    """Read a stream from a CSV or Parquet file with one row per round, in chronological order.

    Parameters
    ----------
    path : str or path-like
        File to read; its name ends in .csv, .parquet or .pq.
    features : sequence of str, or None
        Columns of the input x. If None, x is the number of the round; if empty, x has no features.
    score : str
        Column with the score of the true outcome. The set {score <= threshold} misses the outcome
        if the threshold is below this score.
    loss : str, optional
        Column with the loss of a miss, between 0 and `loss_bound`. Default: 1 for every miss.
    group : str, optional
        Column with the group of each round.
    loss_bound : float, default 1.0
        Largest possible loss.
    width : str, optional
        Column with the width of the interval at threshold 0, such as upper - lower for quantiles.
        Set sizes are `max(0, width + 2 * threshold)`. Default: width 0, for
        `prediction +- threshold`. If some scores are negative, they cannot be distances from a
        prediction, and sizes are unknown without this column.

    Returns
    -------
    Stream
        The stream, named after the file. Raises a `TableError` with file, row and column if the
        file cannot be read as one; rows count from 1, below the header.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "demand.csv"
    ...     _ = path.write_text("hour,error\\n1,0.5\\n2,0.1\\n")
    ...     stream = read_table(path, features=["hour"], score="error")
    >>> stream.name, len(stream), stream.features
    ('demand', 2, ('hour',))
    """
    source = Path(path)
    names = _features(features) if features else ()
    bound = validation.positive(
        "loss_bound", loss_bound, "It is the largest possible loss, e.g. 1.0."
    )
    wanted = dict.fromkeys([*names, score, *(name for name in (loss, width) if name is not None)])
    columns = _read(source, list(wanted), group)
    if not columns.numbers:
        raise TableError(f"{source} has a header but no rows: one row per round is required.")
    for name in names:
        _check_varies(source, name, columns)
    groups = None if columns.labels is None else tuple(columns.labels)
    scores = columns.numbers[score]
    inputs = {name: columns.numbers[name] for name in names}
    if features is None:
        inputs = {"round": np.arange(1.0, len(scores) + 1.0)}
    cost = _costs(source, columns, loss, bound)
    curves = miscoverage(scores, cost=cost, widths=_widths(columns, scores, width), bound=bound)
    X = np.array(list(inputs.values())).reshape(len(inputs), len(scores)).T
    return Stream(source.stem, X, curves, groups, tuple(inputs))


def _features(features: Sequence[str]) -> tuple[str, ...]:
    """Return the names of the features, which must be distinct."""
    names = (features,) if isinstance(features, str) else tuple(features)
    if not names or not all(names) or len(set(names)) < len(names):
        raise ValueError(
            "features must name at least one column, and each only once, got "
            f"{', '.join(names) or 'none'}."
        )
    return names


def _read(source: Path, wanted: list[str], group: str | None) -> Columns:
    """Read columns with the reader for the type of the file."""
    reader = _READERS.get(source.suffix.lower())
    if not source.exists():
        raise TableError(f"{source} does not exist: pass the path of a CSV or Parquet file.")
    if reader is None or not source.is_file():
        raise TableError(
            f"{source} is not a table: pass a file whose name ends in .csv or .parquet."
        )
    try:
        return reader(source, wanted, group)
    except OSError as error:
        raise TableError(f"{source} cannot be read: {error.strerror or error}.") from error


def _check_varies(source: Path, name: str, columns: Columns) -> None:
    """Raise for a feature with a single value, which is most often a mistake."""
    values = columns.numbers[name]
    if len(values) > 1 and (values == values[0]).all():
        raise TableError(
            f"{source}, column {name!r}: the feature is {values[0]:g} in every row and "
            "cannot distinguish inputs; remove it from the features."
        )


def _widths(columns: Columns, scores: FloatArray, width: str | None) -> FloatArray | float | None:
    """Return the widths at threshold 0, or None if sizes are unknown."""
    if width is not None:
        return columns.numbers[width]
    return None if (scores < 0).any() else 0.0


def _costs(source: Path, columns: Columns, loss: str | None, bound: float) -> FloatArray | None:
    """Return the loss of a miss in each round, or None if it is always 1."""
    if loss is None and bound < 1:
        raise ValueError(
            f"loss_bound must be at least 1 without a loss column, since the loss of a miss is 1, "
            f"got {bound:g}. Name the column with the loss of a miss."
        )
    if loss is None:
        return None
    cost = columns.numbers[loss]
    wrong = (cost < 0) | (cost > bound)
    if wrong.any():
        t = int(np.argmax(wrong))
        raise TableError(
            f"{source}, {columns.location(t)}, column {loss!r}: a loss must lie between 0 and the "
            f"loss bound {bound:g}, got {cost[t]:g}."
        )
    return cost
