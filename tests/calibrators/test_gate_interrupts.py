"""Ctrl-C in the middle of any call of a gate: afterwards all of it has happened, or none of it."""

import copy
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from interrupts import alarm, comes_in_time
from localarc import Gate

INTERRUPTS = 200
ROUNDS = 20_000
Call = Callable[[Gate], Any]


@pytest.fixture
def interrupts() -> Iterator[None]:
    with alarm():
        yield


def next_call(twin: Gate, random: Any, number: int) -> Call:
    """A decision, or a report about one that is open; the same for a gate and its twin."""
    sent = [d.id for d in twin.pending]
    withheld = [*twin._records.withheld]
    wrong, kind = bool(random.random() < 0.2), random.random()
    if len(sent) > 3 and kind < 0.3:
        return lambda gate: gate.tell(sent[0], wrong=wrong)
    if sent and kind < 0.35:
        return lambda gate: gate.forget(sent[-1])
    if withheld and kind < 0.45:
        return lambda gate: gate.audit(withheld[-1], wrong=wrong)
    if kind < 0.5:
        return lambda gate: gate.summary()
    topic, sure = ["billing", "legal"][random.integers(2)], float(random.random())
    return lambda gate: gate.decide([topic, sure], confidence=sure, key=f"mail-{number}")


def test_an_interrupted_call_changes_everything_or_nothing(interrupts: None) -> None:
    gate, twin = Gate(0.3, auditable=5), Gate(0.3, auditable=5)
    random, delays = np.random.default_rng(0), np.random.default_rng(1)
    interrupted = halfway = number = 0
    while interrupted < INTERRUPTS:
        assert number < ROUNDS, f"only {interrupted} signals came in time"
        call = next_call(twin, random, number)
        call(twin)
        if number < 50:  # compiled before the first interrupt
            call(gate)
        elif comes_in_time(lambda: call(gate), delays.uniform(1e-6, 2e-4)):  # noqa: B023
            interrupted += 1
            if gate.state() != twin.state():
                halfway += 1
                call(gate)  # nothing had happened
            assert gate.state() == twin.state()
            assert gate.summary().consistent
        number += 1
    assert 0 < halfway < INTERRUPTS


EMPTY = Gate(0.3).state()


@pytest.mark.parametrize(
    "call", [Gate.reset, lambda gate: gate.restore(EMPTY)], ids=["reset", "restore"]
)
def test_an_interrupted_gate_is_the_old_or_the_new_one(call: Call, interrupts: None) -> None:
    delays, came = np.random.default_rng(2), 0
    gate = Gate(0.3)
    for _ in range(20):
        gate.decide("a", confidence=0.99)
    old = gate.state()
    new = call(copy.deepcopy(gate)).state()
    for _ in range(ROUNDS):
        gate.restore(old)
        if comes_in_time(lambda: call(gate), delays.uniform(1e-6, 2e-3)):
            came += 1
            assert gate.state() in (old, new)
        if came == 40:
            return
    pytest.fail(f"only {came} signals came in time")
