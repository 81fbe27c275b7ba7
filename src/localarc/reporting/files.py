"""Results: the files that a run leaves in a folder, all of them or none."""

from __future__ import annotations

import contextlib
import csv
import json
import math
import os
import shutil
import tempfile
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import Any

from localarc.kernels import Kernel
from localarc.reporting.assessment import Assessment, Run, assess, summary
from localarc.reporting.html import render
from localarc.streams import Stream


class OutputError(ValueError):
    """A folder that cannot be written to."""


@contextlib.contextmanager
def staged(folder: str | os.PathLike[str], own: Collection[str] = ()) -> Iterator[Path]:
    """A hidden folder to write in; its files move to `folder` at the end, or vanish on an error.

    Files of the names `own` that an earlier run left in `folder`, and this one did not write, are
    removed: they would belie the new ones. What else lies in `folder` stays, and so does all of it
    until the very end.
    """
    target = Path(folder)
    home = next(each for each in (target, *target.absolute().parents) if each.exists())
    if not home.is_dir():
        raise OutputError(f"{home} is a file, not a folder: give another folder to write to.")
    try:
        place = Path(tempfile.mkdtemp(prefix=".localarc-", dir=home))
    except OSError as error:
        raise OutputError(f"cannot write to {target}: {error.strerror}.") from error
    try:
        yield place
        _move(place, target, own)
    finally:
        shutil.rmtree(place, ignore_errors=True)


def _move(place: Path, target: Path, own: Collection[str]) -> None:
    files = sorted(place.iterdir())
    taken = [file.name for file in files if (target / file.name).is_dir()]
    if taken:
        raise OutputError(f"{target / taken[0]} is a folder: give another folder to write to.")
    try:
        target.mkdir(parents=True, exist_ok=True)
        for file in files:
            file.replace(target / file.name)
        for name in set(own) - {file.name for file in files}:
            if (target / name).is_file():
                (target / name).unlink()
    except OSError as error:
        raise OutputError(f"cannot write to {target}: {error.strerror}.") from error


def write_results(
    folder: str | os.PathLike[str],
    stream: Stream,
    runs: Sequence[Run],
    kernel: Kernel | None = None,
    table: str = "csv",
) -> list[Assessment]:
    """Write record.csv (or .parquet), summary.json and report.html; return what they report.

    The record has one row a round; with several runs, one after another, told apart by `method`.
    """
    place = Path(folder)
    assessments = [assess(stream, run, kernel) for run in runs]
    writers = {"csv": _write_csv, "parquet": _write_parquet}
    writers[table](place / f"record.{table}", runs)
    text = json.dumps(summary(stream, assessments), indent=2, allow_nan=False, ensure_ascii=False)
    (place / "summary.json").write_text(text + "\n", encoding="utf-8")
    (place / "report.html").write_text(render(stream, assessments), encoding="utf-8")
    return assessments


def _columns(run: Run, several: bool) -> dict[str, list[Any]]:
    method = {"method": [run.name] * len(run.record)} if several else {}
    columns = {name: _list(values) for name, values in run.record.columns().items()}
    return method | columns


def _list(values: Any) -> list[Any]:
    """Plain values, None for what is not known."""
    known = values if isinstance(values, list) else values.tolist()
    return [None if isinstance(v, float) and math.isnan(v) else v for v in known]


def _write_csv(path: Path, runs: Sequence[Run]) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        for i, run in enumerate(runs):
            columns = _columns(run, len(runs) > 1)
            if i == 0:
                writer.writerow(columns)
            writer.writerows(zip(*columns.values(), strict=True))


def _write_parquet(path: Path, runs: Sequence[Run]) -> None:
    check_table("parquet")
    import pyarrow
    import pyarrow.parquet

    tables = [pyarrow.table(_columns(run, len(runs) > 1)) for run in runs]
    pyarrow.parquet.write_table(pyarrow.concat_tables(tables), path)


def check_apart(file: Path, folder: Path, own: Collection[str]) -> None:
    """Refuse to write where a run would replace or remove the very file that it reads."""
    if file.name in own and file.resolve().parent == folder.resolve():
        raise OutputError(f"{file} would be replaced by what is written: give another folder.")


def check_table(table: str) -> None:
    """Say before a long run, rather than after it, that a kind of table cannot be written."""
    if table == "parquet":
        try:
            import pyarrow  # noqa: F401
        except ImportError as error:
            raise OutputError(
                "writing record.parquet takes pyarrow: pip install 'localarc[parquet]'"
            ) from error
