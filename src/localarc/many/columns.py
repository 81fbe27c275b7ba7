"""Roles: which column of a frame is the key, the order, the score, and so on; and the mode."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Self

ASK, LEARN = "ask", "learn"
"""The values of the column `kind`."""


@dataclass(frozen=True)
class Roles:
    """The user's column names: `order` or `time`, and `kind` with `id` where losses come late."""

    key: tuple[str, ...]
    order: str | None
    features: tuple[str, ...] = ()
    score: str | None = None
    loss: str | None = None
    kind: str | None = None
    id: str | None = None
    width: str | None = None
    time: str | None = None

    @classmethod
    def checked(
        cls,
        *,
        key: str | Sequence[str],
        order: str | None,
        features: Sequence[str],
        score: str | None,
        loss: str | None,
        kind: str | None,
        id: str | None,  # noqa: A002
        width: str | None,
        time: str | None = None,
    ) -> Self:
        """Roles that make sense together; raises if they do not."""
        if isinstance(features, str):
            raise TypeError(f"features must be a list of columns, got the text {features!r}.")
        if (score is None) == (loss is None):
            raise ValueError(
                "pass either score= or loss=: a score yields a threshold, a loss and an update; a "
                "known loss is only learned."
            )
        if order is not None and time is not None:
            raise ValueError(
                "pass either order= or time=: a number of each event of a key, or its time."
            )
        if (kind is None) != (id is None) and not (kind is None and time is not None):
            raise ValueError(
                'pass kind= and id= together: rows of kind "ask" get a threshold, rows of kind '
                '"learn" name the id of the ask whose outcome they bring.'
            )
        if width is not None and loss is not None and kind is None:
            raise ValueError(
                "width= requires thresholds, and a known loss has none. Pass score=, or kind= "
                "and id= for asks whose losses come late."
            )
        keys = (key,) if isinstance(key, str) else tuple(key)
        if not keys:
            raise ValueError("key must name a column, or several for a composite key; got none.")
        roles = cls(keys, order, tuple(features), score, loss, kind, id, width, time)
        roles._check_distinct()
        return roles

    def _check_distinct(self) -> None:
        names = list(self.columns)
        if len({name.lower() for name in names}) < len(names):
            raise ValueError(f"each column can be used only once, got {', '.join(names)}.")

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
    def columns(self) -> tuple[str, ...]:
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

    def check_columns(self, columns: Sequence[str]) -> None:
        """Raise unless a frame has every column that is read."""
        for name in self.columns:
            if name not in columns:
                raise ValueError(f"the frame has no column {name!r}: it has {', '.join(columns)}.")

    def check_added(self, columns: Iterable[str], rejects: bool) -> None:
        """Raise if the frame has a column with the name of one that is added."""
        added = (*self.added, "rejected") if rejects else self.added
        if clash := [name for name in columns if name.lower() in added]:
            raise ValueError(
                f"{clash[0]!r} is the name of a column that calibrate adds. Rename it first."
            )

    def to_json(self) -> dict[str, Any]:
        """The roles, for storage."""
        return dict(vars(self))

    @classmethod
    def from_json(cls, stored: dict[str, Any]) -> Self:
        """The inverse of `to_json`."""
        tuples = {"key": tuple(stored["key"]), "features": tuple(stored["features"])}
        return cls(**{**stored, **tuples})

    def difference(self, stored: Roles) -> str | None:
        """One sentence about the first role that differs from the stored ones."""
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
