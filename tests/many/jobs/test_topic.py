"""A job over a topic of librdkafka's mock brokers: a real client, over the wire protocol."""

import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import time
from datetime import timedelta
from pathlib import Path
from typing import Any

import pandas
import pytest

from commands import localarc
from localarc import ARC
from localarc.many import BadRowError, KeyedStreams, calibrate, run_files, run_topic
from localarc.serialization import StateError
from many.jobs.files_job import calibrator
from many.jobs.test_files import USUAL, files, thresholds, written
from many.keyed_events import scored
from many.settings import keyed_settings
from many.test_times import mixed, timed

kafka = pytest.importorskip("confluent_kafka", reason="pip install 'localarc[kafka]'")

JOB = Path(__file__).with_name("topic_job.py")
PATIENCE = 300.0  # seconds; a limit for a job that hangs, not a measurement


class Brokers:
    """Mock brokers, which live as long as the producer that started them."""

    def __init__(self) -> None:
        self._producer = kafka.Producer(
            {"test.mock.num.brokers": 1, "message.max.bytes": 10_000_000}
        )
        brokers = self._producer.list_topics(timeout=30).brokers.values()
        self.servers = ",".join(f"{each.host}:{each.port}" for each in brokers)

    def send(self, frame: Any, topic: str = "scores") -> None:
        """One message per row, all of a key in one partition."""
        for line in frame.to_json(orient="records", lines=True, double_precision=15).splitlines():
            self._producer.produce(topic, value=line, key=json.loads(line)["key"])
        assert self._producer.flush(30) == 0

    def send_bytes(self, value: bytes | None, topic: str) -> None:
        self._producer.produce(topic, value=value, key="a")
        assert self._producer.flush(30) == 0


@pytest.fixture
def brokers() -> Brokers:
    return Brokers()


def plain(**more: Any) -> Any:
    """Events with numbers that JSON keeps."""
    frame = scored(**more).drop(columns="when")
    return frame.round({name: 6 for name in frame.columns if name.startswith(("x", "score"))})


def test_a_topic_is_learned_up_to_its_end_and_continued(brokers: Brokers, tmp_path: Path) -> None:
    frame = plain()
    job: dict[str, Any] = {"servers": brokers.servers, "jobs": 1, "shards": 3, "batch": 7}
    brokers.send(frame[:25])
    assert run_topic("scores", tmp_path / "job", **keyed_settings(**job, **USUAL)) == 25
    assert (
        run_topic("scores", tmp_path / "job", **keyed_settings(**job, **USUAL)) == 25
    )  # nothing is new
    brokers.send(frame[25:])
    assert run_topic("scores", tmp_path / "job", **keyed_settings(**job, **USUAL)) == 60
    rows = written(tmp_path / "job")
    assert rows["threshold"].tolist() == thresholds(frame, **USUAL)
    assert not rows.duplicated(["kafka_partition", "kafka_offset"]).any()


def test_messages_by_time_and_asks_without_scores(brokers: Brokers, tmp_path: Path) -> None:
    frame = mixed(timed(), 3).round({"score": 6})
    frame["when"] = frame["when"].dt.strftime("%Y-%m-%dT%H:%M:%S.%fZ")
    brokers.send(frame)
    roles: dict[str, Any] = {"key": "key", "time": "when", "id": "id", "score": "score"}
    job: dict[str, Any] = {"servers": brokers.servers, "jobs": 1, "calibrator": ARC(0.1)}
    run_topic(
        "scores",
        tmp_path / "job",
        **keyed_settings(**job, **roles, delay=timedelta(days=9), last=True),
    )
    parts = [pandas.read_parquet(path) for path in (tmp_path / "job" / "rows").iterdir()]
    found = pandas.concat([part for part in parts if len(part)]).set_index("id")
    expected = calibrate(frame, **keyed_settings(**roles, calibrator=ARC(0.1))).set_index("id")
    assert found["threshold"].to_dict() == expected["threshold"].to_dict()
    asks = pandas.DataFrame({"key": ["a", "a"], "id": ["1", "2"], "kind": "ask"})
    brokers.send(asks, "asks")
    late: dict[str, Any] = {"key": "key", "kind": "kind", "id": "id", "score": "score"}
    assert run_topic("asks", tmp_path / "asks", **keyed_settings(**job, **late)) == 2


def test_other_topics_and_files_are_refused(brokers: Brokers, tmp_path: Path) -> None:
    brokers.send(plain(rows=5))
    job: dict[str, Any] = {"servers": brokers.servers, "jobs": 1, **USUAL}
    run_topic("scores", tmp_path / "job", **keyed_settings(**job))
    with pytest.raises(StateError, match="a job over topic 'scores', now it is topic 'others'"):
        run_topic("others", tmp_path / "job", **keyed_settings(**job))
    paths = files(scored(), tmp_path / "in", 1)
    with pytest.raises(StateError, match="a job over a topic, not over files"):
        run_files(paths, tmp_path / "job", **keyed_settings(**USUAL, jobs=1))


BAD = [
    (b"{", "is not a JSON object"),
    (b"[1]", "is not a JSON object"),
    (None, "is not a JSON object"),
    (b"\xff", "is not a JSON object"),
    (b'{"key": "a", "note": "\\ud800"}', "is not a JSON object"),
    (b"[" * 100_000, "is not a JSON object"),
    (b'{"key": "a", "order": 1, "Loss": 1}', "has a field 'Loss', the name of an added column"),
    (b'{"key": "a", "kafka_offset": 1}', "has a field 'kafka_offset', the name of an added"),
    (b'{"key": 1.5}', "has 1.5 in the field 'key', which must be text or an integer"),
    (b'{"key": "a", "order": true}', "has True in the field 'order', which must be an integer"),
    (b'{"key": "a", "order": 1, "score": "1"}', "has '1' in the field 'score', which must be a n"),
]


@pytest.mark.parametrize(("value", "says"), BAD, ids=[str(value)[:40] for value, _ in BAD])
def test_a_message_that_cannot_be_a_row_ends_the_job_with_its_partition_and_offset(
    brokers: Brokers, tmp_path: Path, value: bytes | None, says: str
) -> None:
    good = plain(rows=5)
    brokers.send(good)
    brokers.send_bytes(value, "scores")
    place = rf"message \d+ of partition \d+ of topic 'scores' {re.escape(says)}"
    with pytest.raises(BadRowError, match=place):
        run_topic(
            "scores", tmp_path / "job", **keyed_settings(servers=brokers.servers, jobs=1, **USUAL)
        )
    assert not list((tmp_path / "job" / "state").iterdir())


def test_bad_messages_are_rejected_like_bad_rows_and_the_others_are_learned(
    brokers: Brokers, tmp_path: Path
) -> None:
    frame = plain()
    job: dict[str, Any] = {"servers": brokers.servers, "jobs": 1, "bad_rows": "reject", **USUAL}
    brokers.send(frame[:25])
    for value, _ in BAD:
        brokers.send_bytes(value, "scores")
    brokers.send(frame[25:])
    assert run_topic("scores", tmp_path / "job", **keyed_settings(**job)) == len(frame) + len(BAD)
    rows = pandas.concat(
        [pandas.read_parquet(path) for path in (tmp_path / "job" / "rows").iterdir()]
    )
    good = rows[rows["rejected"].isna()].set_index(["key", "order"])["threshold"]
    expected = calibrate(frame, **keyed_settings(**USUAL)).set_index(["key", "order"])["threshold"]
    assert good.to_dict() == expected.to_dict()
    rules = rows["rejected"].dropna()
    assert rules.value_counts().to_dict() == {
        "bad message": 8,
        "missing key": 1,
        "bad order": 1,
        "bad score": 1,
    }
    assert (rows["kafka_topic"] == "scores").all()
    assert not rows.duplicated(["kafka_partition", "kafka_offset"]).any()


def test_a_field_of_the_wrong_type_consumes_its_order(brokers: Brokers, tmp_path: Path) -> None:
    for line in (b'{"key": 7, "order": 1, "score": "?"}', b'{"key": "7", "order": 2, "score": 1}'):
        brokers.send_bytes(line, "scores")
    job: dict[str, Any] = {"servers": brokers.servers, "jobs": 1, "bad_rows": "reject", **USUAL}
    assert run_topic("scores", tmp_path / "job", **keyed_settings(**job)) == 2
    rows = written(tmp_path / "job").sort_values("order")
    assert rows["rejected"].fillna("").tolist() == ["bad score", ""]
    assert rows["key"].tolist() == ["7", "7"]


def test_fields_without_a_role_pass_whatever_they_hold(brokers: Brokers, tmp_path: Path) -> None:
    deep = "[" * 50 + "]" * 50
    notes = ["5", '"text"', "{}", '{"a": 1}', deep, '{"a": "b"}', "null", "[1]"]
    roles: dict[str, Any] = {"key": "key", "time": "when", "score": "score"}
    for i, note in enumerate(notes):
        when = f'"2026-01-01T00:00:0{i}{".5" if i % 2 else ""}{"Z" if i % 3 else ""}"'
        values = "[1" + ",1" * (600_000 if i == 7 else 0) + "]"
        fields = f'"when": {when}, "score": {i}, "note": {note}, "values": {values}'
        line = f'{{"key": "a", {fields}}}'
        brokers.send_bytes(line.encode(), "scores")
    job: dict[str, Any] = {"servers": brokers.servers, "jobs": 1, "calibrator": ARC(0.1)}
    job |= roles | {"delay": timedelta(seconds=5)}
    for batch in (1, 3, 100):
        folder = tmp_path / str(batch)
        assert run_topic("scores", folder, **keyed_settings(**job, batch=batch, last=True)) == len(
            notes
        )
        parts = [pandas.read_parquet(path) for path in sorted((folder / "rows").iterdir())]
        rows = pandas.concat([part for part in parts if len(part)])
        assert rows["score"].tolist() == list(range(len(notes)))
        assert rows["values"].map(len).tolist() == [1] * 7 + [600_001]
        assert rows["note"].fillna("").str[:4].tolist() == [
            *("5", "text", "{}", '{"a"', "[[[[", '{"a"', "", "[1]")
        ]


def test_the_command_learns_a_topic(brokers: Brokers, tmp_path: Path) -> None:
    brokers.send(plain(rows=5))
    columns = ("--key", "key", "--score", "score", "--alpha", 0.1, "--jobs", 1)
    job = ("keyed", "topic", "scores", *columns, "--out", tmp_path / "job")
    result = localarc(*job, "--servers", brokers.servers)
    assert result.stdout.startswith("5 messages learned"), result.stderr


@pytest.mark.slow
def test_killed_again_and_again_every_message_is_learned_once(
    brokers: Brokers, tmp_path: Path
) -> None:
    frame = plain(keys=30, rows=1200, dimension=1)
    brokers.send(frame)
    environment = os.environ | {"PYTHONPATH": str(JOB.parents[2])}
    command = [sys.executable, str(JOB), str(tmp_path), brokers.servers]
    for reached in (3, 20, 35):  # of 60 files of rows
        job = subprocess.Popen(command, env=environment, start_new_session=True)
        end = time.monotonic() + PATIENCE
        while len(list(tmp_path.glob("job/rows/*.parquet"))) < reached:
            assert job.poll() is None
            assert time.monotonic() < end, "the job did not get there"
            time.sleep(0.002)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(job.pid, signal.SIGKILL)
        job.wait()
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
    for path in (tmp_path / "job" / "state").iterdir():
        panel = KeyedStreams.load(path).panel
        for key in panel.keys:
            assert panel.calibrator(key).state() == alone.panel.calibrator(key).state()
