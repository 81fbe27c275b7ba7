"""The role of an online calibrator, as a list of checks: tickets, counts, promise and state."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from typing import Any

import numpy as np

from localarc.calibrators.role import OnlineCalibrator, OnlineMethod
from localarc.calibrators.tickets import Ticket, TicketError
from localarc.serialization import StateError

_ROUNDS = 40


def check_online_calibrator(calibrator: OnlineCalibrator, dimension: int = 2) -> None:
    """Raise an AssertionError that says what keeps a calibrator from being carried.

    It is about tickets, counts and states; `check_calibrator` checks thresholds and bounds.

    Parameters
    ----------
    calibrator : OnlineCalibrator
        A new calibrator, which is left as it was; checks run on copies.
    dimension : int, default 2
        The number of features of its inputs.

    Examples
    --------
    >>> from localarc import ARC
    >>> check_online_calibrator(ARC(alpha=0.1))
    """
    _has_members(calibrator, OnlineCalibrator)
    for promise in PROMISES:
        fresh = copy.deepcopy(calibrator).reset()
        try:
            promise(Rounds(fresh, dimension))
        except AssertionError as broken:
            sentence = (promise.__doc__ or promise.__name__).splitlines()[0]
            raise AssertionError(
                f"{calibrator!r} breaks a promise: {sentence} {broken}"
            ) from broken


def check_online_method(method: OnlineMethod) -> None:
    """Raise an AssertionError that says what keeps a method from being stored and watched.

    Parameters
    ----------
    method : OnlineMethod
        A method in the middle of its life, which is left as it was.

    Examples
    --------
    >>> from localarc import Gate
    >>> gate = Gate(wrong_at_most=0.1)
    >>> check_online_method(gate.tell(gate.decide("billing", confidence=0.99), wrong=False))
    """
    _has_members(method, OnlineMethod)
    before = method.state()
    settings: Any = method.settings
    again = type(settings).from_json(json.loads(json.dumps(settings.to_json())))
    assert again == settings, f"The settings change as JSON: {settings} to {again}."
    assert method.consistent is True, "It is not consistent."
    assert min(method.rounds, method.nbytes) >= 0, "It counts below 0."
    assert np.isfinite(method.loss_sum), "The sum of losses is not finite."
    assert method.pending_count == len(method.pending), "It counts other tickets than it has."
    assert all(isinstance(text, str) for text in method.problems()), "A problem is no sentence."
    assert method.certificate().alpha == method.alpha, "The certificate has another target."
    assert method.state() == before, "Looking at it changed it."
    twin = copy.deepcopy(method).reset().restore(before)
    assert twin.state() == before, "The state differs after resuming."
    assert (twin.rounds, twin.loss_sum) == (method.rounds, method.loss_sum), "Counts were lost."


class Rounds:
    """A calibrator, and the inputs, losses and scores of its rounds."""

    def __init__(self, calibrator: Any, dimension: int) -> None:
        random = np.random.default_rng(11)
        self.cal = calibrator
        self.X = random.normal(size=(_ROUNDS, dimension))
        self.scores = np.abs(random.normal(size=_ROUNDS)).tolist()

    def where(self, t: int) -> dict[str, Any]:
        """The groups of a round, unless the calibrator finds them itself."""
        return {"groups": t % 2} if "groups" in self.cal.learns_from else {}

    def ask(self, t: int) -> Ticket:
        """A ticket for a round."""
        ticket: Ticket = self.cal.ask(self.X[t], **self.where(t))
        return ticket

    def loss(self, t: int, threshold: float) -> float:
        """What a set costs."""
        return float(self.scores[t] > threshold)

    def tell(self, t: int, ticket: Ticket) -> float:
        """Report the loss of a ticket."""
        loss = self.loss(t, ticket.threshold)
        self.cal.tell(ticket, loss, self.scores[t])
        return loss

    def play(self, rounds: range) -> float:
        """Ask and tell each round; the sum of losses."""
        return sum(self.tell(t, self.ask(t)) for t in rounds)

    def threshold(self, t: int) -> float:
        """Today's threshold for the input of a round."""
        return float(self.cal.threshold(self.X[t], **self.where(t)))

    def thresholds(self) -> list[float]:
        """Today's thresholds at some inputs."""
        return [self.threshold(t) for t in range(5)]


def _update_is_ask_and_tell(rounds: Rounds) -> None:
    """An update is a ticket that is told at once."""
    twin = Rounds(copy.deepcopy(rounds.cal), rounds.X.shape[1])
    for t in range(_ROUNDS):
        loss = twin.loss(t, twin.threshold(t))
        twin.cal.update(twin.X[t], loss, score=twin.scores[t], **twin.where(t))
    rounds.play(range(_ROUNDS))
    assert rounds.thresholds() == twin.thresholds(), "Thresholds differ."
    assert rounds.cal.rounds == twin.cal.rounds == _ROUNDS, "Rounds were counted differently."


def _tickets_wait(rounds: Rounds) -> None:
    """A ticket has today's threshold, waits, and is told once."""
    cal, spent, tickets = rounds.cal, rounds.play(range(10)), []
    for t in range(5):
        today = rounds.threshold(t)
        tickets.append(rounds.ask(t))
        assert tickets[t].threshold == today, (
            f"The ticket's is {tickets[t].threshold}, not {today}."
        )
    assert list(cal.pending) == tickets, f"It waits for {cal.pending}."
    assert cal.issued == 15, f"It counts {cal.issued} tickets that were issued."
    spent += sum(rounds.tell(t, tickets[t]) for t in (3, 0, 4))
    cal.forget(tickets[2])
    assert list(cal.pending) == [tickets[1]], f"It waits for {cal.pending}."
    before = cal.state() if _stores_tickets(cal) else None
    for ticket in (tickets[0], tickets[2]):
        for call in (lambda t: cal.tell(t, 0.0, 0.5), cal.forget):
            assert _is_rejected(call, ticket), f"It accepted {ticket} a second time."
    spent += rounds.tell(1, tickets[1])
    assert abs(cal.loss_sum - spent) < 1e-9, f"Losses of {spent} sum to {cal.loss_sum}."
    assert before is None or cal.state() != before, "A loss that was told changed nothing."


def _counts_and_promise(rounds: Rounds) -> None:
    """Counts, promise, settings and state belong together."""
    spent = rounds.play(range(_ROUNDS))
    check_online_method(rounds.cal)
    assert rounds.cal.rounds == _ROUNDS, f"It counts {rounds.cal.rounds} of {_ROUNDS} rounds."
    assert abs(rounds.cal.loss_sum - spent) < 1e-9, f"Losses sum to {rounds.cal.loss_sum}."


def _resumes_with_tickets(rounds: Rounds) -> None:
    """A state has its pending tickets, or says why it cannot."""
    rounds.play(range(20))
    tickets = [rounds.ask(t) for t in range(20, 24)]
    if not _stores_tickets(rounds.cal):
        return
    twin = Rounds(copy.deepcopy(rounds.cal).reset(), rounds.X.shape[1])
    twin.cal.restore(rounds.cal.state())
    for each in (rounds, twin):
        assert list(each.cal.pending) == tickets, "Tickets were lost."
        for t in (22, 20, 21, 23):
            each.tell(t, tickets[t - 20])
    assert rounds.thresholds() == twin.thresholds(), "Thresholds differ after resuming."
    assert rounds.cal.state() == twin.cal.state(), "States differ after resuming."


PROMISES: tuple[Callable[[Rounds], None], ...] = (
    _update_is_ask_and_tell,
    _tickets_wait,
    _counts_and_promise,
    _resumes_with_tickets,
)


def _has_members(found: object, role: type) -> None:
    wanted = [name for name in dir(role) if name[0] != "_"]
    missing = [name for name in wanted if not hasattr(found, name)]
    assert not missing, f"{found!r} is no {role.__name__}: it has no {', '.join(missing)}."


def _stores_tickets(cal: Any) -> bool:
    try:
        cal.state()
    except StateError:
        return False
    return True


def _is_rejected(call: Callable[[Ticket], object], ticket: Ticket) -> bool:
    try:
        call(ticket)
    except TicketError:
        return True
    return False
