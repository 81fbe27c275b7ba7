"""`localarc serve --workers`: processes behind one address, of which any can die."""

from __future__ import annotations

import contextlib
import http.client
import os
import random
import signal
import socket
import subprocess
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from localarc_client import Client as LibraryClient
from localarc_client.wire.workers import owner_of
from localarc_service.storage.store import EventStore
from localarc_service.workers.layout import worker_folder
from service import test_crash
from service.service_in_thread import wait_for
from service.service_process import Caller, Server, failed_start, free_port

pytestmark = pytest.mark.service

CONFIG: dict[str, Any] = {"alpha": 0.1, "method": "arc", "retain": 100_000}
NAMES = [f"s{number}" for number in range(12)]
OWNERS = {name: owner_of(name, 2) for name in NAMES}
TOKENS = "read reading-reading-1\nwrite writing-writing-1\nadmin ruling-ruling-12\n"


def workers_of(server: Server) -> list[int]:
    """The processes of the workers, in any order."""
    assert server.process is not None
    pid = server.process.pid
    return [int(each) for each in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def worker(server: Server, index: int) -> int:
    """The process of one worker: the one that uses its folder."""
    folder = str(worker_folder(server.folder, index) / "log.sqlite")
    for pid in workers_of(server):
        with contextlib.suppress(OSError):
            files = Path(f"/proc/{pid}/fd").iterdir()
            if any(os.path.realpath(each) == folder for each in files):
                return pid
    raise AssertionError(f"worker {index} does not run")


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Two workers with the streams of this module."""
    folder = tmp_path_factory.mktemp("workers") / "data"
    with Server(folder, "--workers", "2", "--max-streams", "20") as started:
        for name in NAMES:
            assert started.caller().create(name, CONFIG)[0] == 201
        yield started


def test_any_connection_reaches_every_stream(server: Server) -> None:
    assert set(OWNERS.values()) == {0, 1}
    for _ in range(8):  # the kernel chooses the worker of a connection
        with contextlib.closing(Caller(server.port)) as caller:
            for name in NAMES:
                status, made = caller.predict(name)
                assert status == 200
                assert caller.feedback(name, made["id"], 0.5)[0] == 200
                assert caller.call("GET", f"/v1/streams/{name}")[1]["stream"] == name
                assert len(caller.state(name)) > 10
    assert server.caller().predict("unknown")[0] == 404
    assert server.caller().call("GET", "/v1/streams/s0/nothing")[0] == 404
    assert server.caller().call("DELETE", "/livez")[0] == 405


def test_list_batch_and_readiness_are_those_of_all_workers(server: Server) -> None:
    with LibraryClient(server.url) as client:
        pages = [client.stream_list(limit=5)]
        while pages[-1].next is not None:
            pages.append(client.stream_list(limit=5, cursor=pages[-1].next))
        assert [item.stream for page in pages for item in page.streams] == sorted(NAMES)
        assert {page.found for page in pages} == {len(NAMES)}
    operations = [{"op": "predict", "stream": name, "id": "batch"} for name in [*NAMES, "no"]]
    status, answer = server.caller().call("POST", "/v1/batch", {"operations": operations})
    assert status == 200
    assert [each["status"] for each in answer["results"]] == [200] * len(NAMES) + [404]
    assert server.caller().call("POST", "/v1/batch", {"operations": []})[0] == 422
    assert server.caller().call("GET", "/readyz")[1]["streams"] == len(NAMES)
    assert server.caller().call("GET", "/v1/quarantine") == (200, {"streams": []})
    assert b"localarc" in server.caller().call("GET", "/")[1]


def test_metrics_count_every_request_once(server: Server) -> None:
    def requests(route: str) -> float:
        text = server.caller().call("GET", "/metrics")[1].decode()
        lines = [line for line in text.splitlines() if line.startswith("localarc_requests_total")]
        return sum(float(line.split()[-1]) for line in lines if f'route="{route}"' in line)

    routes = "/v1/streams", "/v1/batch", "/v1/streams/{stream}/predict"
    before = [requests(route) for route in routes]
    for name in NAMES:
        server.caller().predict(name)
        server.caller().call("GET", "/v1/streams")
    batch = {"operations": [{"op": "predict", "stream": name} for name in NAMES]}
    server.caller().call("POST", "/v1/batch", batch)
    counted = [after - early for after, early in zip(map(requests, routes), before, strict=True)]
    assert counted == [len(NAMES), 1.0, len(NAMES)]
    text = server.caller().call("GET", "/metrics")[1].decode()
    assert f"localarc_streams {len(NAMES)}.0" in text
    assert "localarc_workers_running 2.0" in text


def test_events_of_every_stream_arrive_on_any_connection(server: Server) -> None:
    for name in NAMES[:4]:
        connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
        connection.request("GET", f"/v1/streams/{name}/events")
        response = connection.getresponse()
        assert response.readline() == b": open\n"
        server.caller().predict(name, id="heard")
        while (line := response.readline()) and b'"id":"heard"' not in line:
            pass
        assert line
        connection.close()
    wait_for(lambda: "localarc_subscribers 0.0" in metrics(server))  # each was closed by its owner


def metrics(server: Server) -> str:
    text: bytes = server.caller().call("GET", "/metrics")[1]
    return text.decode()


def test_the_limit_of_streams_is_that_of_all_workers(server: Server) -> None:
    statuses = [server.caller().create(f"more-{k}", CONFIG)[0] for k in range(12)]
    assert statuses == [201] * 8 + [429] * 4
    assert server.caller().create("more-0", CONFIG)[0] == 200


def test_a_large_body_is_passed_on_whole(server: Server) -> None:
    operation = {"op": "predict", "stream": NAMES[0], "x": [0.25] * 1000}
    operations = [operation | {"stream": name} for name in NAMES] * 10
    status, answer = server.caller().call("POST", "/v1/batch", {"operations": operations})
    assert status == 200
    assert {each["status"] for each in answer["results"]} == {422}  # the streams have no features
    for name in NAMES[:2]:
        assert server.caller().predict(name, x=[0.5] * 400_000)[0] == 413


def test_tokens_are_checked_by_every_worker(tmp_path: Path) -> None:
    path = tmp_path / "tokens"
    path.write_text(TOKENS)
    with Server(tmp_path / "data", "--workers", "2", "--token-file", str(path)) as server:
        writer, reader = server.caller("writing-writing-1"), server.caller("reading-reading-1")
        for name in NAMES[:6]:
            assert server.caller().create(name, CONFIG)[0] == 401
            assert reader.create(name, CONFIG)[0] == 403
            assert writer.create(name, CONFIG)[0] == 201
            assert server.caller().predict(name, x=[0.5] * 200_000)[0] == 401
        for way in ("/v1/streams", "/metrics", "/v1/quarantine"):
            assert server.caller().call("GET", way)[0] == 401
            assert reader.call("GET", way)[0] == 200
        batch = {"operations": [{"op": "predict", "stream": name} for name in NAMES[:6]]}
        assert reader.call("POST", "/v1/batch", batch)[0] == 403
        assert writer.call("POST", "/v1/batch", batch)[0] == 200
        assert server.stop() == 0
        assert NAMES[0] not in server.errors.replace(str(tmp_path), "")


def test_streams_created_at_the_same_moment_do_not_exceed_the_limit(tmp_path: Path) -> None:
    with Server(tmp_path / "data", "--workers", "2", "--max-streams", "20") as server:
        statuses: list[int] = []

        def create(number: int) -> None:
            with contextlib.closing(Caller(server.port)) as caller:
                for t in range(10):
                    statuses.append(caller.create(f"n{number}-{t}", CONFIG)[0])

        threads = [threading.Thread(target=create, args=(number,)) for number in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert sorted(statuses) == [201] * 20 + [429] * 40
        assert server.caller().call("GET", "/readyz")[1]["streams"] == 20


def test_quotas_and_guesses_are_those_of_all_workers(tmp_path: Path) -> None:
    path = tmp_path / "tokens"
    slow = "write slowly-slowly-123 name=slow requests=0.0001\n"
    few = "write little-little-123 name=few streams=few-* max-streams=3\n"
    path.write_text(TOKENS + slow + few)
    with Server(tmp_path / "data", "--workers", "2", "--token-file", str(path)) as server:

        def once(token: str, method: str = "GET", route: str = "/v1/streams/s0") -> int:
            """The status of a request on a connection of its own, which either worker accepts."""
            with contextlib.closing(Caller(server.port, token)) as caller:
                return caller.call(method, route, CONFIG if method == "PUT" else None)[0]

        created = [once("little-little-123", "PUT", f"/v1/streams/few-{k}") for k in range(8)]
        assert created == [201] * 3 + [429] * 5
        assert {owner_of(f"few-{k}", 2) for k in range(8)} == {0, 1}
        names = [f"/v1/streams/{name}" for name in NAMES]  # of both workers
        assert [once("slowly-slowly-123", route=name) for name in names] == [404] + [429] * 11
        began = time.monotonic()
        wrong = [once("wrong-wrong-wrong-1", route=name) for name in names * 2]
        extra = int((time.monotonic() - began) / 6) + 1
        assert 10 <= wrong.count(401) <= 10 + extra
        assert wrong.count(429) == 24 - wrong.count(401)
        assert once("writing-writing-1", route=names[0]) == 429  # right, but nobody is told
        assert once("little-little-123", route="/v1/streams/few-0") == 200  # trusted by all
        assert once("little-little-123", route="/v1/streams/few-2") == 200


def test_a_start_that_is_refused_leaves_nothing(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        for options, told in (
            (("--host", "0.0.0.0"), "requires tokens"),
            (("--token-file", str(tmp_path / "none")), "No such file"),
            (("--audit-predictions",), "requires --audit-log"),
            (("--port", port), "cannot listen"),
        ):
            assert told in failed_start(tmp_path / "data", "--workers", "2", *options)
    assert list(tmp_path.iterdir()) == []


def test_folders_ports_and_numbers_of_workers_that_do_not_fit_are_refused(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    with Server(folder, "--workers", "2") as server:
        assert server.first_line == f"localarc serve: http://127.0.0.1:{server.port}\n"
        assert "is in use by another process" in failed_start(folder, "--workers", "2")
        assert "is in use by another process" in failed_start(worker_folder(folder, 1))
        taken = failed_start(tmp_path / "more", "--workers", "2", "--port", str(server.port))
        assert taken.startswith(f"localarc: cannot listen on 127.0.0.1, port {server.port}: ")
        assert server.stop() == 0
    assert "streams of 2 worker(s), not of 3" in failed_start(folder, "--workers", "3")
    assert "streams of 2 worker(s), not of 1" in failed_start(folder)


class Client(test_crash.Client):
    """One that also repeats requests whose outcome is unknown."""

    repeated = frozenset({502, 503})


def test_nothing_acknowledged_is_lost_when_workers_are_killed(tmp_path: Path) -> None:
    folder, kills = tmp_path / "data", 12
    server, source, stop = (
        Server(folder, "--workers", "2", port=free_port()),
        random.Random(0),
        threading.Event(),
    )
    with server:
        for name, config in test_crash.STREAMS.items():
            assert server.caller().create(name, config)[0] == 201
        assert {owner_of(name, 2) for name in test_crash.STREAMS} == {0, 1}
        clients = [Client(number, [server.port], stop) for number in range(8)]
        for client in clients:
            client.start()
        for count in range(kills):
            time.sleep(source.uniform(0.05, 0.5))
            os.kill(worker(server, count % 2), signal.SIGKILL)
            wait_for(lambda: is_ready(server))
        stop.set()
        for client in clients:
            client.join(120)
            assert client.error is None, client.error
        received = [client.received for client in clients]
        losses = sum(len(each.losses) for each in received)
        print(f"{losses} losses were answered between {kills} kills")
        assert losses > 10 * kills  # or little was at stake
        test_crash.assert_retries_get_the_same_responses(server.caller(), received)
        states = {name: server.caller().state(name) for name in test_crash.STREAMS}
        assert f"localarc_worker_restarts_total {kills}.0" in metrics(server)
        assert server.errors.count("died (exit status -9)") == kills
        assert server.stop() == 0
    for index in (0, 1):
        own = {name: state for name, state in states.items() if owner_of(name, 2) == index}
        test_crash.assert_the_store_has_the_same_streams(worker_folder(folder, index), own)


def is_ready(server: Server) -> bool:
    with contextlib.suppress(ConnectionError), contextlib.closing(Caller(server.port)) as caller:
        return caller.call("GET", "/readyz")[0] == 200
    return False


def test_other_streams_are_served_while_a_worker_is_away(tmp_path: Path) -> None:
    server = Server(tmp_path / "data", "--workers", "2", port=free_port())
    with server:
        for name in NAMES:
            server.caller().create(name, CONFIG)
        os.kill(worker(server, 1), signal.SIGSTOP)  # alive, and silent
        stopped = worker(server, 1)
        served = {name: answered(server.port, name) for name in NAMES if OWNERS[name] == 0}
        assert any(served.values())  # those whose connection is accepted by worker 0
        os.kill(stopped, signal.SIGKILL)
        wait_for(lambda: stopped not in workers_of(server))
        found: dict[int, set[int]] = {0: set(), 1: set()}
        headers: list[str | None] = []
        while not is_ready(server):
            for name in NAMES[:6]:
                with contextlib.suppress(OSError, http.client.HTTPException):
                    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
                    connection.request("GET", f"/v1/streams/{name}")
                    response = connection.getresponse()
                    found[OWNERS[name]].add(response.status)
                    headers += [response.getheader("Retry-After")] * (response.status == 503)
                    connection.close()
        assert found[0] == {200}
        assert found[1] <= {200, 503}
        assert all(headers), "503 without Retry-After"
        assert all(answered(server.port, name) for name in NAMES)


def answered(port: int, name: str) -> bool:
    """Whether a prediction is answered within some seconds."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
    try:
        headers = {"Content-Type": "application/json"}
        connection.request("POST", f"/v1/streams/{name}/predict", "{}", headers)
        return connection.getresponse().status == 200
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()


def test_workers_end_with_a_killed_parent_and_a_new_one_continues(tmp_path: Path) -> None:
    server = Server(tmp_path / "data", "--workers", "2", port=free_port())
    with server:
        for name in NAMES:
            server.caller().create(name, CONFIG)
            assert server.caller().predict(name, id="p")[0] == 200
        orphans = workers_of(server)
        server.kill()
        server.start()
        for name in NAMES:
            assert server.caller().feedback(name, "p", 0.5)[0] == 200
        for pid in orphans:
            assert not Path(f"/proc/{pid}").exists()


def test_a_terminated_service_finishes_accepted_requests_and_stores_snapshots(
    tmp_path: Path,
) -> None:
    folder = tmp_path / "data"
    server = Server(folder, "--workers", "2", port=free_port())
    with server:
        for name in NAMES:
            server.caller().create(name, CONFIG)
        received: dict[str, tuple[str, Any]] = {}
        statuses: set[int] = set()

        def ask(number: int) -> None:
            with (
                contextlib.suppress(ConnectionError),
                contextlib.closing(Caller(server.port)) as one,
            ):
                for t in range(100_000):
                    name = NAMES[(number + t) % len(NAMES)]
                    status, answer = one.predict(name, id=f"c{number}-{t}")
                    statuses.add(status)
                    if status == 200:
                        received[f"c{number}-{t}"] = name, answer

        threads = [threading.Thread(target=ask, args=(n,), daemon=True) for n in range(6)]
        for thread in threads:
            thread.start()
        wait_for(lambda: len(received) >= 200)
        assert server.stop() == 0
        for thread in threads:
            thread.join(60)
        assert statuses <= {200, 503}
        for index in (0, 1):
            with contextlib.closing(EventStore(worker_folder(folder, index))) as store:
                store.load()
                assert store.unsaved == {}  # snapshots hold all of it
        server.start()
        for key, (name, answer) in received.items():
            assert server.caller().predict(name, id=key) == (200, answer)


def test_a_worker_that_cannot_start_ends_the_service_with_its_reason(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    with Server(folder, "--workers", "2") as server:
        assert server.stop() == 0
    (worker_folder(folder, 1) / "log.sqlite").unlink()
    (worker_folder(folder, 1) / "log.sqlite").mkdir()
    assert "unable to open database file" in failed_start(folder, "--workers", "2", "--port", "0")
    left = subprocess.run(["pgrep", "-f", str(folder)], capture_output=True, text=True).stdout
    assert left == ""
