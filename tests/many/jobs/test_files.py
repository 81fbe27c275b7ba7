"""A job over files: it resumes, it is killed, and every row is written once."""

import contextlib
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pandas
import pytest

from localarc import ARC
from localarc.many import BadRowError, KeyedStreams, calibrate, run_files
from localarc.serialization import StateError
from many.jobs.files_job import calibrator
from many.keyed_events import scored
from many.settings import keyed_settings

JOB = Path(__file__).with_name("files_job.py")
PATIENCE = 300.0  # seconds; a limit for a job that hangs, not a measurement
USUAL: dict[str, Any] = {"key": "key", "order": "order", "score": "score", "calibrator": ARC(0.1)}


def files(frame: Any, folder: Path, number: int) -> list[Path]:
    folder.mkdir()
    parts = np.array_split(np.arange(len(frame)), number)
    for i, part in enumerate(parts):
        frame.iloc[part].to_parquet(folder / f"{i:03d}.parquet")
    return sorted(folder.iterdir())


def written(folder: Path) -> Any:
    parts = [pandas.read_parquet(path) for path in sorted((folder / "rows").iterdir())]
    return pandas.concat([part for part in parts if len(part)]).sort_values(["key", "order"])


def thresholds(frame: Any, **roles: Any) -> list[float]:
    found = calibrate(frame, **keyed_settings(**roles)).sort_values(["key", "order"])
    return list(found["threshold"])


def test_rows_of_all_shards_are_those_of_one_frame(tmp_path: Path) -> None:
    frame = scored()
    paths = files(frame, tmp_path / "in", 5)
    assert run_files(paths[:2], tmp_path / "job", **keyed_settings(**USUAL, shards=3, jobs=1)) == 2
    assert run_files(paths, tmp_path / "job", **keyed_settings(**USUAL, shards=3, jobs=1)) == 5
    rows = written(tmp_path / "job")
    assert rows["threshold"].tolist() == thresholds(frame, **USUAL)
    assert sorted(rows["when"]) == sorted(frame["when"])
    states = [KeyedStreams.load(tmp_path / "job" / "state" / f"{i}.parquet") for i in range(3)]
    assert sum(len(state.panel) for state in states) == frame["key"].nunique()


def test_csv_and_ndjson_are_read_like_parquet(tmp_path: Path) -> None:
    frame = scored(rows=30).drop(columns="when")
    frame[:10].to_csv(tmp_path / "0.csv", index=False)
    frame[10:20].to_json(tmp_path / "1.ndjson", orient="records", lines=True, double_precision=15)
    frame[20:].to_parquet(tmp_path / "2.parquet")
    paths = [tmp_path / name for name in ("0.csv", "1.ndjson", "2.parquet")]
    run_files(paths, tmp_path / "job", **keyed_settings(**USUAL, jobs=1))
    assert written(tmp_path / "job")["threshold"].to_numpy() == pytest.approx(
        thresholds(frame, **USUAL), abs=1e-9
    )
    (tmp_path / "3.txt").touch()
    with pytest.raises(ValueError, match=r"3\.txt is of no known kind"):
        run_files([*paths, tmp_path / "3.txt"], tmp_path / "job", **keyed_settings(**USUAL, jobs=1))


def test_a_file_without_a_column_is_named(tmp_path: Path) -> None:
    scored().drop(columns="score").to_parquet(tmp_path / "0.parquet")
    with pytest.raises(ValueError, match=r"0\.parquet: the frame has no column 'score'"):
        run_files([tmp_path / "0.parquet"], tmp_path / "job", **keyed_settings(**USUAL, jobs=1))


def test_other_files_shards_and_roles_are_refused(tmp_path: Path) -> None:
    paths = files(scored(), tmp_path / "in", 3)
    run_files(paths[:2], tmp_path / "job", **keyed_settings(**USUAL, jobs=1))
    with pytest.raises(StateError, match=r"the last of which is 001\.parquet"):
        run_files(paths[1:], tmp_path / "job", **keyed_settings(**USUAL, jobs=1))
    with pytest.raises(StateError, match="shards=2, now it is 4"):
        run_files(paths, tmp_path / "job", **keyed_settings(**USUAL, shards=4, jobs=1))
    with pytest.raises(StateError, match="order='order', now it is None"):
        run_files(paths, tmp_path / "job", **keyed_settings(**USUAL | {"order": None}, jobs=1))


def test_a_bad_row_stops_the_job_before_its_file_is_learned(tmp_path: Path) -> None:
    frame = scored()
    frame.loc[45, "score"] = np.nan
    paths = files(frame, tmp_path / "in", 3)
    with pytest.raises(BadRowError, match="bad score"):
        run_files(paths, tmp_path / "job", **keyed_settings(**USUAL, shards=1, jobs=1))
    assert (
        run_files(
            paths, tmp_path / "job", **keyed_settings(**USUAL, shards=1, jobs=1, bad_rows="reject")
        )
        == 3
    )
    assert written(tmp_path / "job")["rejected"].notna().sum() == 1


def test_what_a_killed_shard_was_writing_is_removed_by_the_next_run(tmp_path: Path) -> None:
    paths = files(scored(), tmp_path / "in", 2)
    run_files(paths[:1], tmp_path / "job", **keyed_settings(**USUAL, jobs=1, shards=11))
    for name in ("rows/.00000001-1.parquet.7.partial", "state/.1.parquet.7.partial"):
        (tmp_path / "job" / name).touch()
    (tmp_path / "job/rows/.00000001-11.parquet.7.partial").touch()  # not of a shard of this job
    run_files(paths, tmp_path / "job", **keyed_settings(**USUAL, jobs=1, shards=11))
    left = [path.name for path in (tmp_path / "job").rglob("*.partial")]
    assert left == [".00000001-11.parquet.7.partial"]


def test_killed_again_and_again_every_row_is_written_once_and_bit_equal(tmp_path: Path) -> None:
    frame = scored(keys=40, rows=2000, dimension=1)
    paths = files(frame, tmp_path / "in", 40)
    environment = os.environ | {"PYTHONPATH": str(JOB.parents[2])}
    for reached in (4, 25, 60):  # of 120 files of rows
        job = subprocess.Popen(
            [sys.executable, str(JOB), str(tmp_path)], env=environment, start_new_session=True
        )
        end = time.monotonic() + PATIENCE
        while len(list(tmp_path.glob("job/rows/*.parquet"))) < reached:
            assert job.poll() is None
            assert time.monotonic() < end, "the job did not get there"
            time.sleep(0.002)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(job.pid, signal.SIGKILL)
        job.wait()
    command = [sys.executable, str(JOB), str(tmp_path)]
    subprocess.run(command, env=environment, check=True, timeout=PATIENCE)
    rows = written(tmp_path / "job")
    roles: dict[str, Any] = USUAL | {"features": ["x0"], "calibrator": calibrator()}
    assert len(rows) == len(frame)
    assert rows["threshold"].tolist() == thresholds(frame, **roles)
    alone = KeyedStreams(
        **keyed_settings(
            calibrator=calibrator(), **{k: v for k, v in roles.items() if k != "calibrator"}
        )
    )
    alone.calibrate(frame)
    for i in range(3):
        panel = KeyedStreams.load(tmp_path / "job" / "state" / f"{i}.parquet").panel
        for key in panel.keys:
            assert panel.calibrator(key).state() == alone.panel.calibrator(key).state()
    assert len(paths) == 40
