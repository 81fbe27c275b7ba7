"""The golden transcript: every method responds over HTTP as it did when it was written.

`make_transcript.py` writes it again where that is meant.
"""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from hardware import rounds_alike
from service import transcript
from service.conftest import Start
from service.service_in_thread import Inside

HEXADECIMAL = re.compile(r"-?0x[01]\.[0-9a-f]+p[+-]\d+")
WRITE_AGAIN = (
    "PYTHONPATH=tests:packages/localarc-service/tests "
    ".venv/bin/python -m service.make_transcript writes the transcript again."
)
OTHERWISE = (
    "{request} responds otherwise than in the transcript. If a learner was changed, count that in "
    "CHANGES of src/localarc/algorithms.py. If this is meant, " + WRITE_AGAIN
)


def test_the_service_responds_as_in_the_transcript(start: Start) -> None:
    made, exchanges = transcript.read()
    assert made == transcript.numbers(), f"an algorithm's number was raised: {WRITE_AGAIN}"
    service = start(synchronous="OFF")
    for known in exchanges:
        found = transcript.send(service, *known[:4])
        if found != known:
            message = OTHERWISE.format(request=f"{known.method} {known.path} at {known.now}")
            message += difference(list(found[4:]), list(known[4:]))
            assert not exact(service, known), message
            assert alike(list(found[4:]), list(known[4:])), message


def exact(service: Inside, known: transcript.Exchange) -> bool:
    """Whether thresholds are computed by calibrators that round alike everywhere.

    The bounds of summaries have logarithms, which do not.
    """
    if known.method == "GET":
        return False
    text = json.dumps([known.path, known.body])
    named = re.findall(r'streams/([^/?"]+)', text) + re.findall(r'"stream": "([^"]+)"', text)
    streams = service.ask(lambda manager: dict(manager.streams))
    return all(rounds_alike(streams[name].calibrator) for name in named if name in streams)


def alike(found: Any, known: Any) -> bool:
    """Whether two responses are the same to nine digits."""
    if isinstance(known, dict):
        same = isinstance(found, dict) and found.keys() == known.keys()
        return same and all(alike(found[name], known[name]) for name in known)
    if isinstance(known, list):
        same = isinstance(found, list) and len(found) == len(known)
        return same and all(map(alike, found, known))
    a, b = number(found), number(known)
    if a is None or b is None:
        return bool(found == known)
    return a == pytest.approx(b, rel=1e-9, abs=1e-9)


def number(value: Any) -> float | None:
    """A number, as `transcript.shown` writes it."""
    if isinstance(value, str) and HEXADECIMAL.fullmatch(value):
        return float.fromhex(value)
    return float(value) if isinstance(value, float | int) and not isinstance(value, bool) else None


def difference(found: Any, known: Any, place: str = "") -> str:
    """Where two responses differ first."""
    if isinstance(known, dict) and isinstance(found, dict) and found.keys() == known.keys():
        parts = [(found[name], known[name], f"{place}.{name}") for name in known]
    elif isinstance(known, list) and isinstance(found, list) and len(found) == len(known):
        parts = [(a, b, f"{place}[{i}]") for i, (a, b) in enumerate(zip(found, known, strict=True))]
    else:
        return f" At {place or 'its root'}: {found} instead of {known}."
    return next(difference(*part) for part in parts if part[0] != part[1])
