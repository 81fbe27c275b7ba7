"""Columns: which column of a frame is the key, the order, the score, and so on."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Self

ASK, LEARN = "ask", "learn"
"""The values of the column `kind`."""


@dataclass(frozen=True, kw_only=True)
class Columns:
    """What the columns of a frame, or the fields of a message, mean: names of yours for our roles.

    Parameters
    ----------
    key : str or sequence of str
        Column of the key, text or integers; several columns make a composite key.
    order : str, optional
        Column that numbers the events of each key 1, 2, 3, ...; by default rows are in order. Spark
        requires `order` or `time`.
    features : sequence of str, default ()
        Columns of the input; required for L-ARC.
    score : str, optional
        Column of the score. Rows gain `threshold`, `loss` (1 where the score is above the
        threshold) and `covered`. Pass either `score` or `loss`.
    loss : str, optional
        Column of a known loss, which is only learned. Rows gain `next_threshold`, the threshold
        for the same input from then on.
    kind : str, optional
        Column with "ask" or "learn", where losses come late. An ask gets a `threshold`; a row that
        learns brings the score or loss of an ask, and gains its `threshold`, `loss` and `covered`.
    id : str, optional
        Column that an ask and the row that learns its outcome share, text or integers; with `kind`.
        With `time`, what orders events of the same time, and shows that one is repeated.
    width : str, optional
        Column of the width of the interval at threshold 0, in units of the score: 0 for
        `prediction +- threshold`. Rows with a new threshold gain the `size` of the interval.
    time : str, optional
        Column of the time of each event, in place of `order`: rows are learned by time and id. Of
        frames that come one after another, rows wait until the watermark, the latest time so far
        less `Limits.delay`, has passed them. Rows that come later are rejected as late; with `id`,
        repeated ones as repeated events.

    Examples
    --------
    >>> from localarc.many import Columns
    >>> Columns(key=["country", "city"], score="residual").added
    ('threshold', 'loss', 'covered')
    """

    key: str | Sequence[str]
    order: str | None = None
    features: Sequence[str] = ()
    score: str | None = None
    loss: str | None = None
    kind: str | None = None
    id: str | None = None
    width: str | None = None
    time: str | None = None

    def __post_init__(self) -> None:
        if isinstance(self.features, str):
            raise TypeError(f"features must be a list of columns, got the text {self.features!r}.")
        keys = (self.key,) if isinstance(self.key, str) else tuple(self.key)
        object.__setattr__(self, "key", keys)
        object.__setattr__(self, "features", tuple(self.features))
        if (self.score is None) == (self.loss is None):
            raise ValueError(
                "pass either score= or loss=: a score yields a threshold, a loss and an update; a "
                "known loss is only learned."
            )
        if self.order is not None and self.time is not None:
            raise ValueError(
                "pass either order= or time=: a number of each event of a key, or its time."
            )
        if (self.kind is None) != (self.id is None) and (self.late or self.time is None):
            raise ValueError(
                'pass kind= and id= together: rows of kind "ask" get a threshold, rows of kind '
                '"learn" name the id of the ask whose outcome they bring.'
            )
        if self.width is not None and self.mode == "loss":
            raise ValueError(
                "width= requires thresholds, and a known loss has none. Pass score=, or kind= "
                "and id= for asks whose losses come late."
            )
        if not keys:
            raise ValueError("key must name a column, or several for a composite key; got none.")
        if len({name.lower() for name in self.names}) < len(self.names):
            raise ValueError(f"each column can be used only once, got {', '.join(self.names)}.")

    @property
    def keys(self) -> tuple[str, ...]:
        """The columns of the key."""
        return tuple(self.key)

    @property
    def value(self) -> str:
        """The column of the score or loss."""
        return self.score if self.score is not None else str(self.loss)

    @property
    def given_losses(self) -> bool:
        """Whether the value is a loss."""
        return self.loss is not None

    @property
    def late(self) -> bool:
        """Whether asks and losses are separate rows."""
        return self.kind is not None

    @property
    def mode(self) -> str:
        """A name of what rows bring."""
        return ("late " if self.late else "") + ("loss" if self.given_losses else "score")

    @property
    def names(self) -> tuple[str, ...]:
        """Every column that is read."""
        single = (self.order, self.time, self.kind, self.id, self.value, self.width)
        return (*self.key, *(name for name in single if name is not None), *self.features)

    @property
    def added(self) -> tuple[str, ...]:
        """The columns that calibration adds."""
        if self.mode == "loss":
            return ("next_threshold",)
        given = () if self.given_losses else ("loss", "covered")
        return ("threshold", *given, *(() if self.width is None else ("size",)))

    def check(self, found: Sequence[str], rejects: bool) -> None:
        """Raise unless a frame with these columns has all that are read, and none that is added.

        Parameters
        ----------
        found : sequence of str
            The names of the frame's columns.
        rejects : bool
            Whether bad rows are returned, with the violated rule in a column `rejected`.
        """
        for name in self.names:
            if name not in found:
                raise ValueError(f"the frame has no column {name!r}: it has {', '.join(found)}.")
        self.check_added(found, rejects)

    def check_added(self, found: Iterable[str], rejects: bool) -> None:
        """Raise if a frame has a column with the name of one that is added.

        Parameters
        ----------
        found : iterable of str
            The names of the frame's columns.
        rejects : bool
            As for `check`.
        """
        added = (*self.added, "rejected") if rejects else self.added
        if clash := [name for name in found if name.lower() in added]:
            raise ValueError(
                f"{clash[0]!r} is the name of a column that calibrate adds. Rename it first."
            )

    def to_json(self) -> dict[str, Any]:
        """Return the columns for storage."""
        return dict(vars(self))

    @classmethod
    def from_json(cls, stored: dict[str, Any]) -> Self:
        """Return the columns that `to_json` stored.

        Parameters
        ----------
        stored : dict
            The result of `to_json`.
        """
        return cls(**stored)

    def difference(self, stored: Columns) -> str | None:
        """Return one sentence about the first column that differs from the stored ones.

        Parameters
        ----------
        stored : Columns
            Those that a state was written with.
        """
        if self.mode != stored.mode:
            was, now = _PLURAL[stored.mode], _PLURAL[self.mode]
            return f"the state was written with rows of {was}, now they are {now}"
        for role in dataclasses.fields(self):
            here, there = getattr(self, role.name), getattr(stored, role.name)
            if here != there:
                return f"the state was written with {role.name}={_shown(there)}, now it is " + (
                    _shown(here)
                )
        return None


_PLURAL = {
    "score": "scores",
    "loss": "losses",
    "late score": "asks and late scores",
    "late loss": "asks and late losses",
}


def _shown(value: Any) -> str:
    if isinstance(value, tuple):
        return repr(value[0]) if len(value) == 1 else repr(list(value))
    return repr(value)
