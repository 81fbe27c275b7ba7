"""Killed while streams are changed, renamed and deleted: each request happened, or it did not."""

from __future__ import annotations

import copy
import random
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from service.service_process import Caller, Server, free_port

pytestmark = pytest.mark.service

KILLS = 8
TOKEN = "a" * 16

Streams = dict[str, dict[str, Any]]
"""What is known of each stream: its timeout, and the number of its predictions."""


class Life:
    """Requests about streams, and what the service must know after each."""

    def __init__(self, server: Server) -> None:
        self.server = server
        self.known: Streams = {}
        self.gone: set[str] = set()
        self._source = random.Random(7)
        self._count = 0

    def live(self) -> None:
        """Send requests until the service is killed; then it knows what was, or what was to be."""
        caller = self.server.caller(TOKEN)
        while True:
            before, after = self.known, copy.deepcopy(self.known)
            request, gone = self._choose(after)
            try:
                status, answer = request(caller)
            except ConnectionError:
                self.server.kill()  # it is dead: this cleans up
                self.server.start()
                found = self.found()
                assert found in (before, after)
                self.known = found
                self.gone |= gone - found.keys()
                return
            assert status in (200, 201), answer
            self.known, self.gone = after, self.gone | gone

    def _choose(self, streams: Streams) -> tuple[Callable[[Caller], Any], set[str]]:
        """A request, and the names that are gone with it; changes what is known accordingly."""
        self._count += 1
        new, kind = f"walrus-{self._count}", self._source.random()
        if len(streams) < 4 or kind < 0.1:
            streams[new] = {"timeout": None, "predictions": 0}
            config = {"alpha": 0.1, "method": "arc"}
            return lambda caller: caller.create(new, config), set()
        name = self._source.choice(sorted(streams))
        path = f"/v1/streams/{name}"
        if kind < 0.3:
            streams[new] = streams.pop(name)
            return lambda caller: caller.call("POST", f"{path}/rename", {"name": new}), {name}
        if kind < 0.5:
            del streams[name]
            return lambda caller: caller.call("DELETE", path), {name}
        if kind < 0.7:
            streams[name]["timeout"] = 1e6 + self._count
            timeout = {"timeout": streams[name]["timeout"]}
            return lambda caller: caller.call("PATCH", path, timeout), set()
        streams[name]["predictions"] += 1
        return lambda caller: caller.predict(name, id=new), set()

    def found(self) -> Streams:
        caller = self.server.caller(TOKEN)
        status, listed = caller.call("GET", "/v1/streams")
        assert (status, listed["quarantined"]) == (200, [])
        streams = {}
        for name in sorted(each["stream"] for each in listed["streams"]):
            summary = caller.call("GET", f"/v1/streams/{name}")[1]
            assert summary["consistent"]
            timeout = summary["config"]["timeout"]
            streams[name] = {"timeout": timeout, "predictions": summary["predictions"]}
        return streams


def test_a_killed_service_has_done_each_request_or_not(tmp_path: Path) -> None:
    tokens = tmp_path / "tokens"
    tokens.write_text(f"admin {TOKEN}\n")
    folder, source = tmp_path / "data", random.Random(1)
    with Server(folder, "--token-file", str(tokens), port=free_port()) as server:
        life = Life(server)
        for _ in range(KILLS):
            assert server.process is not None
            killer = threading.Timer(source.uniform(0.05, 0.8), server.process.kill)
            killer.start()
            life.live()
            killer.join()
        assert life.found() == life.known
        assert server.stop() == 0
    print(f"{life._count} requests between {KILLS} kills, {len(life.gone)} names are gone")
    assert len(life.gone) > KILLS  # or little was at stake
    contents = [path.read_bytes() for path in folder.rglob("*") if path.is_file()]
    left = [name for name in life.gone if any(_names(name, content) for content in contents)]
    assert left == []


def _names(name: str, content: bytes) -> bool:
    """Whether a file names a stream; names of others may begin with it."""
    return any(not content[end : end + 1].isdigit() for end in _ends(name.encode(), content))


def _ends(needle: bytes, content: bytes) -> list[int]:
    found, at = [], content.find(needle)
    while at >= 0:
        found.append(at + len(needle))
        at = content.find(needle, at + 1)
    return found
