"""CSV files without quotes, many times faster with pyarrow; unusual files are left alone.

This reader reports no errors: what it does not accept, the reader of `csv.py` reads or rejects,
with row, line and column.
"""

from __future__ import annotations

import mmap
from collections.abc import Hashable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from localarc.validation import FloatArray


def read_plain_csv(
    path: Path, wanted: Sequence[str], group: str | None
) -> tuple[dict[str, FloatArray], list[Hashable] | None] | None:
    """Numbers by column and the labels of the group column; None unless the file is plain."""
    try:
        from pyarrow import ArrowException, csv, float64, string
    except ImportError:
        return None
    if not _is_plain(path, [*wanted, *([group] if group else [])]):
        return None
    kinds: dict[str, Any] = dict.fromkeys(wanted, float64())
    kinds |= {group: string()} if group and group not in kinds else {}
    convert = csv.ConvertOptions(column_types=kinds, include_columns=[*kinds], null_values=[])
    try:
        table = csv.read_csv(path, convert_options=convert)
    except (ArrowException, UnicodeDecodeError):
        return None
    numbers = {name: np.asarray(table.column(name).to_numpy(), np.float64) for name in wanted}
    if not table.num_rows or not all(np.isfinite(part).all() for part in numbers.values()):
        return None
    if group is None:
        return numbers, None
    if group in numbers:
        return None  # its text is the label, not its number
    labels = table.column(group).to_pylist()
    return (numbers, labels) if all(label.strip() for label in labels) else None


def _is_plain(path: Path, names: Sequence[str]) -> bool:
    """Whether the file has no quotes, and one column of each name."""
    with path.open("rb") as file:
        if not file.read(1):
            return False
        with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
            if content.find(b'"') >= 0:
                return False
            first = content.readline().decode("utf-8-sig", errors="replace")
    header = first.splitlines()[0].split(",") if first.strip() else []
    return len({*header}) == len(header) and {*names} <= {*header}
