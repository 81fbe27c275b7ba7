"""The client and a service, together."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from localarc import LARC
from localarc.client import AsyncClient, Client, Interval, Learn, Predict, Retries, ServiceError
from localarc.service.api.auth import Scope, Tokens
from service.conftest import Start
from service.inside import Inside
from service.running import Server

CONFIG = {"alpha": 0.1, "kernel": {"length_scale": 0.5}, "features": 2, "set": {"kind": "interval"}}


@pytest.fixture
def client(service: Inside) -> Iterator[Client]:
    with Client(f"http://127.0.0.1:{service.port}") as opened:
        opened.create("s", CONFIG)
        yield opened


def test_what_the_client_hears_is_what_the_library_says(client: Client) -> None:
    cal = LARC.from_state(client.export_state("s"))
    random = np.random.default_rng(0)
    for _ in range(20):
        x = random.uniform(size=2)
        told = client.predict("s", x, scores=[1.0], group="all")
        assert told.threshold == cal.threshold(x)
        assert isinstance(told.set, Interval)
        assert (told.set.lower, told.set.upper) == (1.0 - told.threshold, 1.0 + told.threshold)
        loss = float(random.uniform() > told.threshold)
        assert client.feedback("s", told.id, loss).rounds == cal.update(x, loss).rounds
    summary = client.summary("s")
    assert client.export_state("s") == cal.state()
    assert summary.risk == pytest.approx(cal.certificate().risk)
    assert [(each.group, each.rounds) for each in summary.groups] == [("all", 20)]
    assert summary.certificate.identity_holds
    assert summary.certificate.bound.name == cal.certificate().bound.name
    assert [line.stream for line in client.streams()] == ["s"]
    history = client.history("s")
    assert (history.rounds[-1], history.risk[-1]) == (20, summary.risk)
    assert history.target == summary.target == cal.alpha


def test_a_client_that_says_everything_twice_leaves_the_same_state(client: Client) -> None:
    client.create("twice", CONFIG)
    for t in range(10):
        operations = [Predict(name, [t / 10, 0.5], id=f"p{t}") for name in ("s", "twice")]
        client.batch([operations[0], operations[1], operations[1]])
        client.feedback("s", f"p{t}", t % 2)
        assert client.feedback("twice", f"p{t}", t % 2) == client.feedback("twice", f"p{t}", t % 2)
    assert client.export_state("twice") == client.export_state("s")
    with pytest.raises(ServiceError, match="already has the loss"):
        client.feedback("s", "p1", 0.5)
    (refused,) = client.batch([Learn("s", "p1", 0.5)])
    assert refused.status == 409


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
    needed = pytest.raises(ServiceError, match="a known token is needed")
    with Client(url, "not-a-token-at-all") as stranger, needed:
        stranger.summary("old")


def test_events_are_heard_as_they_happen(client: Client) -> None:
    first = client.predict("s", [0.1, 0.2])
    events = client.events("s", after="0")
    assert next(events).data["id"] == first.id
    client.feedback("s", first.id, 1.0)
    learned = next(events)
    assert (learned.kind, learned.data["loss"], learned.data["rounds"]) == ("learned", 1.0, 1)
    events.close()  # type: ignore[attr-defined]


def test_many_tasks_share_one_client(client: Client, service: Inside) -> None:
    async def all_rounds() -> list[int]:
        async with AsyncClient(f"http://127.0.0.1:{service.port}") as shared:

            async def a_round(t: int) -> int:
                told = await shared.predict("s", [t / 50, 0.5])
                return (await shared.feedback("s", told.id, 1.0)).rounds

            return await asyncio.gather(*(a_round(t) for t in range(50)))

    assert sorted(asyncio.run(all_rounds())) == list(range(1, 51))


@pytest.mark.service
def test_a_client_outlasts_a_crash_of_the_service(tmp_path: Path) -> None:
    with Server(tmp_path / "data") as server, Client(server.url, retries=Retries(50)) as client:
        client.create("s", CONFIG)
        told = client.predict("s", [0.1, 0.2], id="a")
        events = client.events("s", after="0")
        assert next(events).data["id"] == "a"
        server.kill()
        server.start(wait=False)
        assert client.predict("s", [0.1, 0.2], id="a") == told
        assert client.feedback("s", "a", 1.0).rounds == 1
        assert next(events).kind == "learned"
        events.close()  # type: ignore[attr-defined]
