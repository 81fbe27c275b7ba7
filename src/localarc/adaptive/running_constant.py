"""The running constant c_t and sums over its past: all that the long-run guarantees need."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from localarc.validation import FloatArray

Watched: TypeAlias = tuple[float, float, float, float]
"""The threshold of a round, the target, and the range in which scores were stated to lie."""


class RunningConstant:
    """c_t and what the guarantees need of its past: eq. (constant_component), and sums over it.

    `weighted` is `sum_r Delta_r c_r` with `Delta_r = 1/eta_r - 1/eta_(r-1)`, and `lifted` is
    `sum_t p_t / eta_t`, where p_t is how far the floor lifted c in round t. Both are for the
    identity `sum_t (L_t - alpha) = sum_r Delta_r (c_(T+1) - c_r) - lifted` of every run.

    `start` is c_1, and `earlier` the number of rounds before a restart. The other fields count what
    breaks an assumption, and remember the first round that did, 0 if none: `rate_rise`;
    `full_fails` and `full_since` (a loss above alpha although the set was full); `empty_passes` and
    `empty_since` (a loss below alpha although the set was empty).
    """

    FIELDS = (
        *("rounds", "constant", "lowest", "highest", "weighted", "inverse_rate", "loss_sum"),
        *("constant_sum", "start", "earlier", "lifted", "rate_rise"),
        *("full_fails", "full_since", "empty_passes", "empty_since"),
    )
    COUNTS = frozenset(("rounds", *FIELDS[9:10], *FIELDS[11:]))
    __slots__ = FIELDS

    def __init__(self, constant: float, earlier: int = 0) -> None:
        self.rounds = 0
        self.start = self.constant = self.lowest = self.highest = constant
        self.weighted = self.inverse_rate = self.loss_sum = self.constant_sum = self.lifted = 0.0
        self.earlier = earlier
        self.rate_rise = self.full_fails = self.full_since = 0
        self.empty_passes = self.empty_since = 0

    # No call and no loop: an interrupt (Ctrl-C) comes before or after a step, not within.
    def step(
        self,
        rate: float,
        loss: float,
        push: float,
        floor: float = -math.inf,
        watched: Watched | None = None,
    ) -> None:
        """One round: `c <- max(c + push, floor)`, where push is `rate * (loss - alpha)`.

        A round that is watched is counted if it shows (A2) or (A3) to be false.
        """
        constant = self.constant
        inverse_rate = 1.0 / rate
        self.rounds += 1
        if inverse_rate < self.inverse_rate and not self.rate_rise:
            self.rate_rise = self.rounds
        self.weighted += (inverse_rate - self.inverse_rate) * constant
        self.inverse_rate = inverse_rate
        self.loss_sum += loss
        self.constant_sum += constant
        constant += push
        if constant < floor:
            self.lifted += (floor - constant) * inverse_rate
            constant = floor
        self.constant = constant
        if constant > self.highest:
            self.highest = constant
        elif constant < self.lowest:
            self.lowest = constant
        if watched is not None:
            threshold, alpha, low, high = watched
            if loss > alpha and threshold >= high:
                self.full_fails += 1
                self.full_since = self.full_since or self.rounds
            elif loss < alpha and threshold < low:
                self.empty_passes += 1
                self.empty_since = self.empty_since or self.rounds

    @property
    def just_broken(self) -> bool:
        """Whether the latest round is the first that shows (A2) or (A3) to be false."""
        return self.rounds > 0 and self.rounds in (self.full_since, self.empty_since)

    def extend(
        self, rates: FloatArray, losses: FloatArray, constants: FloatArray, pushed: FloatArray
    ) -> None:
        """Many rounds at once, summed in the same order as `step` by `step`.

        `constants` has c of every round and the one after, `pushed` has c before the floor.
        """
        if len(rates) == 0:
            return
        inverse_rates = 1.0 / rates
        gaps = np.diff(inverse_rates, prepend=self.inverse_rate)
        self.rate_rise = self.rate_rise or _first(gaps < 0, self.rounds + 1)
        self.rounds += len(rates)
        self.weighted = _running(self.weighted, gaps * constants[:-1])
        self.lifted = _running(self.lifted, (constants[1:] - pushed) * inverse_rates)
        self.inverse_rate = float(inverse_rates[-1])
        self.loss_sum = _running(self.loss_sum, losses)
        self.constant_sum = _running(self.constant_sum, constants[:-1])
        self.constant = float(constants[-1])
        self.highest = max(self.highest, float(constants.max()))
        self.lowest = min(self.lowest, float(constants.min()))

    def extend_compiled(
        self, rates: FloatArray, losses: FloatArray, alpha: float, floor: float = -math.inf
    ) -> None:
        """Many rounds, one `step` after another, where the engine is loaded anyway."""
        from localarc.engine import running_constants

        fields = np.array([[getattr(self, name) for name in self.FIELDS]], np.float64)
        rows, unknown = np.zeros(len(rates), np.int64), np.full(len(rates), np.nan)
        rules = alpha, floor, -math.inf, math.inf
        running_constants.learn(fields, rows, rates, losses, unknown, rules)
        self._set(dict(zip(self.FIELDS, fields[0].tolist(), strict=True)))

    def watch_many(
        self, thresholds: FloatArray, losses: FloatArray, alpha: float, scores: tuple[float, float]
    ) -> bool:
        """Count the rounds just learned, the latest last, as `step`; is one first of its kind?"""
        first, before = (
            self.rounds - len(losses) + 1,
            (self.full_fails > 0) + (self.empty_passes > 0),
        )
        full = (losses > alpha) & (thresholds >= scores[1])
        empty = (losses < alpha) & (thresholds < scores[0])
        self.full_fails += int(full.sum())
        self.full_since = self.full_since or _first(full, first)
        self.empty_passes += int(empty.sum())
        self.empty_since = self.empty_since or _first(empty, first)
        return (self.full_fails > 0) + (self.empty_passes > 0) > before

    @property
    def risk(self) -> float:
        """The mean loss so far."""
        return self.loss_sum / self.rounds if self.rounds else float("nan")

    def values(self) -> dict[str, float]:
        """The fields, for storage."""
        return {name: getattr(self, name) for name in self.FIELDS}

    @classmethod
    def restored(cls, values: Mapping[str, float]) -> RunningConstant:
        """The running constant whose `values` were stored."""
        constant = cls(float(values["constant"]))
        constant._set(values)
        return constant

    def _set(self, values: Mapping[str, float]) -> None:
        for name in self.FIELDS:
            kind = int if name in self.COUNTS else float
            setattr(self, name, kind(values[name]))


def _first(broken: NDArray[np.bool_], number: int) -> int:
    """The number of the first round that is broken, where the first one has this number; or 0."""
    return int(np.argmax(broken)) + number if broken.any() else 0


def _running(start: float, terms: FloatArray) -> float:
    return float(np.cumsum(np.concatenate(([start], terms)))[-1])
