"""A connection to PostgreSQL that is cut around a commit: the outcome is looked up, not guessed."""

from __future__ import annotations

import random
from collections.abc import Iterator
from functools import partial
from typing import Any, get_args

import pytest

from localarc_service.api.auth import Tokens
from localarc_service.limits import Limits
from localarc_service.storage.postgres.connection import Address
from service.cutting_proxy import CuttingProxy, Moment
from service.postgres_server import Postgres
from service.service_in_thread import Inside, wait_for
from service.service_process import Caller

pytestmark = pytest.mark.service


@pytest.fixture
def proxy(postgres: Postgres) -> Iterator[CuttingProxy]:
    with CuttingProxy(postgres.port) as made:
        yield made


@pytest.fixture
def service(proxy: CuttingProxy, postgres: Postgres, address: Address) -> Iterator[Inside]:
    url = postgres.url.replace(str(postgres.port), str(proxy.port))
    made = Inside(Address(url, address.schema), Limits(), Tokens({})).start()
    yield made
    made.stop()


def is_ready(service: Inside) -> bool:
    return bool(service.http.call("GET", "/readyz")[0] == 200)


def stored(postgres: Postgres, address: Address) -> list[Any]:
    """The stored events of stream s, without those of its health."""
    rows = postgres.execute(
        "SELECT convert_from(event, 'utf8')::json ->> 'kind',"
        f" convert_from(event, 'utf8')::json ->> 'id' FROM {address.schema}.events"
        " WHERE stream = 's' ORDER BY id"
    )
    return [row for row in rows if row[0] in ("prediction_made", "feedback_received")]


@pytest.mark.parametrize(
    ("moment", "was_stored"), [("before the commit", False), ("after the commit", True)]
)
def test_a_request_whose_commit_was_cut_is_stored_once_or_not_at_all(
    service: Inside,
    proxy: CuttingProxy,
    postgres: Postgres,
    address: Address,
    moment: Moment,
    was_stored: bool,
) -> None:
    service.create()
    service.predict("one")
    before = service.everything()
    proxy.cut = moment
    status, answer = service.predict("two")
    assert status == 503
    assert "whether this request was stored shows when a service is ready again" in answer["detail"]
    wait_for(lambda: is_ready(service))
    assert proxy.cut is None
    assert (("prediction_made", "two") in stored(postgres, address)) == was_stored
    assert (service.everything() == before) != was_stored
    first = service.predict("two")
    assert (first[0], first[1]["seq"]) == (200, 2)
    assert service.predict("two") == first
    assert stored(postgres, address) == [("prediction_made", "one"), ("prediction_made", "two")]


def test_however_often_connections_are_cut_each_event_is_stored_once(
    service: Inside, proxy: CuttingProxy, postgres: Postgres, address: Address
) -> None:
    source = random.Random(0)
    service.create()
    expected: list[Any] = []
    for t in range(30):
        key = f"p{t}"
        for kind, send in (
            ("prediction_made", partial(service.predict, key)),
            ("feedback_received", partial(service.feedback, key, 1.0)),
        ):
            proxy.cut = source.choice([None, *get_args(Moment)])
            while (answer := send())[0] != 200:  # as a client does
                assert answer[0] == 503, answer
                wait_for(lambda: is_ready(service))
            assert send() == answer
            proxy.cut = None
            expected.append((kind, key))
    assert stored(postgres, address) == expected
    live = service.everything()
    service.stop()
    again = Inside(address, Limits(), Tokens({})).start()
    assert again.everything() == live
    again.stop()


def test_subscribers_are_disconnected_when_the_database_is_lost(
    service: Inside, proxy: CuttingProxy
) -> None:
    """They connect again, to whichever process serves the streams then."""
    service.create()
    events = Caller(service.port)
    events._connection.request("GET", "/v1/streams/s/events")
    response = events._connection.getresponse()
    assert response.readline() == b": open\n"
    proxy.cut = "before the commit"
    assert service.predict("one")[0] == 503
    assert response.read().strip() == b""  # to the end
    events.close()
