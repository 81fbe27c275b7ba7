"""The list of streams is searched, filtered, sorted and paged by the service."""

from __future__ import annotations

from typing import Any

import pytest

from localarc_client import Client
from localarc_client.wire.config import ArcConfig
from localarc_client.wire.predictions import FeedbackRequest, PredictRequest
from localarc_client.wire.status import StatusCounts, StreamList
from localarc_service.api.stream_list import streams
from localarc_service.errors import ApiError
from localarc_service.limits import Limits
from localarc_service.streams.manager import StreamManager
from service.service_in_thread import Clock, Inside


def manager_of(*names: str) -> StreamManager:
    manager = StreamManager(Limits(), Clock(1_000.0))
    for name in names:
        manager.create(name, ArcConfig(alpha=0.1, features=0))
    return manager


def play(
    manager: StreamManager, name: str, loss: float, rounds: int = 100, group: str = ""
) -> None:
    for _ in range(rounds):
        key = manager.predict(name, PredictRequest(group=group or None)).id
        manager.feedback(name, key, FeedbackRequest(loss=loss))


def names(found: StreamList) -> list[str]:
    return [item.stream for item in found.streams]


def pages(manager: StreamManager, **query: Any) -> list[list[str]]:
    """All pages, from the first to the last."""
    found = [streams(manager, **query)]
    while found[-1].next is not None:
        found.append(streams(manager, **query, cursor=found[-1].next))
    return [names(page) for page in found]


def test_without_parameters_the_list_has_all_streams_by_name() -> None:
    found = streams(manager_of("b", "c", "a"))
    assert names(found) == ["a", "b", "c"]
    assert (found.found, found.first, found.previous, found.next) == (3, 0, None, None)


def test_a_search_finds_parts_of_names_in_any_case() -> None:
    manager = manager_of("Demand-north", "demand-south", "parcels")
    assert names(streams(manager, search="DEMAND")) == ["Demand-north", "demand-south"]
    assert names(streams(manager, search="north")) == ["Demand-north"]
    assert names(streams(manager, search="north|south")) == []


def test_the_worst_stream_is_first() -> None:
    manager = manager_of("a-fine", "b-mild", "c-worst", "d-inconsistent")
    play(manager, "a-fine", 0.0)
    play(manager, "b-mild", 0.5)
    play(manager, "c-worst", 1.0)
    play(manager, "d-inconsistent", 0.0)
    manager.stream("d-inconsistent").calibrator._constant.loss_sum -= 1.0
    found = streams(manager, sort="worst")
    assert names(found) == ["d-inconsistent", "c-worst", "b-mild", "a-fine"]
    assert found.statuses == StatusCounts(broken=3, ok=1)


def test_a_stream_is_as_bad_as_its_worst_group() -> None:
    manager = manager_of("even", "uneven")
    for _ in range(400):
        play(manager, "even", 0.0, 1)
        play(manager, "uneven", 0.0, 1, "hills")
    play(manager, "uneven", 1.0, 20, "city")
    found = streams(manager, sort="worst")
    assert names(found) == ["uneven", "even"]
    assert found.streams[0].health.group == "city"
    assert found.streams[0].health.status == "broken"


def test_a_status_selects_streams_and_the_counts_are_those_of_all_statuses() -> None:
    manager = manager_of("a", "b", "c")
    play(manager, "b", 1.0)
    found = streams(manager, status="broken")
    assert (names(found), found.found) == (["b"], 1)
    assert found.statuses == StatusCounts(broken=1, ok=2)
    assert names(streams(manager, status="ok")) == ["a", "c"]
    assert streams(manager, search="a").statuses == StatusCounts(ok=1)


@pytest.mark.parametrize("sort", ["name", "worst"])
@pytest.mark.parametrize("limit", [1, 2, 3, 7, 100])
def test_pages_have_every_stream_once_and_lead_back(sort: Any, limit: int) -> None:
    manager = manager_of(*(f"s{index}" for index in range(7)))
    play(manager, "s5", 1.0)
    play(manager, "s3", 0.5)
    whole = names(streams(manager, sort=sort))
    forward = pages(manager, sort=sort, limit=limit)
    assert [name for page in forward for name in page] == whole
    assert all(len(page) == limit for page in forward[:-1])
    found = streams(manager, sort=sort, limit=limit)
    for before in forward[:-1]:
        following = streams(manager, sort=sort, limit=limit, cursor=found.next)
        assert following.first == found.first + limit
        assert following.previous is not None
        back = streams(manager, sort=sort, limit=limit, cursor=following.previous)
        assert names(back) == before
        found = following


def test_a_page_continues_where_the_last_one_ended_whatever_came_in_between() -> None:
    manager = manager_of("b", "d", "f", "h")
    first = streams(manager, limit=2)
    for name in ("a", "c", "e"):
        manager.create(name, ArcConfig(alpha=0.1, features=0))
    del manager.streams["d"]  # the stream at the edge of the page
    assert names(streams(manager, limit=2, cursor=first.next)) == ["e", "f"]


@pytest.mark.parametrize("cursor", ["name", "worst~next~1~0~a", "name~up~0~0~a", "name~next~x~0~a"])
def test_a_cursor_of_another_list_is_rejected(cursor: str) -> None:
    with pytest.raises(ApiError, match="Omit it for the first page"):
        streams(manager_of("a"), cursor=cursor)


def test_a_page_beyond_the_end_is_empty_and_leads_nowhere() -> None:
    found = streams(manager_of("a"), limit=5, cursor="name~next~0~0~z")
    assert (names(found), found.next, found.found) == ([], None, 1)


def test_the_client_has_the_same_parameters(service: Inside) -> None:
    with Client(f"http://127.0.0.1:{service.port}") as client:
        for name in ("north", "south", "parcels"):
            client.create(name, {"alpha": 0.1, "method": "arc"})
        for _ in range(60):
            client.feedback("south", client.predict("south").id, loss=1.0)
        assert [item.stream for item in client.streams()] == ["north", "parcels", "south"]
        assert [item.stream for item in client.streams(sort="worst", search="th")] == [
            "south",
            "north",
        ]
        assert [item.stream for item in client.streams(status="broken")] == ["south"]
        page = client.stream_list(limit=2)
        assert (names(page), page.found, page.statuses.broken) == (["south", "north"], 3, 1)
        assert names(client.stream_list(limit=2, cursor=page.next)) == ["parcels"]


@pytest.mark.parametrize(
    ("query", "reason"),
    [
        ("sort=best", "must be one of name, worst"),
        ("status=bad", "must be one of ok, drifting, broken, recovered, stale"),
        ("limit=0", "an integer from 1 to 1000"),
        ("search=" + 65 * "a", "search in the query must match"),
        ("search=%00", "search in the query must match"),
        ("cursor=%0A", "cursor in the query must match"),
    ],
)
def test_invalid_parameters_are_rejected_with_what_is_valid(
    service: Inside, query: str, reason: str
) -> None:
    status, problem = service.http.call("GET", f"/v1/streams?{query}")
    assert status == 422
    assert reason in problem["detail"]
