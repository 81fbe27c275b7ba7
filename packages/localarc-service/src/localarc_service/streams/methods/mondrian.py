"""Mondrian: one ARC per group. A prediction has one group, and a ticket."""

from __future__ import annotations

from typing import Any

from localarc import ARC, Mondrian
from localarc_client.wire.config import MondrianConfig
from localarc_service.stored.format import Group
from localarc_service.streams.methods.adaptive import build_arc
from localarc_service.streams.methods.base import Method


def build(config: MondrianConfig) -> Mondrian:
    """The calibrator of a config."""
    return Mondrian(lambda: build_arc(config))


class MondrianMethod(Method[Mondrian]):
    """One threshold per group."""

    def groups(self, group: Group) -> str:
        """The only group of a prediction."""
        if not isinstance(group, str):
            raise ValueError(
                f"method mondrian has one threshold per group: send one group, got {group!r}."
            )
        return group

    def is_informed(self, group: Group) -> bool:
        """Whether the threshold of the group follows from any loss."""
        part = self._parts.get(self.groups(group))
        return part is not None and part.rounds_since_restart > 0

    @property
    def _parts(self) -> dict[Any, ARC]:
        return self.calibrator.calibrators  # type: ignore[return-value]

    @property
    def rounds(self) -> int:
        """The number of losses, in all groups."""
        return sum(part.rounds_since_restart for part in self._parts.values())

    def max_pending(self, group: str) -> int | None:
        """Largest number of others of a group that were pending when a prediction was made."""
        part = self._parts.get(group)
        return None if part is None else part.most_pending

    @property
    def memory(self) -> str:
        """There are no places."""
        return "none"

    @property
    def memory_bytes(self) -> int:
        """There are no places."""
        return 0
