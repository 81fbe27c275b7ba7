"""Tickets: a threshold that went out, and whose loss is still to come."""

from __future__ import annotations

from dataclasses import dataclass

from localarc import validation


class TicketError(LookupError):
    """A ticket that is not pending: its loss was reported before, or it was never issued."""


@dataclass(frozen=True, slots=True)
class Ticket:
    """A threshold that went out; hand it back with its loss, whenever that becomes known.

    Calibrators issue tickets: `ticket = cal.ask(x)`, later `cal.tell(ticket, loss)`.

    Parameters
    ----------
    id : int
        The number of the ticket, counted from 1. It can be stored in place of the ticket.
    threshold : float
        The threshold of the round.

    Examples
    --------
    >>> Ticket(id=1, threshold=0.5).threshold
    0.5
    """

    id: int
    threshold: float


def ticket_id(ticket: Ticket | int) -> int:
    """The number of a ticket, given it or its number."""
    if isinstance(ticket, Ticket):
        return ticket.id
    return validation.integer("ticket", ticket, 1, "It is what `ask` returned, or its id.")


def not_pending(number: int) -> TicketError:
    """The error for a ticket that nobody waits for."""
    return TicketError(
        f"ticket {number} is not pending: its loss was reported before, or it was never issued. "
        "Report each loss once, with the ticket that `ask` returned for it."
    )
