"""Past one machine: owners in schemas of one PostgreSQL, behind a proxy that routes by name."""

from __future__ import annotations

import contextlib
import re
import shutil
import subprocess
import time
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from service.postgres_server import Postgres
from service.requirements import missing
from service.service_process import Caller, Server, free_port

pytestmark = pytest.mark.service

EXAMPLE = Path(__file__).parents[4] / "docs" / "service" / "haproxy.cfg"
CONFIG: dict[str, Any] = {"alpha": 0.1, "method": "arc"}
NAMES = [f"s{number}" for number in range(8)]


def owner_of(name: str) -> int:
    """As the proxy computes it."""
    return zlib.crc32(name.encode()) % 2


@contextlib.contextmanager
def proxy(folder: Path, owners: list[int]) -> Iterator[int]:
    """HAProxy with the example's configuration, on other ports; yields its port."""
    command = shutil.which("haproxy") or shutil.which("haproxy", path="/usr/sbin")
    if command is None:
        missing("HAProxy is not installed: apt-get install haproxy")
    port = free_port()
    ports = {"8080": port, "8090": owners[0], "8091": owners[1]}
    text = re.sub(r"(?<=127\.0\.0\.1:)\d+", lambda found: str(ports[found[0]]), EXAMPLE.read_text())
    (folder / "haproxy.cfg").write_text(text)
    process = subprocess.Popen([str(command), "-f", str(folder / "haproxy.cfg"), "-db"])
    try:
        yield port
    finally:
        process.kill()
        process.wait()


def until_answered(port: int, method: str, path: str, body: Any) -> Any:
    """Repeat a request until it is answered, as the client does."""
    until = time.monotonic() + 120
    while time.monotonic() < until:
        with contextlib.suppress(ConnectionError), contextlib.closing(Caller(port)) as caller:
            status, answer = caller.call(method, f"/v1/streams/{path}", body)
            if status in (200, 201):
                return answer
            assert status in (502, 503, 504), answer
        time.sleep(0.05)
    raise AssertionError(f"{path} was not answered")


def predict(port: int, name: str) -> int:
    with contextlib.closing(Caller(port)) as caller:
        return caller.predict(name, id="second")[0]


def test_owners_in_one_database_are_one_service_behind_a_proxy(
    tmp_path: Path, postgres: Postgres
) -> None:
    options = "--store", postgres.url, "--store-schema"
    with contextlib.ExitStack() as stack:
        owners = [
            stack.enter_context(
                Server(tmp_path / f"owner{k}", *options, f"owner_{k}", port=free_port())
            )
            for k in (0, 1)
        ]
        port = stack.enter_context(proxy(tmp_path, [each.port for each in owners]))
        assert {owner_of(name) for name in NAMES} == {0, 1}
        received = {}
        for name in NAMES:
            until_answered(port, "PUT", name, CONFIG)
            received[name] = until_answered(port, "POST", f"{name}/predict", {"id": "first"})
        listed = owners[0].caller().call("GET", "/v1/streams")[1]["streams"]
        assert {item["stream"] for item in listed} == {n for n in NAMES if owner_of(n) == 0}
        owners[1].kill()
        away = [name for name in NAMES if owner_of(name) == 1]
        for name in set(NAMES) - {*away}:
            assert predict(port, name) == 200  # the other owner goes on
        assert predict(port, away[0]) in (502, 503)
        owners[1].start()
        for name in NAMES:
            again = until_answered(port, "POST", f"{name}/predict", {"id": "first"})
            assert again == received[name]
