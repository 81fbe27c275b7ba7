"""Lateness: the certificate knows what was pending, because the service counts it."""

from __future__ import annotations

from collections import deque
from typing import Any

from localarc import ARC, Mondrian
from localarc_client.wire.config_reading import read_config
from localarc_client.wire.predictions import FeedbackRequest, PredictRequest
from localarc_client.wire.status import StreamSummary
from localarc_service.api import queries
from localarc_service.limits import Limits
from localarc_service.streams.manager import StreamManager


def loss(t: int, threshold: float) -> float:
    """Whether the score of a round, from 0 to 1, exceeds its threshold."""
    return float(37 * t % 101 / 100 > threshold)


class Late:
    """A stream whose losses arrive after some further predictions."""

    def __init__(self, **config: Any) -> None:
        self.now = 0.0
        self.manager = StreamManager(Limits(), lambda: self.now)
        self.manager.create("s", read_config({"alpha": 0.1, "score_range": (0.0, 1.0), **config}))

    def rounds(self, count: int, pending: int = 0, group: str | None = None) -> None:
        waiting: deque[tuple[str, float]] = deque()
        for t in range(count):
            self.now += 1.0
            request = PredictRequest(id=f"{group}-{self.now}", group=group)
            made = self.manager.predict("s", request)
            waiting.append((made.id, loss(t, made.threshold)))
            while len(waiting) > (pending if t < count - 1 else 0):
                key, value = waiting.popleft()
                self.manager.feedback("s", key, FeedbackRequest(value))

    @property
    def summary(self) -> StreamSummary:
        return queries.summarize(self.manager.streams["s"])


def test_what_the_service_counted_is_no_assumption() -> None:
    for pending in 0, 7:
        stream = Late(method="arc")
        stream.rounds(200, pending)
        found = stream.summary.certificate
        assert (found.max_pending, found.max_delay, found.lateness_known) == (
            pending,
            pending,
            True,
        )
        assert found.bound.holds
        assert not [text for text in found.bound.assumes if "pending" in text]


def test_the_bound_is_that_of_tickets_in_the_library() -> None:
    stream, twin = Late(method="arc"), ARC(0.1, score_range=(0.0, 1.0))
    stream.rounds(50, pending=7)
    waiting: deque[tuple[Any, float]] = deque()
    for t in range(50):
        ticket = twin.ask(None)
        waiting.append((ticket, loss(t, ticket.threshold)))
        while len(waiting) > (7 if t < 49 else 0):
            twin.tell(*waiting.popleft())
    wanted, found = twin.certificate().bound, stream.summary.certificate.bound
    assert (found.value, found.assumes) == (wanted.value, list(wanted.assumes))
    prompt = Late(method="arc")
    prompt.rounds(50)
    assert (prompt.summary.certificate.bound.value or 0.0) < (found.value or 0.0)


def test_an_imported_state_is_late_by_an_unknown_number() -> None:
    source, stream = Late(method="arc"), Late(method="arc")
    source.rounds(50, pending=7)
    stream.rounds(10, pending=2)
    stream.manager.import_state("s", source.manager.streams["s"].calibrator.state())
    stream.rounds(10)
    found = stream.summary.certificate
    assert (found.max_pending, found.lateness_known) == (2, False)
    assert "at most 2 loss(es) pending, as stated" in found.bound.assumes


def test_each_group_of_mondrian_has_a_lateness_of_its_own() -> None:
    stream = Late(method="mondrian")
    stream.rounds(100, pending=9, group="late")
    stream.rounds(100, pending=0, group="prompt")
    late, prompt = stream.summary.groups
    assert (late.group, late.max_pending, prompt.max_pending) == ("late", 9, 0)
    assert late.above is not None
    assert prompt.above is not None
    assert late.above > prompt.above
    twin = Mondrian(lambda: ARC(0.1, score_range=(0.0, 1.0)))
    for t in range(100):
        ticket = twin.ask([], groups="prompt")
        twin.tell(ticket, loss(t, ticket.threshold))
    assert prompt.above == twin.certificate().groups["prompt"].bound.value


def test_other_methods_count_all_groups_together() -> None:
    stream = Late(method="arc")
    stream.rounds(5, pending=3, group="a")
    assert stream.summary.groups[0].max_pending is None
    assert stream.summary.certificate.max_pending == 3
