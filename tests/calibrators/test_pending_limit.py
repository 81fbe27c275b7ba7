"""Pending tickets are limited in number, and say so before they take much memory."""

from typing import Any

import numpy as np
import pytest

from localarc import AutoLARC, Gate, LabelSets, PendingWarning, Safeguard
from localarc.calibrators.auto import pending_limit

POINT = np.zeros(1)
MAKERS: dict[str, Any] = {
    "AutoLARC": lambda **more: AutoLARC(0.1, **more),
    "Safeguard": lambda **more: Safeguard(lambda x: 0.5, 0.1, **more),
    "LabelSets": lambda **more: LabelSets(0.1, ["a", "b"], **more),
    "Gate": lambda **more: Gate(0.1, **more),
}
each = pytest.mark.parametrize("name", MAKERS)
FULL = r"at most 3 tickets may be pending, max_pending, and 3 are.*forget.*or raise max_pending"


def ask(cal: Any) -> Any:
    if isinstance(cal, Gate):
        return cal.decide(POINT, confidence=0.99)
    return cal.ask(POINT, [0.1, 0.9]) if isinstance(cal, LabelSets) else cal.ask(POINT)


def ask_often(cal: Any) -> None:
    for _ in range(1000):
        ask(cal)


@each
def test_a_ticket_beyond_the_limit_is_refused_and_changes_nothing(name: str) -> None:
    cal = MAKERS[name](max_pending=3)
    made = [ask(cal) for _ in range(3)]
    before, issued = [ticket.id for ticket in cal.pending], [ticket.id for ticket in made]
    for _ in range(2):
        with pytest.raises(RuntimeError, match=FULL):
            ask(cal)
    assert [ticket.id for ticket in cal.pending] == before == issued
    cal.forget(made[1])
    assert ask(cal).id == 4
    cal.max_pending = 4
    assert ask(cal).id == 5
    with pytest.raises(RuntimeError, match="at most 4 tickets"):
        ask(cal)


@pytest.mark.parametrize("name", ["AutoLARC", "Safeguard"])
def test_a_batch_of_tickets_is_issued_whole_or_not_at_all(name: str) -> None:
    cal = MAKERS[name](max_pending=3)
    cal.ask_many(np.zeros((2, 1)))
    with pytest.raises(RuntimeError, match="2 are: there is no room for 2 more"):
        cal.ask_many(np.zeros((2, 1)))
    assert len(cal.pending) == 2


@pytest.mark.parametrize("name", ["AutoLARC", "LabelSets", "Gate"])
def test_a_state_keeps_the_limit_and_fits_one_with_another(name: str) -> None:
    cal = MAKERS[name](max_pending=3)
    ask(cal)
    assert type(cal).from_state(cal.state()).max_pending == 3
    assert len(MAKERS[name](max_pending=4).restore(cal.state()).pending) == 1


@each
@pytest.mark.parametrize("most", [0, -1, 2.0, "many", None])
def test_a_limit_is_a_whole_number(name: str, most: Any) -> None:
    with pytest.raises(ValueError, match="max_pending must be a whole number of at least 1"):
        MAKERS[name](max_pending=most)


@each
def test_large_ledgers_are_reported_at_each_doubling(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pending_limit, "LARGE", 20_000)
    cal = MAKERS[name]()
    with pytest.warns(PendingWarning, match=r"pending tickets take up to \d+ MB. Forget") as warned:
        ask_often(cal)
    assert 1 <= len(warned) <= 6


@pytest.mark.parametrize("name", ["AutoLARC", "Safeguard"])
def test_a_large_batch_is_reported_before_its_tickets_go_out(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pending_limit, "LARGE", 20_000)
    cal = MAKERS[name]()
    with pytest.raises(PendingWarning, match=r"^2,000 pending tickets take up to \d+ MB"):
        cal.ask_many(np.zeros((2000, 1)))  # warnings are errors here
    assert cal.pending_count == 0


@pytest.mark.parametrize("known", [0, 500])
def test_what_a_batch_is_said_to_take_is_near_what_it_takes(known: int) -> None:
    X = np.random.default_rng(0).normal(size=(2500, 2))
    cal = AutoLARC(0.1)
    cal.cover(X[:known], np.abs(X[:known, 0]))
    cal.ask(X[0])
    said = 2001 * cal.engine.ticket_bytes
    cal.ask_many(X[500:])
    assert 0.5 * said < cal.engine.pending_bytes <= said
