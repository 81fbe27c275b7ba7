"""How long a standby takes to take over: `python -m benchmarks.service.takeover`, two minutes.

Two services share one PostgreSQL on this machine. The one that serves is killed, or stopped, and
the time counts until the other one has committed and acknowledged a request. It replays the events
that no snapshot has, after a kill all of them here, so that time depends on how many there are.
"""

from __future__ import annotations

import contextlib
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks import machine

sys.path.insert(0, str(machine.ROOT / "tests"))  # for the server of PostgreSQL

if TYPE_CHECKING:
    from service.postgres_server import Postgres
    from service.service_process import Caller, Server

STREAMS = 50
TRIALS = 5
BATCH = 500
STANDBY = "standby: another process serves these streams."


def status(caller: Caller) -> str:
    with contextlib.suppress(ConnectionError):
        return str(caller.call("GET", "/readyz")[1]["detail"])
    return ""


def stand_by(server: Server) -> None:
    """Start a service, and wait until it can take over."""
    server.start(wait=False)
    while status(server.caller()) != STANDBY:
        time.sleep(0.1)


def fill(caller: Caller, events: int) -> None:
    """Streams of ARC with as many predictions."""
    for number in range(STREAMS):
        assert caller.create(f"s{number}", {"alpha": 0.1, "method": "arc"})[0] < 300
    for start in range(0, events, BATCH):
        operations = [
            {"op": "predict", "stream": f"s{number % STREAMS}", "id": f"p{number}"}
            for number in range(start, min(events, start + BATCH))
        ]
        answer = caller.call("POST", "/v1/batch", {"operations": operations})
        assert all(each["status"] == 200 for each in answer[1]["results"]), answer


def seconds_until_answered(caller: Caller, key: str) -> float:
    """From now until a new prediction is acknowledged."""
    started = time.perf_counter()
    while True:
        with contextlib.suppress(ConnectionError):
            if caller.predict("s0", id=key)[0] == 200:
                return time.perf_counter() - started
        time.sleep(0.002)


@contextlib.contextmanager
def pair(postgres: Postgres, schema: str) -> Iterator[list[Server]]:
    from service.service_process import Server, free_port

    options = "--store", postgres.url, "--store-schema", schema, "--log-events", "1000000"
    with tempfile.TemporaryDirectory() as folder:
        both = [
            Server(Path(folder) / "loops", *options, "--max-pending", "100000", port=free_port())
            for _ in range(2)
        ]
        with both[0]:
            stand_by(both[1])
            with contextlib.ExitStack() as stack:
                stack.push(both[1])
                yield both


def measure(postgres: Postgres, events: int, end: Callable[[Server], Any]) -> list[float]:
    found = []
    name = f"takeover_{events}_{end.__name__}"
    with pair(postgres, name) as (owner, standby):
        fill(owner.caller(), events)
        for trial in range(TRIALS):
            caller = standby.caller()
            assert status(caller) == STANDBY
            started = time.perf_counter()
            end(owner)
            ending = 0.0 if end.__name__ == "kill" else time.perf_counter() - started
            found.append(ending + seconds_until_answered(caller, f"t{trial}"))
            stand_by(owner)
            owner, standby = standby, owner
    return found


def main() -> None:
    from service.postgres_server import Postgres
    from service.service_process import Server

    print(machine.describe())
    with Postgres() as postgres:
        for events in 0, 10_000:
            for end in Server.kill, Server.stop:
                found = measure(postgres, events, end)
                median, slowest = statistics.median(found), max(found)
                about = f"{events:>6} events, {end.__name__:<5}"
                print(f"{about} median {median:.2f} s, slowest {slowest:.2f} s", flush=True)


if __name__ == "__main__":
    main()
