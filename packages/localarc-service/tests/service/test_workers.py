"""Several workers are one service: who owns a stream, and what all of them answer together."""

from __future__ import annotations

import contextlib
import json
from collections import Counter
from functools import cache
from pathlib import Path
from typing import Any, cast

import msgspec
import pytest
from click.testing import CliRunner

from localarc.cli import main
from localarc_client.wire.config import ArcConfig
from localarc_client.wire.predictions import FeedbackRequest, PredictRequest
from localarc_client.wire.status import Ready
from localarc_client.wire.workers import owner_of
from localarc_service.access.tokens import Tokens
from localarc_service.api.stream_list import merge, part, streams
from localarc_service.app_state import AppState
from localarc_service.limits import Limits
from localarc_service.metrics import Metrics
from localarc_service.storage.store import EventStore
from localarc_service.streams.manager import StreamManager
from localarc_service.workers import layout, merging
from localarc_service.workers.channel import Answer
from localarc_service.workers.exposition import sum_texts
from localarc_service.workers.rebalance import rebalance
from localarc_service.workers.worker import share
from service.service_in_thread import Clock

NAMES = [f"stream-{number}" for number in range(23)]


@cache  # tests only read them
def managers(workers: int) -> tuple[StreamManager, list[StreamManager]]:
    """A service on its own, and the same streams on several workers."""
    alone = StreamManager(Limits(), Clock(1_000.0))
    apart = [StreamManager(Limits(), Clock(1_000.0)) for _ in range(workers)]
    for number, name in enumerate(NAMES):
        for manager in (alone, apart[owner_of(name, workers)]):
            manager.create(name, ArcConfig(alpha=0.1, features=0))
            for t in range(60 * (number % 4)):
                manager.predict(name, PredictRequest(id=f"p{t}"))
                loss = float(t % 10 < 2 * (number % 4))
                manager.feedback(name, f"p{t}", FeedbackRequest(loss=loss))
    return alone, apart


# ---- ownership -------------------------------------------------------------------------------


def test_the_owner_of_a_stream_never_changes() -> None:
    assert [owner_of(name, 4) for name in ("demand", "parcels", "mail", "süß", "")] == [
        0,
        3,
        0,
        3,
        0,
    ]


def test_workers_own_about_the_same_number_of_streams() -> None:
    for workers in (2, 3, 8):
        counts = Counter(owner_of(f"load-{number}", workers) for number in range(4_000))
        assert all(0.8 < workers * counts[index] / 4_000 < 1.2 for index in range(workers))


def test_another_number_of_workers_is_refused_in_one_sentence(tmp_path: Path) -> None:
    layout.use(tmp_path, 2)
    layout.use(tmp_path, 2)
    with pytest.raises(ValueError, match=r"holds the streams of 2 worker\(s\), not of 3: pass"):
        layout.use(tmp_path, 3)
    with pytest.raises(ValueError, match="localarc rebalance"):
        layout.use(tmp_path, 1)


def test_a_folder_of_one_process_is_not_given_to_workers(tmp_path: Path) -> None:
    EventStore(tmp_path).close()
    layout.use(tmp_path, 1)
    with pytest.raises(ValueError, match="holds the streams of 1 worker"):
        layout.use(tmp_path, 2)
    assert not (tmp_path / layout.FILE_NAME).exists()


def test_a_damaged_number_of_workers_is_named(tmp_path: Path) -> None:
    (tmp_path / layout.FILE_NAME).write_text("{")
    with pytest.raises(ValueError, match=r"workers.json cannot be read: .* worker-0, worker-1"):
        layout.store_folders(tmp_path)


def test_workers_share_the_limits_of_connections_and_memory() -> None:
    limits = share(Limits(connections=101, connections_per_address=7, memory_bytes=900), 3)
    assert (limits.connections, limits.connections_per_address) == (34, 3)
    assert (limits.memory_bytes, limits.streams) == (300, Limits().streams)


# ---- the list --------------------------------------------------------------------------------


@pytest.mark.parametrize("query", [{}, {"sort": "worst"}, {"search": "1"}, {"status": "broken"}])
@pytest.mark.parametrize("workers", [2, 3])
def test_every_page_of_the_list_is_that_of_a_single_process(
    workers: int, query: dict[str, Any]
) -> None:
    alone, apart = managers(workers)

    def page(**more: Any) -> Any:
        expected = streams(alone, **query, **more)
        assert merge([part(each, **query, **more) for each in apart]) == expected
        return expected

    assert page().found > 1  # or there would be nothing to put in order
    for limit in (1, 4, 100):
        found = page(limit=limit)
        while found.next is not None:
            found = page(limit=limit, cursor=found.next)
        while found.previous is not None:
            found = page(limit=limit, cursor=found.previous)
    last = page(limit=1)
    assert page(cursor=last.next).first == 1
    assert page(cursor=page(cursor=last.next).previous).streams == last.streams


def test_a_list_without_a_worker_is_an_error_not_a_shorter_list() -> None:
    _, apart = managers(2)
    good = Answer(0, 200, [], msgspec.json.encode(part(apart[0])))
    down = Answer(0, 503, [(b"retry-after", b"1")], b"{}")
    assert merging.stream_list([good, good]).status == 200
    assert merging.stream_list([good, down]).status == 503
    assert (b"retry-after", b"1") in merging.stream_list([good, down]).headers


# ---- health and metrics ----------------------------------------------------------------------


def answer(body: Any, status: int = 200) -> Answer:
    return Answer(0, status, [], msgspec.json.encode(body))


def test_the_service_is_ready_when_all_workers_are() -> None:
    one, two = Ready(True, "ready.", 3, 1, 1), Ready(True, "ready.", 4, 0, 2)
    made = merging.ready([answer(one), answer(two)])
    assert made.status == 200
    assert json.loads(made.body) == {
        "ready": True,
        "detail": "ready.",
        "streams": 7,
        "read_only": 1,
        "quarantined": 3,
    }
    waiting = Ready(False, "the event log is being replayed.", 0, 0)
    made = merging.ready([answer(one), answer(waiting, 503)])
    assert made.status == 503
    expected = "1 of 2 workers are ready: the event log is being replayed."
    assert json.loads(made.body)["detail"] == expected
    made = merging.ready([answer(one), answer({"detail": "starting"}, 503)])
    assert json.loads(made.body)["detail"] == "1 of 2 workers are ready: worker 1 is starting."
    standby = Ready(False, "standby: another process serves these streams.", 0, 0)
    made = merging.ready([answer(standby, 503), answer({"detail": "starting"}, 503)])
    assert json.loads(made.body)["detail"] == f"{standby.detail} worker 1 is starting."
    made = merging.ready([answer(standby, 503), answer(standby, 503)])
    assert json.loads(made.body)["detail"] == standby.detail


def values(text: bytes) -> dict[str, float]:
    lines = [line for line in text.decode().splitlines() if not line.startswith("#")]
    return {line.rpartition(" ")[0]: float(line.rpartition(" ")[2]) for line in lines}


def test_metrics_of_workers_are_added_up() -> None:
    one, two = Metrics(), Metrics()
    one.count_request("/a", "GET", 200, 0.003)
    two.count_request("/a", "GET", 200, 0.3)
    two.count_request("/b", "GET", 404, 0.3)
    one.replay_seconds.set(3.0)
    two.replay_seconds.set(2.0)
    texts = [one.text(True, 2).decode(), two.text(True, 3).decode()]
    found = values(sum_texts(texts, 2))
    assert found['localarc_requests_total{method="GET",route="/a",status="200"}'] == 2.0
    assert found['localarc_requests_total{method="GET",route="/b",status="404"}'] == 1.0
    assert found['localarc_request_seconds_bucket{le="0.005",route="/a"}'] == 1.0
    assert found['localarc_request_seconds_bucket{le="+Inf",route="/a"}'] == 2.0
    assert (found["localarc_subscribers"], found["localarc_replay_seconds"]) == (5.0, 3.0)
    assert (found["localarc_ready"], found["localarc_workers"]) == (1.0, 2.0)


def test_metrics_have_one_group_of_lines_per_metric() -> None:
    one, two = Metrics(), Metrics()
    two.count_request("/b", "GET", 404, 0.3)
    text = sum_texts([one.text(True, 0).decode(), two.text(True, 0).decode()], 2).decode()
    described = [line.split()[2] for line in text.splitlines() if line.startswith("# TYPE")]
    assert len(described) == len(set(described))
    parser = pytest.importorskip("prometheus_client.parser")
    assert len(list(parser.text_string_to_metric_families(text))) == len(described)


def test_metrics_say_that_a_worker_is_missing() -> None:
    found = values(sum_texts([Metrics().text(True, 0).decode()], 2))
    assert (found["localarc_ready"], found["localarc_workers_running"]) == (0.0, 1.0)


def series(*rows: tuple[str, str, str]) -> str:
    lines = [
        line
        for stream, group, state in rows
        for line in (
            f'localarc_stream_status{{group="{group}",status="ok",stream="{stream}"}} '
            f"{float(state == 'ok')}",
            f'localarc_stream_status{{group="{group}",status="broken",stream="{stream}"}} '
            f"{float(state == 'broken')}",
        )
    ]
    risks = [f'localarc_stream_risk{{group="{g}",stream="{s}"}} 0.1' for s, g, _ in rows]
    left_out = "# HELP localarc_stream_metrics_left_out -\nlocalarc_stream_metrics_left_out 1.0"
    ready = "# HELP localarc_ready -\nlocalarc_ready 1.0"
    head = "# HELP localarc_stream_status -", "# HELP localarc_stream_risk -"
    return "\n".join([ready, head[0], *lines, head[1], *risks, left_out]) + "\n"


def test_metrics_by_name_keep_the_worst_streams_of_all_workers() -> None:
    texts = [
        series(("a", "", "ok"), ("a", "x", "ok")),
        series(("b", "", "ok"), ("b", "y", "broken")),
    ]
    found = values(sum_texts(texts, 2, stream_series=3))
    risks = {key for key in found if key.startswith("localarc_stream_risk")}
    assert risks == {
        f'localarc_stream_risk{{group="{group}",stream="{stream}"}}'
        for stream, group in (("a", ""), ("b", ""), ("b", "y"))
    }
    assert found["localarc_stream_metrics_left_out"] == 3.0  # two, and one more


# ---- batches ---------------------------------------------------------------------------------


def test_results_of_a_batch_have_the_order_of_its_operations() -> None:
    names = [NAMES[k] for k in (5, 1, 1, 7, 2, 5)]
    operations = [{"op": "predict", "stream": name, "id": f"p{k}"} for k, name in enumerate(names)]
    split = merging.split_batch(json.dumps({"operations": operations}).encode(), 3)
    assert len(split.bodies) > 1

    def results(body: bytes) -> Any:
        sent = json.loads(body)["operations"]
        return {"results": [{"status": 200, "id": each["id"]} for each in sent]}

    answers = {index: answer(results(body)) for index, body in split.bodies.items()}
    made = json.loads(merging.batch(split, answers).body)
    assert [each["id"] for each in made["results"]] == [f"p{k}" for k in range(6)]


def test_operations_of_a_worker_that_is_down_fail_alone() -> None:
    names = [NAMES[k] for k in range(6)]
    operations = [{"op": "predict", "stream": name} for name in names]
    split = merging.split_batch(json.dumps({"operations": operations}).encode(), 2)
    down = {"title": "Service Unavailable", "status": 503, "detail": "starting."}
    good = {"results": [{"status": 200}] * split.owners.count(0)}
    made = merging.batch(split, {0: answer(good), 1: answer(down, 503)})
    statuses = [each["status"] for each in json.loads(made.body)["results"]]
    assert statuses == [200 if owner_of(name, 2) == 0 else 503 for name in names]
    assert merging.batch(split, {0: answer(down, 503), 1: answer(down, 503)}).status == 503


@pytest.mark.parametrize(
    "body", [b"{", b"[]", b'{"operations": []}', b'{"operations": [1], "operations": [1]}']
)
def test_a_batch_that_cannot_be_read_is_rejected_by_one_worker(body: bytes) -> None:
    assert merging.split_batch(body, 3).bodies == {0: body}


def test_an_operation_without_a_stream_is_left_to_its_own_error() -> None:
    split = merging.split_batch(b'{"operations": [{"op": "predict"}, 7]}', 2)
    (body,) = split.bodies.values()
    assert body == b'{"operations":[{"op": "predict"},7]}'


# ---- another number of workers ---------------------------------------------------------------


def filled(folder: Path) -> dict[str, bytes]:
    """A data folder of one process with some streams; returns their states."""
    alone, _ = managers(1)
    folder.mkdir()
    store = EventStore(folder)
    store.append([], dict(alone.streams))
    store.close()
    return {name: stream.calibrator.state() for name, stream in alone.streams.items()}


def test_rebalancing_keeps_every_stream_bit_for_bit(tmp_path: Path) -> None:
    states = filled(tmp_path / "one")
    assert rebalance(tmp_path / "one", tmp_path / "three", 3) == len(NAMES)
    assert rebalance(tmp_path / "three", tmp_path / "back", 1) == len(NAMES)
    for folder in ("one", "three", "back"):
        assert stored(tmp_path / folder) == states
    layout.use(tmp_path / "three", 3)


def test_rebalancing_leaves_no_folder_behind_when_it_fails(tmp_path: Path) -> None:
    filled(tmp_path / "one")
    (tmp_path / "taken").mkdir()
    with pytest.raises(ValueError, match="taken exists"):
        rebalance(tmp_path / "one", tmp_path / "taken", 2)
    lock = layout_lock(tmp_path / "one")
    with pytest.raises(ValueError, match="in use by another process"):
        rebalance(tmp_path / "one", tmp_path / "two", 2)
    lock.release()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["one", "taken"]


def layout_lock(folder: Path) -> Any:
    from localarc_service.server import FolderLock

    return FolderLock(folder)


def test_a_backup_has_the_folders_of_all_workers(tmp_path: Path) -> None:
    filled(tmp_path / "one")
    rebalance(tmp_path / "one", tmp_path / "two", 2)
    run, copy = CliRunner().invoke, tmp_path / "copies" / "first"
    done = run(main, ["backup", "--data", str(tmp_path / "two"), "--out", str(copy)])
    assert done.output.startswith(f"{copy}: {len(NAMES)} stream(s), "), done.output
    layout.use(copy, 2)
    checked = [
        run(main, ["serve", "--check", str(each)]).output for each in (tmp_path / "two", copy)
    ]
    assert checked[0] == checked[1]
    assert [path.name for path in copy.parent.iterdir()] == ["first"]


def test_an_import_gives_each_stream_to_its_worker(tmp_path: Path) -> None:
    states = filled(tmp_path / "one")
    run, file = CliRunner().invoke, str(tmp_path / "streams.zip")
    assert run(main, ["export", "--data", str(tmp_path / "one"), "--out", file]).exit_code == 0
    into = ["import", file, "--data", str(tmp_path / "three")]
    done = run(main, [*into, "--workers", "3"])
    assert done.exit_code == 0, done.output
    assert stored(tmp_path / "three") == states
    done = run(main, into)
    assert done.exit_code == 2
    assert f"has a stream named {min(NAMES)!r}, and {len(NAMES) - 1} more" in done.output
    assert run(main, [*into, "--replace"]).exit_code == 0
    assert stored(tmp_path / "three") == states


def stored(folder: Path) -> dict[str, bytes]:
    """The states of all streams of a folder, each of which is where its worker looks."""
    found: dict[str, bytes] = {}
    places = layout.store_folders(folder)
    for index, place in enumerate(places):
        with contextlib.closing(EventStore(place)) as store:
            loaded = store.load()
        assert {owner_of(name, len(places)) for name in loaded} <= {index}
        found |= {name: stream.calibrator.state() for name, stream in loaded.items()}
    return found


def test_an_import_can_rename_a_stream_to_a_name_of_another_worker(tmp_path: Path) -> None:
    states = filled(tmp_path / "one")
    rebalance(tmp_path / "one", tmp_path / "two", 2)
    run, file = CliRunner().invoke, str(tmp_path / "stream.zip")
    old = NAMES[0]
    new = next(f"new-{k}" for k in range(9) if owner_of(f"new-{k}", 2) != owner_of(old, 2))
    run(main, ["export", "--data", str(tmp_path / "two"), "--out", file, old])
    into = ["import", file, "--data", str(tmp_path / "two"), "--rename"]
    done = run(main, [*into, f"{old}={new}"])
    assert done.exit_code == 0, done.output
    assert stored(tmp_path / "two") == states | {new: states[old]}
    for wrong, told in (
        (f"{NAMES[1]}=b", "no stream"),
        (old, "must be OLD=NEW"),
        (f"{old}=a/b", "must be OLD=NEW"),
        (f"{old}={NAMES[1]}", f"has a stream named {NAMES[1]!r}"),
    ):
        done = run(main, [*into, wrong])
        assert done.exit_code == 2
        assert told in done.output
    assert stored(tmp_path / "two") == states | {new: states[old]}


def test_an_import_into_the_folder_of_one_worker_is_refused(tmp_path: Path) -> None:
    filled(tmp_path / "one")
    rebalance(tmp_path / "one", tmp_path / "two", 2)
    run, file = CliRunner().invoke, str(tmp_path / "streams.zip")
    assert run(main, ["export", "--data", str(tmp_path / "one"), "--out", file]).exit_code == 0
    done = run(main, ["import", file, "--data", str(tmp_path / "two" / "worker-0"), "--replace"])
    assert done.exit_code == 2
    assert f"pass --data {tmp_path / 'two'}." in done.output
    done = run(main, ["import", file, "--data", str(tmp_path / "two"), "--workers", "3"])
    assert done.exit_code == 2
    assert "holds the streams of 2 worker(s), not of 3" in done.output
    lock = layout_lock(tmp_path / "two" / "worker-1")  # a worker that survived its parent
    done = run(main, ["import", file, "--data", str(tmp_path / "two"), "--replace"])
    lock.release()
    assert done.exit_code == 2
    assert "is in use by another process" in done.output


def test_check_and_rebalance_work_on_the_folders_of_all_workers(tmp_path: Path) -> None:
    filled(tmp_path / "one")
    run = CliRunner().invoke
    one, two = str(tmp_path / "one"), str(tmp_path / "two")
    done = run(main, ["rebalance", "--data", one, "--to", two, "--workers", "2"])
    assert done.output == f"{len(NAMES)} stream(s) copied to {two}, for 2 worker(s)\n"
    assert (
        run(main, ["serve", "--check", two]).output == run(main, ["serve", "--check", one]).output
    )


def test_a_worker_waits_for_company_only_after_a_commit_that_had_some(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    waited: list[float] = []
    monkeypatch.setattr("localarc_service.storage.writer.time.sleep", waited.append)
    app = AppState.create(tmp_path, Limits(), Tokens({}))
    with contextlib.closing(app.writer._store):
        app.writer.commit_delay = 0.0002  # for each
        for company in (0, 3, 4, 10, 1000):
            app.writer._current_batch = [cast(Any, None)] * company
            monkeypatch.setattr(app.writer, "_drain", lambda timeout: [])
            app.writer._work()
    assert waited == pytest.approx([0.0008, 0.002, 0.003])
