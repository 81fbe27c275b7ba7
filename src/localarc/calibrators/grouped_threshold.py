"""A threshold function for each group."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, overload

import numpy as np

from localarc import validation
from localarc.calibrators.role import Calibrator, Point, Points
from localarc.validation import FloatArray

Group = Hashable


class Grouping(Protocol):
    """What finds the group of an input, and holds each group's calibrator."""

    calibrators: dict[Group, Calibrator]

    def group(self, x: Point, given: Group | None = None) -> Group:
        """The group of one input."""

    def groups_of(self, points: FloatArray, groups: Sequence[Group] | None) -> list[Group]:
        """The group of each of n inputs."""


@dataclass(frozen=True)
class GroupedThreshold:
    """A threshold function for each group, and one for groups that were never seen.

    Parameters
    ----------
    owner : Grouping
        What finds the group of an input.
    parts : mapping
        The threshold function of each group.
    unseen : callable
        The threshold function of other groups.
    live : bool, default False
        Whether to use the owner's calibrators as they are now.
    """

    owner: Grouping
    parts: Mapping[Group, Callable[..., Any]]
    unseen: Callable[..., Any]
    live: bool = False

    @overload
    def __call__(self, x: Points, groups: Sequence[Group] | None = None) -> FloatArray: ...
    @overload
    def __call__(self, x: Point, groups: Group | None = None) -> float: ...
    def __call__(
        self, x: Point | Points, groups: Group | Sequence[Group] | None = None
    ) -> float | FloatArray:
        """The threshold for one input and its group, or n thresholds for n of them."""
        if validation.is_single(x):
            return float(self._function(self.owner.group(x, groups))(x))  # type: ignore[arg-type]
        validation.require_unmasked("x", x)
        rows = np.asarray(x)
        keys = self.owner.groups_of(rows, groups)  # type: ignore[arg-type]
        return np.array([self._function(key)(row) for key, row in zip(keys, rows, strict=True)])

    def _function(self, group: Group) -> Callable[..., Any]:
        if self.live and group in self.owner.calibrators:
            return self.owner.calibrators[group].threshold
        return self.parts.get(group, self.unseen)
