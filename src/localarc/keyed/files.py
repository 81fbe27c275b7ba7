"""Files of events as Arrow tables: Parquet, CSV and newline-delimited JSON."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from localarc.panel.table import arrow


def read_events(path: Path) -> Any:
    """The rows of a file, by the end of its name; raises ValueError for other files."""
    pa = arrow()
    try:
        if path.suffix == ".parquet":
            from pyarrow import parquet

            return parquet.read_table(path)
        if path.suffix == ".csv":
            from pyarrow import csv

            return csv.read_csv(path)
        if path.suffix in (".ndjson", ".jsonl"):
            from pyarrow import json

            return json.read_json(path)
    except pa.ArrowException as error:
        raise ValueError(f"{path} cannot be read: {str(error).splitlines()[0]}") from error
    raise ValueError(
        f"{path} is of no known kind. Files of events end in .parquet, .csv, .ndjson or .jsonl."
    )
