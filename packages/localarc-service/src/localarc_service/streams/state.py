"""The state of a stream: everything it remembers except its calibrator."""

from __future__ import annotations

from typing import NamedTuple

from localarc_service.stored import format as stored
from localarc_service.stored.format import Answered, FeatureSum, Group, GroupSum

MAX_POINTS = 1024


class Point(NamedTuple):
    """One point of the history; each field is a column of the stored history."""

    rounds: int
    at: float
    risk: float
    threshold: float
    size: float | None
    observed: float | None
    pending: int
    late: int
    expired: int


def group_names(group: Group) -> list[str]:
    """The groups of a prediction, each once."""
    if group is None:
        return []
    return [group] if isinstance(group, str) else list(dict.fromkeys(group))


class StreamState(stored.State):
    """The stored fields, and how they change. A field that is added here would not be stored."""

    @property
    def risk(self) -> float | None:
        """The mean loss so far; with method auto, of the rounds that its promise is about."""
        if self.config.method != "auto":
            return self.loss_sum / self.rounds if self.rounds else None
        rounds = self.rounds - self.uninformed
        return (self.loss_sum - self.uninformed_loss) / rounds if rounds else None

    def add_input(self, x: list[float], group: Group) -> None:
        """Widen the ranges of the features, and register the groups."""
        for name in group_names(group):
            self.groups.setdefault(name, GroupSum())
        if not self.features:
            self.features = [FeatureSum(value, value, 0.0) for value in x]
        for feature, value in zip(self.features, x, strict=True):
            feature.low = min(feature.low, value)
            feature.high = max(feature.high, value)
            feature.total += value

    def add_loss(self, loss: float, group: Group, informed: bool) -> None:
        """Add a loss to the sums; groups have those that a promise is about."""
        self.rounds += 1
        self.loss_sum += loss
        if not informed:
            self.uninformed += 1
            self.uninformed_loss += loss
            if self.config.method == "auto":
                return
        for name in group_names(group):
            group_sum = self.groups[name]
            group_sum.rounds += 1
            group_sum.loss_sum += loss

    def restart(self, rounds: int, loss_sum: float, uninformed: tuple[int, float]) -> None:
        """Continue from the sums of an imported calibrator; groups and history start empty."""
        self.rounds = rounds
        self.loss_sum = loss_sum
        self.uninformed, self.uninformed_loss = uninformed
        self.groups = {group: GroupSum() for group in self.groups}
        self.history = stored.History()

    def close_prediction(self, key: str, answered: Answered) -> None:
        """Move a prediction from pending to answered, and forget the oldest answers."""
        del self.pending[key]
        self.answered[key] = answered
        while len(self.answered) > self.config.retain:
            del self.answered[next(iter(self.answered))]

    # ---- the history: when it is full, every other point is dropped --------------------------

    @property
    def wants_point(self) -> bool:
        """Whether the history has a point for the latest round; strides are powers of two."""
        return self.rounds % self.history.stride == 0

    def add_point(self, point: Point) -> None:
        """Extend the history; when it is full, double the stride."""
        history = self.history
        columns = [getattr(history, name) for name in Point._fields]
        for column, value in zip(columns, point, strict=True):
            column.append(value)
        if len(history.rounds) >= MAX_POINTS:
            history.stride *= 2
            kept = [i for i, rounds in enumerate(history.rounds) if rounds % history.stride == 0]
            for column in columns:
                column[:] = [column[i] for i in kept]

    def points(self) -> list[Point]:
        """A copy of the history."""
        columns = [getattr(self.history, name) for name in Point._fields]
        return [Point(*row) for row in zip(*columns, strict=True)]
