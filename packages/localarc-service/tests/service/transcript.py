"""A transcript: requests to a service, with the clock of each, and what was responded.

What differs from one run to the next is left out: ids of requests, and how much memory is used.
Numbers that were computed are hexadecimal, so that they can be compared bit for bit.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple

from localarc import algorithms
from service.service_in_thread import Inside

PATH = Path(__file__).parent / "golden" / "transcript.json"
METHODS = "ARC", "LARC", "AutoLARC", "Mondrian", "Gate"
LEFT_OUT = {"memory", "memory_bytes", "request_id"}
DIGITS = 6  # numbers that people wrote have no more


class Exchange(NamedTuple):
    """One request and its response."""

    now: float
    method: str
    path: str
    body: Any
    status: int
    response: Any


def send(service: Inside, now: float, method: str, path: str, body: Any) -> Exchange:
    """Send a request when the service's clock shows this time."""
    service.clock.now = now
    while True:
        status, response = service.http.call(method, path, body)
        if status != 503:  # while it compiles
            return Exchange(now, method, path, body, status, shown(response))


def shown(value: Any) -> Any:
    """A response as it is stored."""
    if isinstance(value, dict):
        return {name: shown(part) for name, part in value.items() if name not in LEFT_OUT}
    if isinstance(value, list):
        return [shown(part) for part in value]
    if isinstance(value, float) and value != round(value, DIGITS):
        return value.hex()
    return value


def numbers() -> dict[str, int]:
    """The numbers of the methods' algorithms, by which a transcript is one of the present."""
    return {kind: algorithms.number_of(kind) for kind in METHODS}


def write(exchanges: list[Exchange]) -> None:
    """Store a transcript, one exchange per line."""
    lines = [json.dumps(numbers())]
    lines += [json.dumps(each, separators=(",", ":"), allow_nan=False) for each in exchanges]
    PATH.write_text("[" + ",\n".join(lines) + "]\n")


def read() -> tuple[dict[str, int], list[Exchange]]:
    """The numbers of the algorithms that answered, and the exchanges."""
    made, *rows = json.loads(PATH.read_text())
    return made, [Exchange(*row) for row in rows]
