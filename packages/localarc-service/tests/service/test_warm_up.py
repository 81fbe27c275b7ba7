"""`localarc warm-up --service`: the usual streams of a service are rehearsed."""

from __future__ import annotations

import pytest

from commands import localarc
from localarc.running.warm_up import Loops
from localarc_service.streams import rehearsal


def test_the_usual_streams_of_a_service_are_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    rehearsed: list[rehearsal.Shape] = []
    monkeypatch.setattr(rehearsal, "rehearse", rehearsed.append)
    monkeypatch.setattr(
        "localarc.running.warm_up.counted", lambda use: use() or Loops(1, 0, 0, frozenset({"/a"}))
    )
    result = localarc("warm-up", "--jobs", "1", "--service-only")
    assert result.status == 0
    assert rehearsed == list(rehearsal.USUAL)
    assert "service, larc, rbf, dictionary, 3 feature(s): 0 compiled, 1 found" in result.stdout
