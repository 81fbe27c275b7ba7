"""The client and a service, together."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from localarc import LARC
from localarc_client import (
    ArcConfig,
    AsyncClient,
    Client,
    ConflictError,
    DeletedEvent,
    FeedbackEvent,
    FeedbackOperation,
    Interval,
    IntervalConfig,
    KernelConfig,
    LarcConfig,
    NotFoundError,
    PredictedEvent,
    PredictOperation,
    Retries,
    UnauthorizedError,
)
from localarc_service.api.auth import Scope, Tokens
from service.conftest import Start
from service.service_in_thread import Inside
from service.service_process import Server

CONFIG = LarcConfig(0.1, kernel=KernelConfig(length_scale=0.5), features=2, set=IntervalConfig())


@pytest.fixture
def client(service: Inside) -> Iterator[Client]:
    with Client(f"http://127.0.0.1:{service.port}") as opened:
        opened.create("s", CONFIG)
        yield opened


def test_the_client_receives_what_the_library_computes(client: Client) -> None:
    cal = LARC.from_state(client.export_state("s"))
    random = np.random.default_rng(0)
    for _ in range(20):
        x = random.uniform(size=2)
        prediction = client.predict("s", x, scores=[1.0], group="all")
        assert prediction.threshold == cal.threshold(x)
        assert isinstance(prediction.set, Interval)
        assert (prediction.set.lower, prediction.set.upper) == (
            1.0 - prediction.threshold,
            1.0 + prediction.threshold,
        )
        loss = float(random.uniform() > prediction.threshold)
        assert client.feedback("s", prediction.id, loss).rounds == cal.update(x, loss).rounds
    summary = client.summary("s")
    assert client.export_state("s") == cal.state()
    assert summary.risk == pytest.approx(cal.certificate().risk)
    assert [(each.group, each.rounds) for each in summary.groups] == [("all", 20)]
    assert summary.certificate.consistent
    assert summary.certificate.bound.name == cal.certificate().bound.name
    assert [line.stream for line in client.streams()] == ["s"]
    history = client.history("s")
    assert (history.points[-1].rounds, history.points[-1].risk) == (20, summary.risk)
    assert history.target == summary.target == cal.alpha


def test_repeating_every_request_leaves_the_same_state(client: Client) -> None:
    client.create("twice", CONFIG)
    for t in range(10):
        x = [t / 10, 0.5]
        operations = [PredictOperation(stream=name, x=x, id=f"p{t}") for name in ("s", "twice")]
        client.batch([operations[0], operations[1], operations[1]])
        client.feedback("s", f"p{t}", t % 2)
        assert client.feedback("twice", f"p{t}", t % 2) == client.feedback("twice", f"p{t}", t % 2)
    assert client.export_state("twice") == client.export_state("s")
    with pytest.raises(ConflictError, match="already has the loss"):
        client.feedback("s", "p1", 0.5)
    (rejected,) = client.batch([FeedbackOperation("s", "p1", 0.5)])
    assert rejected.status == 409


def test_a_state_moves_from_one_service_to_another(start: Start) -> None:
    tokens = Tokens({"a-token-that-may-do-all": Scope.ADMIN})
    service = start(tokens=tokens)
    url = f"http://127.0.0.1:{service.port}"
    with Client(url, "a-token-that-may-do-all") as client:
        client.create("old", CONFIG)
        client.create("new", CONFIG)
        client.feedback("old", client.predict("old", [0.1, 0.2]).id, 1.0)
        state = client.export_state("old")
        assert client.import_state("new", state).rounds == 1
        assert client.export_state("new") == state
    needed = pytest.raises(UnauthorizedError, match="token")
    with Client(url, "not-a-token-at-all") as stranger, needed:
        stranger.summary("old")


def test_events_arrive_as_they_happen(client: Client) -> None:
    first = client.predict("s", [0.1, 0.2])
    events = client.events("s", after=0)
    made = next(events)
    assert isinstance(made, PredictedEvent)
    assert made.id == first.id
    client.feedback("s", first.id, 1.0)
    feedback = next(events)
    assert isinstance(feedback, FeedbackEvent)
    assert (feedback.kind, feedback.loss, feedback.rounds) == ("feedback", 1.0, 1)
    events.close()


def test_many_tasks_share_one_client(client: Client, service: Inside) -> None:
    async def all_rounds() -> list[int]:
        async with AsyncClient(f"http://127.0.0.1:{service.port}") as shared:

            async def a_round(t: int) -> int:
                prediction = await shared.predict("s", [t / 50, 0.5])
                return (await shared.feedback("s", prediction.id, 1.0)).rounds

            return await asyncio.gather(*(a_round(t) for t in range(50)))

    assert sorted(asyncio.run(all_rounds())) == list(range(1, 51))


@pytest.mark.service
def test_a_client_outlasts_a_crash_of_the_service(tmp_path: Path) -> None:
    with Server(tmp_path / "data") as server, Client(server.url, retries=Retries(50)) as client:
        client.create("s", CONFIG)
        prediction = client.predict("s", [0.1, 0.2], id="a")
        events = client.events("s", after=0)
        assert next(events).kind == "predicted"
        server.kill()
        server.start(wait=False)
        assert client.predict("s", [0.1, 0.2], id="a") == prediction
        assert client.feedback("s", "a", 1.0).rounds == 1
        assert next(events).kind == "feedback"
        events.close()


def test_a_stream_is_changed_renamed_and_deleted(start: Start) -> None:
    service = start(tokens=Tokens({"a" * 16: Scope.ADMIN}))
    with Client(f"http://127.0.0.1:{service.port}", token="a" * 16) as client:
        client.create("s", ArcConfig(0.1, set=IntervalConfig()))
        made = client.predict("s", scores=[1.0])
        changed = client.change("s", labels={"team": "pricing"}, timeout=60, retention=3600)
        assert (changed.config.timeout, changed.config.labels) == (60.0, {"team": "pricing"})
        assert client.change("s", timeout=None).config.timeout is None
        assert [each.stream for each in client.streams(labels={"team": "pricing"})] == ["s"]
        assert client.stream_list(labels={"team": "sales"}).found == 0
        assert client.rename("s", "t").stream == "t"
        assert client.feedback("t", made.id, y=1.0).rounds == 1
        events = client.events("t", after=1)
        kinds = [type(next(events)).__name__ for _ in range(4)]
        assert kinds == ["ChangedEvent", "ChangedEvent", "RenamedEvent", "FeedbackEvent"]
        assert client.delete("t").seq == 5
        assert next(events) == DeletedEvent(6, 1000.0, 1, 0.0, 0, 0, 0)
        with pytest.raises(NotFoundError):
            next(events)
        with pytest.raises(NotFoundError):
            client.delete("t")


def test_the_asynchronous_client_changes_renames_and_deletes(start: Start) -> None:
    service = start(tokens=Tokens({"a" * 16: Scope.ADMIN}))

    async def talk() -> list[object]:
        async with AsyncClient(f"http://127.0.0.1:{service.port}", token="a" * 16) as client:
            await client.create("s", ArcConfig(0.1))
            changed = await client.change("s", labels={"team": "pricing"})
            listed = await client.streams(labels={"team": "pricing"})
            renamed = await client.rename("s", "t")
            deleted = await client.delete("t")
            return [changed.config.labels, len(listed), renamed.stream, deleted.stream]

    assert asyncio.run(talk()) == [{"team": "pricing"}, 1, "t", "t"]


def test_an_invalid_change_is_not_sent(client: Client) -> None:
    wrong: list[dict[str, Any]] = [
        {},
        {"timeout": -1.0},
        {"timeout": "soon"},
        {"retention": 1.0},
        {"labels": {"team": 7}},
        {"labels": None},
    ]
    for change in wrong:
        with pytest.raises(ValueError, match="invalid change"):
            client.change("s", **change)
    assert client.summary("s").seq == 0
