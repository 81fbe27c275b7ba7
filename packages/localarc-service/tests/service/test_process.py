"""The service as a process: one owner of a folder, no open door, a good end."""

from __future__ import annotations

import contextlib
import http.client
import threading
from pathlib import Path
from typing import Any

import pytest

from localarc_service.storage.store import EventStore
from service.service_in_thread import wait_for
from service.service_process import Caller, Server, failed_start, free_port

pytestmark = pytest.mark.service

CONFIG: dict[str, Any] = {"alpha": 0.1, "kernel": {"length_scale": 0.5}, "features": 2}


@pytest.fixture
def tokens(tmp_path: Path) -> Path:
    path = tmp_path / "tokens"
    path.write_text(
        "# ours\nread reading-reading-1\nwrite writing-writing-1\nadmin ruling-ruling-12\n"
    )
    return path


def test_a_second_process_does_not_start(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    with Server(folder) as server:
        said = failed_start(folder)
        assert said == (
            f"localarc: {folder} is in use by another process: stop it first, or choose another "
            "folder with --data.\n"
        )
        assert server.caller().create("s", CONFIG)[0] == 201
    with Server(folder) as server:  # a killed owner leaves no lock behind
        assert server.caller().create("s", CONFIG)[0] == 200


def test_other_addresses_require_tokens(tmp_path: Path, tokens: Path) -> None:
    for host in ("0.0.0.0", "::", "192.0.2.1", "example.org"):
        said = failed_start(tmp_path / "data", "--host", host)
        assert "requires tokens" in said
        assert not (tmp_path / "data").exists()
    with Server(tmp_path / "data", "--host", "0.0.0.0", "--token-file", str(tokens)) as server:
        assert server.caller().call("GET", "/v1/streams")[0] == 401
        assert server.caller("reading-reading-1").call("GET", "/v1/streams")[0] == 200


def test_the_chosen_port_is_printed(tmp_path: Path) -> None:
    with Server(tmp_path / "data") as server:
        assert server.first_line == f"localarc serve: http://127.0.0.1:{server.port}\n"
        said = failed_start(tmp_path / "more", "--port", str(server.port))
        assert said.startswith(f"localarc: cannot listen on 127.0.0.1, port {server.port}: ")


def test_bad_token_files_prevent_startup(tmp_path: Path) -> None:
    path = tmp_path / "tokens"
    for text, expected in (
        ("", "contains no token"),
        ("write short", "at least 16 characters"),
        ("owner 0123456789abcdef", "expected read, write or admin"),
        ("0123456789abcdef", "expected read, write or admin"),
    ):
        path.write_text(text)
        said = failed_start(tmp_path / "data", "--token-file", str(path))
        assert expected in said
        assert "0123456789abcdef" not in said
    assert "No such file" in failed_start(tmp_path / "data", "--token-file", str(tmp_path / "none"))


def test_a_terminated_service_responds_stores_snapshots_and_exits(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    server = Server(folder, port=free_port())
    with server:
        server.caller().create("s", CONFIG)
        received: dict[str, Any] = {}

        def ask(number: int) -> None:
            caller = Caller(server.port)
            with contextlib.suppress(ConnectionError), contextlib.closing(caller):
                for t in range(100_000):
                    key, x = f"c{number}-{t}", [t % 7 / 7, t % 11 / 11]
                    status, answer = caller.predict("s", id=key, x=x)
                    assert status in (200, 503)
                    if status == 200:
                        received[key] = x, answer

        listening = http.client.HTTPConnection("127.0.0.1", server.port)
        listening.request("GET", "/v1/streams/s/events")
        listener = listening.getresponse()
        threads = [threading.Thread(target=ask, args=(n,), daemon=True) for n in range(4)]
        for thread in threads:
            thread.start()
        wait_for(lambda: len(received) >= 100)
        assert server.stop() == 0
        for thread in threads:
            thread.join(60)
        assert b"event: predicted" in listener.read()  # the event stream came to its end
        listening.close()
        assert not (folder / "log.sqlite-wal").exists()
        with contextlib.closing(EventStore(folder)) as store:
            streams = store.load()
            assert store.unsaved == {}  # a snapshot holds all of it
        assert {f"{key}" for key in received} <= set(streams["s"].state.pending)
        server.start()
        for key, (x, answer) in received.items():
            assert server.caller().predict("s", id=key, x=x) == (200, answer)


def test_names_and_tokens_are_not_logged_and_files_private(tmp_path: Path, tokens: Path) -> None:
    folder = tmp_path / "data"
    with Server(folder, "--token-file", str(tokens)) as server:
        caller = server.caller("writing-writing-1")
        caller.create("name-of-a-stream", CONFIG)
        caller.call("GET", "/v1/streams/name-of-a-stream?token=writing-writing-1")
        caller.call("POST", "/v1/streams/name-of-a-stream/predict", b"{", token="x")
        assert server.stop() == 0
        assert "writing-writing-1" not in server.errors
        assert "name-of-a-stream" not in server.errors
    for path in (folder, *folder.iterdir()):
        assert path.stat().st_mode & 0o077 == 0, path


def test_requests_get_503_until_the_log_is_replayed(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    server = Server(folder, port=free_port())
    with server:
        caller = server.caller()
        caller.create("s", CONFIG)
        pairs = [
            {"op": op, "stream": "s", "id": f"p{t}"}
            | ({"loss": 0.5} if op == "feedback" else {"x": [t % 7 / 7, t % 11 / 11]})
            for t in range(500)
            for op in ("predict", "feedback")
        ]
        assert caller.call("POST", "/v1/batch", {"operations": pairs})[0] == 200
        server.kill()
        server.start(wait=False)
        wait_for(server.is_listening)
        early = [server.caller().call("GET", path) for path in ("/v1/streams", "/readyz")]
        alive = server.caller().call("GET", "/livez")
        server.wait_until_ready()
        assert early[0][0] == early[1][0] == 503
        reasons = "the event log is being replayed", "the engine is being compiled"
        assert early[0][1]["detail"] in [f"not ready: {reason}." for reason in reasons]
        assert alive == (200, {"alive": True})
        summary = server.caller().call("GET", "/v1/streams/s")[1]
        assert (summary["rounds"], summary["certificate"]["replay_differs"]) == (500, 0)


def test_the_data_folder_stops_growing(tmp_path: Path) -> None:
    """After twenty times as many events as the log keeps, its folder has long stopped growing."""
    folder, limit = tmp_path / "data", 2_000
    with Server(folder, "--log-events", str(limit)) as server:
        caller = server.caller()
        config = CONFIG | {"retain": 100}
        for name in "abcde":
            caller.create(name, config)
        sizes = []
        for part in range(40):
            operations = [
                {"op": op, "stream": "abcde"[t % 5], "id": f"p{part}-{t}"}
                | ({"loss": 0.5} if op == "feedback" else {"x": [t % 7 / 7, t % 11 / 11]})
                for t in range(500)
                for op in ("predict", "feedback")
            ]
            _, answer = caller.call("POST", "/v1/batch", {"operations": operations})
            assert {each["status"] for each in answer["results"]} == {200}
            sizes.append(sum(path.stat().st_size for path in folder.iterdir()))
        text = caller.call("GET", "/metrics")[1].decode()
        lines = [line.split() for line in text.splitlines()]
        kept = next(float(words[1]) for words in lines if words[0] == "localarc_log_events")
        assert kept <= limit + 1_000  # the last batch may come on top
        assert max(sizes[20:]) <= 1.2 * max(sizes[:20])
        server.kill()
        server.start()
        assert server.caller().call("GET", "/v1/streams/a")[1]["rounds"] == 4_000
