"""Tickets: a threshold that went out, and whose loss is still to come."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from localarc import validation
from localarc.memory.base import Arrays
from localarc.validation import FloatArray, IntArray

_LARGEST_ID = 2**63 - 1  # what the engine's tables hold


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
    hint = "It is what `ask` returned, or its id."
    return validation.integer("ticket", ticket, 1, hint, maximum=_LARGEST_ID)


def not_pending(number: int) -> TicketError:
    """The error for a ticket that is not pending."""
    return TicketError(
        f"ticket {number} is not pending: its loss was reported before, or it was never issued. "
        "Report each loss once, with the ticket that `ask` returned for it."
    )


@dataclass(frozen=True, slots=True, eq=False)
class Tickets:
    """Many tickets, as two arrays; iterating gives each as a `Ticket`.

    Calibrators issue them: `tickets = cal.ask_many(X)`, later `cal.tell_many(tickets, losses)`.

    Parameters
    ----------
    ids : array of shape (n,)
        The numbers of the tickets. They can be stored in place of the tickets.
    thresholds : array of shape (n,)
        The threshold of each round.

    Examples
    --------
    >>> tickets = Tickets(ids=[1, 2], thresholds=[0.5, 0.7])
    >>> len(tickets), [ticket.threshold for ticket in tickets]
    (2, [0.5, 0.7])
    """

    ids: IntArray
    thresholds: FloatArray

    def __post_init__(self) -> None:
        thresholds = validation.floats("thresholds", self.thresholds)
        object.__setattr__(self, "ids", ticket_ids(self.ids))
        object.__setattr__(self, "thresholds", thresholds)
        if thresholds.shape != self.ids.shape:
            raise ValueError(
                f"tickets must have one threshold per id, got {thresholds.shape} for "
                f"{self.ids.shape}."
            )

    def __len__(self) -> int:
        return len(self.ids)

    def __iter__(self) -> Iterator[Ticket]:
        pairs = zip(self.ids.tolist(), self.thresholds.tolist(), strict=True)
        return (Ticket(number, threshold) for number, threshold in pairs)


def ticket_ids(tickets: Tickets | Iterable[Ticket | int] | IntArray) -> IntArray:
    """The numbers of distinct tickets, given them or their numbers."""
    if isinstance(tickets, Tickets):
        return tickets.ids
    if isinstance(tickets, np.ndarray) and tickets.dtype.kind in "iu" and tickets.ndim == 1:
        numbers = np.require(tickets, np.int64, ["C", "W"])
    else:
        listed = validation.sequence("tickets", tickets, "be tickets or their ids")
        numbers = np.array([ticket_id(each) for each in listed], np.int64)
    distinct, counts = np.unique(numbers, return_counts=True)
    if (counts > 1).any():
        raise TicketError(
            f"ticket {distinct[counts > 1][0]} is there more than once. Report each loss once."
        )
    return numbers


class PendingRounds:
    """The rounds whose loss is pending: a threshold each, and the input where it counts.

    `most` is the largest number of losses pending beside the one being learned, D in the theorems;
    `told` counts the losses learned by ticket.
    """

    def __init__(self) -> None:
        self.tickets: dict[int, tuple[float, FloatArray | None]] = {}
        self.issued = self.told = self.most = 0

    def issue(self, threshold: float, point: FloatArray | None) -> Ticket:
        """A new ticket."""
        number, most = self.issued + 1, max(self.most, len(self.tickets))
        ticket = Ticket(number, threshold)
        self.issued, self.most = number, most  # no call from here on: an interrupt comes later
        self.tickets[number] = threshold, point
        return ticket

    def get(self, number: int) -> tuple[float, FloatArray | None]:
        """The threshold and the input of a pending round."""
        if number not in self.tickets:
            raise not_pending(number)
        return self.tickets[number]

    def close(self, number: int) -> None:
        """Its loss was learned. A second call, after an interrupt, changes nothing."""
        if number in self.tickets:
            del self.tickets[number]  # no call in between: an interrupt comes before or after
            self.told += 1

    def to_json(self) -> dict[str, Any]:
        """The counts, for storage."""
        return {"issued": self.issued, "told": self.told, "most": self.most}

    def arrays(self) -> Arrays:
        """The pending rounds, for storage."""
        rounds = self.tickets.values()
        arrays = {
            "ticket ids": np.array(list(self.tickets), np.int64),
            "ticket thresholds": np.array([threshold for threshold, _ in rounds], np.float64),
        }
        points = [point for _, point in rounds if point is not None]
        if points:
            arrays["ticket points"] = np.array(points, np.float64)
        return arrays if self.tickets else {}

    @classmethod
    def restored(cls, counts: Mapping[str, int], arrays: Arrays) -> PendingRounds:
        """What `to_json` and `arrays` stored; raises ValueError if it cannot be."""
        pending = cls()
        pending.issued, pending.told, pending.most = (
            validation.integer(name, counts[name], 0, "It counts tickets.")
            for name in ("issued", "told", "most")
        )
        ids = arrays["ticket ids"].tolist() if "ticket ids" in arrays else []
        thresholds = arrays["ticket thresholds"].tolist() if ids else []
        points = list(arrays["ticket points"]) if "ticket points" in arrays else [None] * len(ids)
        rounds = zip(thresholds, map(_own, points), strict=True)
        pending.tickets = dict(zip(ids, rounds, strict=True))
        distinct = len(pending.tickets) == len(ids)
        if not distinct or not all(1 <= number <= pending.issued for number in ids):
            raise ValueError("its tickets were never issued")
        return pending


def _own(point: Any) -> FloatArray | None:
    return None if point is None else np.array(point, np.float64)
