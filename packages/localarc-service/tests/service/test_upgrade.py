"""An upgrade, as docs/service/operating.md describes: SIGTERM, and a start on the same folder."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest

from localarc_client import Client, Retries
from service.service_in_thread import wait_for
from service.service_process import Server, free_port

pytestmark = pytest.mark.service

CONFIG: dict[str, Any] = {"alpha": 0.1, "features": 1, "initial_threshold": 0.5}


class Writer(threading.Thread):
    """A client that predicts and reports without a pause, and repeats what got no response."""

    def __init__(self, url: str) -> None:
        super().__init__(daemon=True)
        self.thresholds: dict[str, float] = {}  # acknowledged predictions
        self.reported = 0  # acknowledged losses
        self.failure: Exception | None = None
        self._client = Client(url, retries=Retries(times=100))
        self._end = threading.Event()

    def run(self) -> None:
        try:
            while not self._end.is_set():
                self._round(f"p{len(self.thresholds)}")
        except Exception as error:
            self.failure = error

    def _round(self, key: str) -> None:
        score = len(self.thresholds) % 10 / 10
        made = self._client.predict("demand", x=[score], id=key)
        self.thresholds[key] = made.threshold
        self._client.feedback("demand", key, float(score > made.threshold), score=score)
        self.reported += 1

    def wait_for_rounds(self, count: int) -> None:
        """Wait until more losses are acknowledged, or the client gave up."""
        enough = self.reported + count
        wait_for(lambda: self.reported >= enough or self.failure)
        assert self.failure is None, self.failure

    def finish(self) -> None:
        self._end.set()
        self.join(60)
        assert not self.is_alive()
        self._client.close()
        if self.failure is not None:
            raise self.failure


def test_an_upgrade_under_a_client_that_retries_loses_and_doubles_nothing(tmp_path: Path) -> None:
    port = free_port()
    with Server(tmp_path / "data", port=port) as server:
        server.caller().create("demand", CONFIG)
        writer = Writer(server.url)
        writer.start()
        for _ in range(3):
            writer.wait_for_rounds(30)
            assert server.stop() == 0
            server.start()
        writer.wait_for_rounds(30)
        writer.finish()
        caller = server.caller()
        summary = caller.call("GET", "/v1/streams/demand")[1]
        assert (summary["rounds"], summary["pending"]) == (writer.reported, 0)
        assert (summary["consistent"], summary["certificate"]["replay_differs"]) == (True, 0)
        for key, threshold in writer.thresholds.items():
            score = int(key[1:]) % 10 / 10
            status, again = caller.predict("demand", x=[score], id=key)
            assert (status, again["threshold"]) == (200, threshold)
