"""Files of events as Arrow tables: Parquet, CSV and newline-delimited JSON."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from localarc.many.columns import Roles
from localarc.many.jobs.job import Batch
from localarc.many.panel.table import arrow
from localarc.serialization import StateError


@dataclass(frozen=True)
class Files:
    """Files one after another; the place is the list of the names that were learned."""

    paths: tuple[Path, ...]

    def start(self) -> dict[str, Any]:
        """No file."""
        return {"files": []}

    def check(self, place: dict[str, Any], folder: Path) -> None:
        """Raise StateError unless the files begin with those that were learned."""
        if "files" not in place:
            raise StateError(
                f"{folder} is a job over a topic, not over files. Name another folder."
            )
        names = place["files"]
        if names != [path.name for path in self.paths[: len(names)]]:
            raise StateError(
                f"{folder} has learned {len(names)} files, the last of which is {names[-1]}. "
                "Name these first, in the same order, and then the new ones."
            )

    def done(self, place: dict[str, Any]) -> int:
        """How many files were learned."""
        return len(place["files"])

    def batches(self, place: dict[str, Any], roles: Roles) -> Iterator[Batch]:
        """Each of the other files."""
        names = place["files"]
        for path in self.paths[len(names) :]:
            names = [*names, path.name]
            yield Batch(read_events(path), {"files": names})


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
