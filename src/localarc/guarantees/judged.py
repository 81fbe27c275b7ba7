"""What every certificate can be asked: its verdict."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from typing import Any

from localarc.guarantees.bounds import Bound
from localarc.guarantees.verdict import Part, Verdict, counts_misses, verdict


class Judged:
    """A certificate, as far as a verdict depends on it."""

    rounds: Any
    alpha: float
    risk: float
    loss_bound: float
    consistent: bool
    groups: Mapping[Hashable, Any]

    @property
    def bounds(self) -> tuple[Bound, ...]:
        """All bounds, in the order in which they are shown."""
        raise NotImplementedError

    @property
    def verdict(self) -> Verdict:
        """Whether the promise is kept, in one sentence."""
        return self.judge(
            [Part(group, part.rounds, part.risk) for group, part in self.groups.items()]
        )

    def judge(self, parts: Sequence[Part], size_ratio: float = math.nan) -> Verdict:
        """The verdict, given the risks of groups or neighbourhoods.

        Parameters
        ----------
        parts : sequence of Part
            The groups and neighbourhoods.
        size_ratio : float, default NaN
            How many times as large sets are as those of a rolling quantile: `record.size_ratio`.
        """
        claimed = [bound for bound in self.bounds if bound.passed] or [
            bound for bound in self.bounds if bound.holds and not bound.one_sided
        ]
        return verdict(
            self.alpha,
            self.risk,
            self.rounds,
            bound=min((bound.value for bound in claimed), default=None),
            parts=parts,
            loss_bound=self.loss_bound,
            misses=self.loss_bound == 1.0
            and counts_misses([Part(None, part.rounds, part.risk) for part in self._exact()]),
            consistent=self.consistent,
            size_ratio=size_ratio,
        )

    def _exact(self) -> Sequence[Any]:
        """The parts whose mean losses are not rounded: a mean over groups is."""
        return list(self.groups.values()) or [self]
