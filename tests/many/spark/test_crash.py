"""A job that is killed in the middle of a batch loses nothing and repeats nothing."""

import contextlib
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from localarc import Panel
from localarc.many.spark import export_state
from many.spark.crash_job import calibrator
from many.spark.streams import alone, keyed, write

JOB = Path(__file__).with_name("crash_job.py")
PATIENCE = 600.0  # seconds; a limit for a job that hangs, not a measurement
FILES, ORDERS_A_FILE = 8, 5


def start(folder: Path) -> subprocess.Popen[bytes]:
    tests = str(JOB.parents[2])
    path = os.pathsep.join([tests, *filter(None, [os.environ.get("PYTHONPATH")])])
    with (folder / "log").open("ab") as log:
        return subprocess.Popen(
            [sys.executable, "-W", "ignore", str(JOB), str(folder)],
            env=os.environ | {"PYTHONPATH": path},
            stdout=log,
            stderr=log,
            start_new_session=True,  # so that the tree can be found again: Java, its workers
        )


def tree(session: int) -> list[int]:
    """The processes of a session that live."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue  # it ended meanwhile
            if int(fields[3]) == session and fields[0] != "Z":
                found.append(int(entry.name))
    return found


def kill_in_the_middle(folder: Path, order: int) -> None:
    """Run until a row of that order has been learned, then kill everything at once."""
    held = folder / "held"
    held.unlink(missing_ok=True)
    (folder / "hold").write_text(str(order))
    job = start(folder)
    end = time.monotonic() + PATIENCE
    try:
        while not held.exists():
            assert job.poll() is None, (folder / "log").read_text()[-4000:]
            assert time.monotonic() < end, "the job did not reach the batch"
            time.sleep(0.05)
    finally:
        while alive := tree(job.pid):
            for process in alive:
                with contextlib.suppress(ProcessLookupError):  # it ended meanwhile
                    os.kill(process, signal.SIGKILL)
        job.wait()


def batches(folder: Path, log: str) -> list[int]:
    names = (folder / "checkpoint" / log).iterdir()
    return sorted(int(each.name) for each in names if each.name.isdigit())


def test_killed_twice_every_row_comes_out_once_and_every_key_is_bit_equal(
    spark: Any, tmp_path: Path
) -> None:
    events = keyed(100, 40, dimension=1)
    write(events, tmp_path / "in", FILES)
    for order in (12, 28):
        kill_in_the_middle(tmp_path, order)
        batch = (order - 1) // ORDERS_A_FILE
        assert batches(tmp_path, "offsets")[-1] == batch  # it had begun ...
        assert batches(tmp_path, "commits")[-1] == batch - 1  # ... and not ended
    (tmp_path / "hold").unlink()
    assert start(tmp_path).wait(PATIENCE) == 0, (tmp_path / "log").read_text()[-4000:]
    assert batches(tmp_path, "commits") == list(range(FILES))

    calibrators, thresholds = alone(events, calibrator())
    rows = spark.read.parquet(str(tmp_path / "out")).collect()
    assert len(rows) == len(events)
    assert {(row.key, row.order): row.threshold for row in rows} == thresholds
    saved = Panel.load(export_state(tmp_path / "checkpoint", tmp_path / "saved.parquet"))
    assert len(saved) == 100
    for key, one in calibrators.items():
        assert saved.calibrator(key).state() == one.state()
