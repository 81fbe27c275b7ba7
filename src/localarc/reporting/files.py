"""Result files: all files of a run are written, or none."""

from __future__ import annotations

import contextlib
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
from localarc.reporting.neighbourhood import default_kernel
from localarc.streams import Stream
from localarc.tables.csv import write_csv
from localarc.tables.parquet import write_parquet


class OutputError(ValueError):
    """Output that cannot be written, with the reason.

    Examples
    --------
    >>> with staged("/dev/null"):
    ...     pass
    Traceback (most recent call last):
    localarc.reporting.files.OutputError: /dev/null is a file, not a folder: pass another folder.
    """


@contextlib.contextmanager
def staged(folder: str | os.PathLike[str], outputs: Collection[str] = ()) -> Iterator[Path]:
    """Yield a temporary folder, whose files move to `folder` unless an error occurs.

    Parameters
    ----------
    folder : str or path-like
        Final folder; created if necessary. It changes only at the very end.
    outputs : collection of str, optional
        Names of the files that a run can write. Those that an earlier run left in `folder`, and
        this one did not write, are removed, since they would contradict the new results. Other
        files stay.

    Yields
    ------
    Path
        The temporary folder.

    Examples
    --------
    >>> with tempfile.TemporaryDirectory() as home:
    ...     with staged(f"{home}/run") as folder:
    ...         _ = (folder / "report.html").write_text("...")
    ...     os.listdir(f"{home}/run")
    ['report.html']
    """
    target = Path(folder)
    home = next(path for path in (target, *target.absolute().parents) if path.exists())
    if not home.is_dir():
        raise OutputError(f"{home} is a file, not a folder: pass another folder.")
    try:
        temporary = Path(tempfile.mkdtemp(prefix=".localarc-", dir=home))
    except OSError as error:
        raise OutputError(f"cannot write to {target}: {error.strerror}.") from error
    try:
        yield temporary
        _move(temporary, target, outputs)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def _move(temporary: Path, target: Path, outputs: Collection[str]) -> None:
    """Move all files to the final folder, and remove those of an earlier run."""
    files = sorted(temporary.iterdir())
    taken = [file.name for file in files if (target / file.name).is_dir()]
    if taken:
        raise OutputError(f"{target / taken[0]} is a folder: pass another output folder.")
    try:
        target.mkdir(parents=True, exist_ok=True)
        for file in files:
            file.replace(target / file.name)
        for name in set(outputs) - {file.name for file in files}:
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
    """Write record.csv (or .parquet), summary.json and report.html.

    Parameters
    ----------
    folder : str or path-like
        Existing folder to write to.
    stream : Stream
        The stream that was replayed.
    runs : sequence of Run
        One per method, the main method first. The record has one row per round; with several runs,
        the column `method` distinguishes them.
    kernel : Kernel, optional
        Defines neighbourhoods. Default: the kernel of the first L-ARC, else a Gaussian kernel with
        about a tenth of the rounds in a typical neighbourhood.
    table : {"csv", "parquet"}, default "csv"
        File format of the record.

    Returns
    -------
    list of Assessment
        The results that the files report.

    Examples
    --------
    >>> from localarc import ARC, replay
    >>> from localarc.streams import heteroscedastic
    >>> stream, cal = heteroscedastic(100, seed=0), ARC(alpha=0.1)
    >>> run = Run("ARC", cal, replay(cal, stream.X, stream.curves))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = write_results(folder, stream, [run])
    ...     sorted(os.listdir(folder))
    ['record.csv', 'report.html', 'summary.json']
    """
    target = Path(folder)
    chosen = kernel or default_kernel(stream, [run.calibrator for run in runs])
    assessments = [assess(stream, run, chosen) for run in runs]
    check_table_format(table)
    writers = {"csv": write_csv, "parquet": write_parquet}
    writers[table](target / f"record.{table}", _columns(runs))
    text = json.dumps(summary(stream, assessments), indent=2, allow_nan=False, ensure_ascii=False)
    (target / "summary.json").write_text(text + "\n", encoding="utf-8")
    (target / "report.html").write_text(render(stream, assessments), encoding="utf-8")
    return assessments


def _columns(runs: Sequence[Run]) -> dict[str, list[Any]]:
    """Return the columns of all records, one below the other, with methods if there are several."""
    methods = {"method": [run.name for run in runs for _ in range(len(run.record))]}
    tables = [run.record.columns() for run in runs]
    columns = {name: [v for table in tables for v in _list(table[name])] for name in tables[0]}
    return methods | columns if len(runs) > 1 else columns


def _list(values: Any) -> list[Any]:
    """Return Python values, with None for NaN."""
    known = values if isinstance(values, list) else values.tolist()
    return [None if isinstance(v, float) and math.isnan(v) else v for v in known]


def check_input_survives(file: Path, folder: Path, outputs: Collection[str]) -> None:
    """Raise if writing to `folder` would replace or remove the input file."""
    if file.name in outputs and file.resolve().parent == folder.resolve():
        raise OutputError(f"{file} would be replaced by the output: pass another output folder.")


def check_table_format(table: str) -> None:
    """Raise, before a long run, if a file format cannot be written."""
    if table == "parquet":
        try:
            import pyarrow  # noqa: F401
        except ImportError as error:
            raise OutputError(
                "writing record.parquet requires pyarrow: pip install 'localarc[parquet]'"
            ) from error
