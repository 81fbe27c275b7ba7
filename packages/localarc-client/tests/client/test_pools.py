"""Clients keep connections apart for the workers of a service."""

from __future__ import annotations

import httpx
import pytest

from localarc_client.pools import Pools
from localarc_client.wire.workers import MAX_WORKERS, WORKERS_HEADER, owner_of

NAMES = [f"s{number}" for number in range(50)]


def request(path: str) -> httpx.Request:
    return httpx.Request("POST", f"http://127.0.0.1:8090{path}")


def response(workers: str | None) -> httpx.Response:
    return httpx.Response(200, headers={} if workers is None else {WORKERS_HEADER: workers})


def test_a_single_process_has_one_pool() -> None:
    pools = Pools(object)
    pools.learn(response(None))
    assert len({id(pools.choose(request(f"/v1/streams/{name}/predict"))) for name in NAMES}) == 1


def test_streams_of_a_worker_share_a_pool() -> None:
    pools = Pools(object)
    pools.learn(response("3"))
    for name in NAMES:
        for path in (f"/v1/streams/{name}", f"/prefix/v1/streams/{name}/predictions/a/feedback"):
            assert pools.choose(request(path)) is pools.used[owner_of(name, 3)]
    assert set(pools.used) == {0, 1, 2}
    pools.learn(response(None))  # the service has been started again, without workers
    assert {pools.choose(request(f"/v1/streams/{name}")) for name in NAMES} == {pools.used[0]}


@pytest.mark.parametrize(
    ("said", "most"), [("0", 1), ("-2", 1), ("two", 1), ("", 1), ("999", MAX_WORKERS), ("9" * 9, 1)]
)
def test_a_strange_number_of_workers_is_harmless(said: str, most: int) -> None:
    pools = Pools(object)
    pools.learn(response(said))
    for number in range(500):
        pools.choose(request(f"/v1/streams/s{number}"))
    assert len(pools.used) == most
