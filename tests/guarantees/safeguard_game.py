"""Safeguard beside theorem E: a base that is not the engine's, and its twin."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable
from typing import Any, Protocol

from engine.auto_reference import Pending, Reference
from guarantees.auto_game import AutoGame, Stream
from localarc import Safeguard
from oracle_constants import DEVIATIONS_PER_UNIT, RANGE_PART


class Base(Protocol):
    """What is put into a Safeguard: here always with groups and scores."""

    alpha: float

    def threshold(self, x: Any, groups: Any) -> float: ...
    def update(self, x: Any, loss: float, score: float | None, groups: Any) -> Any: ...


class FunctionBase:
    """A threshold from the input alone."""

    alpha = 0.3

    def threshold(self, x: Any, groups: Any = ()) -> float:
        return 0.4 + 0.2 * float(sum(x))

    def update(self, x: Any, loss: float, score: float | None = None, groups: Any = ()) -> None:
        return None


class GroupBase:
    """A threshold for each group, which follows its losses and its latest score."""

    learns_from = frozenset({"groups", "score"})
    alpha = 0.3

    def __init__(self) -> None:
        self.by_group: dict[Hashable, float] = {}

    def threshold(self, x: Any, groups: Any = ()) -> float:
        known = [weight * self.by_group.get(name, 0.0) for name, weight in groups.items()]
        return 0.2 + math.fsum(known)

    def update(self, x: Any, loss: float, score: float | None = None, groups: Any = ()) -> None:
        pull = 0.0 if score is None or math.isinf(score) else 0.05 * score
        for name in groups:
            self.by_group[name] = 0.9 * self.by_group.get(name, 0.0) + 0.1 * loss + pull


class GivenReference(Reference):
    """The formulas with thresholds from outside: m and D describe scores less those."""

    def __init__(self, base: Base, *rest: Any) -> None:
        super().__init__(*rest)
        self.given_base, self.given, self.raw = base, 0.0, math.nan
        self.inputs: dict[int, tuple[float, Any, Any]] = {}

    def ask(self, x: Any, groups: Any = ()) -> Pending:
        self.given = self.given_base.threshold(x, dict(groups))
        made = super().ask(x, groups)
        self.inputs[id(made)] = self.given, x, dict(groups)
        return made

    def base(self, located: Any) -> tuple[float, float, float, float]:
        mean, unit = self.local(located)
        base = min(max(self.given, self.floor(self.given)), self.limits[1])
        return mean, unit, self.given, base

    def tell(self, told: Pending, loss: float, score: float) -> None:
        self.given, x, groups = self.inputs[id(told)]
        self.raw = score
        known = None if math.isnan(score) else score
        self.given_base.update(x, self.heard(x, groups, loss, known), known, groups)
        super().tell(told, loss, score - self.given)

    def heard(self, x: Any, groups: Any, loss: float, known: float | None) -> float:
        """What the base learns: a miss, or none, at its threshold of today if it has another."""
        today = self.given_base.threshold(x, groups)
        if known is None or loss not in (0.0, self.bound) or today == self.given:
            return loss
        return self.bound if known > today else 0.0

    def learn(self, *_: Any) -> None:
        """The base learns by itself."""

    def note(self, score: float, mean: float, unit: float) -> None:
        low, high, first = self.lo, self.hi, not self.scores
        super().note(score, mean, unit)
        if math.isfinite(score):
            self.lo = self.raw if first else min(low, self.raw)
            self.hi = self.raw if first else max(high, self.raw)
            self.D = max(
                DEVIATIONS_PER_UNIT * self.deviation, (self.hi - self.lo) / RANGE_PART
            ) or abs(self.raw)


class SafeguardGame(AutoGame):
    """The same rounds for a Safeguard around a base, and for its twin."""

    def __init__(self, stream: Stream, base: Callable[[], Base]) -> None:
        self.make = base
        super().__init__(stream)

    def players(self) -> tuple[Any, Reference]:
        stream, rules = self.stream, self.stream.rules
        limits = rules.floor, rules.ceiling
        reference = GivenReference(
            self.make(), stream.alpha, stream.d, stream.bound, limits, stream.two
        )
        return Safeguard(self.make(), stream.alpha, **stream.settings()), reference
