"""The input of a round as bettors see it, and the nodes that a label has there."""

from __future__ import annotations

from collections.abc import Hashable
from typing import NamedTuple

from localarc.validation import FloatArray


class RoundInput(NamedTuple):
    """Features, groups, and which features are missing."""

    point: FloatArray
    groups: dict[Hashable, float]  # with their weights
    missing: tuple[int, ...]  # positions of features

    @property
    def is_plain(self) -> bool:
        """Whether a label has no node but its own."""
        return not self.groups and not self.missing

    def nodes(self, label: Hashable) -> dict[Hashable, float]:
        """The nodes of a candidate with their weights: the label, and the label in each group."""
        return {label: 1.0} | {(label, group): weight for group, weight in self.groups.items()}
