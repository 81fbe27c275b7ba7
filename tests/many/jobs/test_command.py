"""`localarc keyed`: jobs from the command line."""

from pathlib import Path

import pandas
import pytest

from commands import assert_rejected, localarc
from localarc import ARC, LARC, RBF, AutoLARC
from localarc.many import Columns, calibrate
from many.jobs.test_files import files, written
from many.keyed_events import scored
from many.test_times import mixed, timed

COLUMNS = ("--key", "key", "--score", "score", "--alpha", 0.1, "--jobs", 1)


@pytest.mark.parametrize(
    ("options", "calibrator"),
    [
        ((), ARC(0.1)),
        (("--method", "arc", "--rate", "0.5"), ARC(0.1, 0.5)),
        (("--method", "larc", "--length-scale", "0.5"), LARC(0.1, RBF(0.5), 1.0)),
        (("--method", "auto"), AutoLARC(0.1)),
    ],
    ids=["default", "ARC", "L-ARC", "AutoLARC"],
)
def test_files_are_learned_as_the_library_does_and_continued(
    options: tuple[str, ...], calibrator: ARC | LARC | AutoLARC, tmp_path: Path
) -> None:
    frame = scored(dimension=1)
    paths, out = files(frame, tmp_path / "in", 3), tmp_path / "job"
    command = ("keyed", "files", *paths[:2], *COLUMNS, "--features", "x0", "--order", "order")
    first = localarc(*command, *options, "--out", out)
    assert first.status == 0, first.stderr
    assert first.stdout == f"2 files learned; rows are in {out / 'rows'}.\n"
    again = localarc(*command[:4], paths[2], *command[4:], *options, "--out", out, "--quiet")
    assert (again.status, again.stdout) == (0, "")
    expected = calibrate(
        frame, Columns(key="key", order="order", features=["x0"], score="score"), calibrator
    )
    by_order = expected.sort_values(["key", "order"])["threshold"].tolist()
    assert written(out)["threshold"].tolist() == by_order


def test_times_limits_and_bad_rows_reach_the_job(tmp_path: Path) -> None:
    frame = mixed(timed(), 3)
    paths, out = files(frame, tmp_path / "in", 3), tmp_path / "job"
    times = ("--time", "when", "--id", "id", "--delay", 600, "--ttl", 7200, "--last")
    result = localarc(
        *("keyed", "files", *paths, *COLUMNS, *times, "--bad-rows", "reject", "--out", out)
    )
    assert result.status == 0, result.stderr
    parts = [pandas.read_parquet(path) for path in (out / "rows").iterdir()]
    found = pandas.concat([part for part in parts if len(part)])
    assert len(found) == len(frame)
    assert set(found["rejected"].dropna()) == {"late"}


def test_what_cannot_work_is_one_line(tmp_path: Path) -> None:
    paths, out = files(scored(), tmp_path / "in", 1), ("--out", tmp_path / "job")
    usual = ("keyed", "files", *paths, *COLUMNS)
    assert_rejected(localarc(*usual, "--time", "when", *out), "time= requires delay=")
    assert_rejected(localarc(*usual, "--length-scale", "1", *out), "--method larc")
    assert_rejected(localarc(*usual, "--method", "auto", "--rate", "1", *out), "arc and larc")
    assert_rejected(localarc("keyed", "files", tmp_path / "no.csv", *COLUMNS, *out), "no.csv")
