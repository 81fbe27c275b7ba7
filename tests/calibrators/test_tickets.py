"""Tickets: losses that come late, in any order, are stored and counted by the certificate."""

from typing import Any

import numpy as np
import pytest

from localarc import ARC, LARC, RBF, Mondrian
from localarc.calibrators.tickets import Ticket, TicketError
from localarc.guarantees import Evidence
from localarc.guarantees.assumptions import PUNCTUAL, Lateness

X = np.random.default_rng(0).random((40, 2))
MAKERS: dict[str, Any] = {
    "ARC": lambda: ARC(0.1, score_range=(-9.0, 9.0)),
    "LARC": lambda: LARC(0.1, RBF(0.3), score_range=(-9.0, 9.0), clip=1.0),
    "Mondrian": lambda: Mondrian(lambda: ARC(0.1, score_range=(-9.0, 9.0)), lambda x: x[0] > 0.5),
}
each = pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)


@each
def test_ask_and_tell_at_once_are_an_update(make: Any) -> None:
    asked, updated = make(), make()
    for i, x in enumerate(X):
        ticket = asked.ask(x)
        assert ticket.threshold == updated.threshold(x)
        asked.tell(ticket, i % 3 == 0)
        updated.update(x, i % 3 == 0)
    assert np.array_equal(asked.threshold(X), updated.threshold(X))


@each
def test_a_loss_is_reported_once(make: Any) -> None:
    cal = make()
    first, second = cal.ask(X[0]), cal.ask(X[1])
    before = cal.tell(second, 1.0).forget(first).state()
    for ticket in (first, second, second.id, 77):
        with pytest.raises(TicketError, match="is not pending"):
            cal.tell(ticket, 1.0)
        with pytest.raises(TicketError, match="is not pending"):
            cal.forget(ticket)
    assert cal.state() == before


@each
def test_tickets_are_part_of_the_state(make: Any) -> None:
    cal = make()
    tickets = [cal.ask(x) for x in X[:10]]
    cal.tell(tickets[4], 1.0)
    twin = make().restore(cal.state())
    for ticket in (tickets[9], tickets[0], tickets[7]):
        cal.tell(ticket, 1.0)
        twin.tell(ticket.id, 1.0)
    assert cal.state() == twin.state()
    with pytest.raises(TicketError):
        twin.tell(tickets[4], 1.0)


@each
def test_a_bad_loss_leaves_the_ticket_pending(make: Any) -> None:
    cal = make()
    ticket = cal.ask(X[0])
    before = cal.state()
    for loss in (2.0, -1.0, np.nan, "late", None):
        with pytest.raises((TypeError, ValueError)):
            cal.tell(ticket, loss)
    assert cal.state() == before
    cal.tell(ticket, 0.0)


def test_the_certificate_counts_the_pending_losses() -> None:
    cal = MAKERS["ARC"]()
    tickets = [cal.ask(None) for _ in range(5)]
    for ticket in tickets[::-1]:
        cal.tell(ticket, 0.0)
    certificate = cal.certificate()
    assert certificate.pending == 4
    assert certificate.theorem_a.value == pytest.approx((18.0 + 5.0 * 1.0) * np.sqrt(5) / 5)
    assert PUNCTUAL not in certificate.theorem_a.assumes
    assert not certificate.theorem_b.holds


def test_an_update_while_others_are_pending_counts_them() -> None:
    cal = MAKERS["ARC"]()
    cal.ask(None), cal.ask(None)
    assert cal.update(None, 0.0).certificate().pending == 2


def test_without_tickets_immediate_feedback_is_an_assumption() -> None:
    certificate = MAKERS["LARC"]().update(X[0], 1.0).certificate()
    for bound in (certificate.theorem_a, certificate.theorem_b):
        assert PUNCTUAL in bound.assumes
    stated = MAKERS["LARC"]().update(X[0], 1.0).certificate(pending=3)
    assert "at most 3 loss(es) pending, as stated" in stated.theorem_a.assumes


def test_a_broken_assumption_is_seen_at_the_threshold_of_the_ticket() -> None:
    cal = ARC(0.1, rate=100.0, score_range=(0.0, 1.0))
    early = cal.ask(None)  # threshold 0: not full
    cal.update(None, 1.0)  # now 90
    cal.tell(early, 1.0)
    assert cal.certificate().theorem_a.holds
    with pytest.warns(UserWarning, match="a full set cost more"):
        cal.tell(cal.ask(None), 1.0)
    assert not cal.certificate().theorem_a.holds


def test_a_number_that_cannot_be_a_ticket_is_refused() -> None:
    bad: list[Any] = [0, -1, 1.5, "1", None]
    for ticket in bad:
        with pytest.raises(ValueError, match="ticket"):
            ARC(0.1).tell(ticket, 1.0)
    with pytest.raises(TicketError):
        ARC(0.1).tell(Ticket(3, 0.5), 1.0)


@each
def test_a_batch_that_fails_leaves_no_trace_while_losses_are_pending(make: Any) -> None:
    cal = make()
    cal.ask(X[0])
    before = cal.state()
    with pytest.raises(ValueError, match="loss must lie between"):
        cal.partial_fit(X[:3], [0.0, 1.0, 2.0])  # the first two count as learned meanwhile
    assert cal.state() == before


@each
def test_pending_tickets_are_listed_in_order_until_they_are_closed(make: Any) -> None:
    cal = make()
    tickets = [cal.ask(x) for x in X[:5]]
    assert cal.pending == tuple(tickets)
    cal.tell(tickets[3], 1.0).forget(tickets[0])
    left = tickets[1], tickets[2], tickets[4]
    assert cal.pending == make().restore(cal.state()).pending == left


def test_a_caller_that_keeps_rounds_itself_learns_and_certifies_as_with_tickets() -> None:
    asked, kept = ARC(0.1, score_range=(-9.0, 9.0)), ARC(0.1, score_range=(-9.0, 9.0))
    tickets = [asked.ask(None) for _ in range(3)]
    for ticket in reversed(tickets):
        asked.tell(ticket, 1.0)
        kept.update_late(None, 1.0, ticket.threshold)
    late = Lateness(asked.most_pending, measured=True)
    assert kept.certificate_of_late(late, Evidence()) == asked.certificate()
    assert (kept.loss_sum, kept.rounds_since_restart) == (3.0, 3)
    assert (kept.restart().loss_sum, kept.rounds_since_restart, kept.rounds) == (0.0, 0, 3)


def test_a_round_that_breaks_an_assumption_is_named() -> None:
    cal = ARC(0.1, score_range=(-9.0, 9.0)).silence()
    assert "a full set" not in " ".join(cal.broken_assumptions)
    cal.update_late(None, 1.0, threshold=9.5)
    assert "a full set cost more" in " ".join(cal.broken_assumptions)
