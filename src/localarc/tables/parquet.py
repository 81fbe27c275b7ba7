"""Parquet files, read with pyarrow."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from localarc.tables.file_columns import Columns, TableError, bad_cell, check_header
from localarc.validation import FloatArray


def read_parquet(path: Path, wanted: Sequence[str], group: str | None) -> Columns:
    """Return the wanted columns as numbers, and the group column unchanged."""
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError as error:
        raise TableError(
            f"reading {path} requires pyarrow: pip install 'localarc[parquet]'"
        ) from error
    columns = list(dict.fromkeys([*wanted, *([group] if group else [])]))
    try:
        with pyarrow.parquet.ParquetFile(path) as file:
            check_header(path, file.schema_arrow.names, columns)
            table = file.read(columns=columns)
    except (pyarrow.ArrowException, OSError) as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise TableError(f"{path} is not a Parquet file, or it is damaged: {reason}") from error
    if not table.num_rows:
        return Columns({}, None, _location)
    labels = None if group is None else _labels(path, group, table.column(group))
    numbers = {name: _numbers(path, name, table.column(name)) for name in wanted}
    return Columns(numbers, labels, _location)


def write_parquet(path: Path, columns: Mapping[str, Sequence[object]]) -> None:
    """Write columns of equal length."""
    import pyarrow
    import pyarrow.parquet

    pyarrow.parquet.write_table(pyarrow.table(dict(columns)), path)


def _location(t: int) -> str:
    """Describe a row by its number, counted from 1."""
    return f"row {t + 1}"


def _numbers(path: Path, name: str, column: Any) -> FloatArray:
    """Return a column of finite numbers."""
    from pyarrow import float64, types

    kind = column.type
    numeric = types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind)
    if column.null_count:
        raise bad_cell(path, _location(_first(column.is_null())), name, None)
    if not (numeric or types.is_boolean(kind)):
        raise TableError(
            f"{path}, row 1, column {name!r}: expected a finite number such as 0.5, got "
            f"{column[0].as_py()!r:.60} in a column of type {kind}."
        )
    values = np.asarray(column.cast(float64(), safe=False).to_numpy(), np.float64)
    if not np.isfinite(values).all():
        t = int(np.argmax(~np.isfinite(values)))
        raise bad_cell(path, _location(t), name, float(values[t]))
    return values


def _labels(path: Path, name: str, column: Any) -> list[Hashable]:
    """Return groups as text, integers or booleans; anything else is converted to text."""
    labels = column.to_pylist()
    for t, label in enumerate(labels):
        if label is None or label != label or (isinstance(label, str) and not label.strip()):
            raise bad_cell(path, _location(t), name, "")
    return [label if isinstance(label, str | int) else str(label) for label in labels]


def _first(mask: Any) -> int:
    """Return the index of the first true entry."""
    return int(np.argmax(mask.to_numpy(zero_copy_only=False)))
