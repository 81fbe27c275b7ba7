"""Every number of the certificate of LabelSets, recomputed from the log of its rounds."""

from __future__ import annotations

import pytest

from guarantees.label_game import LabelGame, LabelStream

STREAMS = {
    "at once": LabelStream(),
    "groups": LabelStream(groups=("a", "b")),
    "late": LabelStream(delay=2, labels=("cat", "dog")),
    "late, groups, at most": LabelStream(delay=3, groups=("a",), two=False),
    "limits": LabelStream(limits=(0.2, 1.1), alpha=0.2),
}


@pytest.mark.parametrize("stream", STREAMS.values(), ids=STREAMS)
def test_the_certificate_is_the_theorem_for_the_log(
    stream: LabelStream, monkeypatch: pytest.MonkeyPatch
) -> None:
    LabelGame(stream, monkeypatch).play()
