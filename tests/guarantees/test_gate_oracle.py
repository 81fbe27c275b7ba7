"""Every number of a gate's summary and certificate, recomputed from the log of its rounds."""

from __future__ import annotations

import pytest

from guarantees.gate_game import GateGame, Questions

STREAMS = {
    "one topic": Questions(),
    "topics": Questions(topics=("a", "b")),
    "late": Questions(topics=("a",), delay=3),
    "often wrong": Questions(topics=("a", "b"), alpha=0.4, wrong=0.8, credit=0.05),
    "no credit": Questions(credit=0.0, alpha=0.3),
}


@pytest.mark.parametrize("stream", STREAMS.values(), ids=STREAMS)
def test_the_promise_is_the_theorem_for_the_log(
    stream: Questions, monkeypatch: pytest.MonkeyPatch
) -> None:
    GateGame(stream, monkeypatch).play()
