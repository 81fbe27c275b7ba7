"""Theorem E from a log: which rounds went out, on which base, and which losses came when.

Written out from docs/guarantees.md in plain Python, without anything of the library: every sum is
taken over the rounds themselves, so that no running sum of the engine is trusted.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from oracle_constants import (
    BETS,
    LARGEST_TERM,
    LATE_BET,
    LATE_FACTOR,
    LATE_REACH,
    LATE_RESTART,
    SQUARE,
    STAKE,
    STAKE_ALL,
)

BETAS = [2.0**-k for k in range(1, BETS + 1)]
ALL = "all"
UP, DOWN = 0, 1

Node: TypeAlias = Any
"""`ALL`, ("group", label), or a hat: ("joint", ...) or ("single", ...)."""


def is_hat(node: Node) -> bool:
    return bool(node != ALL and node[0] != "group")


def largest_beta(most: float, rho: float) -> float:
    return 0.5 if most == 0.0 else min(1.0, LATE_BET / rho) / (1.0 + most)


def wealth(G: float, W: float, largest: float, cap: float) -> float:
    """H(G, W)."""
    exponents = {b: min(b * G - b * b * W, math.log(cap)) for b in BETAS if b <= largest}
    return sum(b * math.exp(exponent) for b, exponent in exponents.items()) / BETS


def most_gain(budget: float, W: float, largest: float) -> float:
    """min_k (Lambda + beta_k^2 W) / beta_k."""
    return min((budget + b * b * W) / b for b in BETAS if b <= largest)


@dataclass(frozen=True)
class Rules:
    """The letters of the theorem that never change."""

    alpha: float
    B: float = 1.0
    two: bool = True
    floor: float = -math.inf
    ceiling: float = math.inf
    stake: float = STAKE  # of every node but the constant
    stake_all: float = STAKE_ALL
    cap: float = LARGEST_TERM  # of an exponential in a bet

    @property
    def top(self) -> float:
        return max(self.alpha, self.B - self.alpha)

    @property
    def rho(self) -> tuple[float, float]:
        return self.alpha / self.top, (self.B - self.alpha) / self.top


@dataclass(frozen=True)
class Play:
    """A threshold and what it is made of."""

    base: float
    unit: float
    floor: float
    threshold: float
    lu: float = 1.0
    ld: float = 1.0


@dataclass(eq=False, repr=False)  # rounds know rounds, which know rounds
class Round:
    """A round that went out, and what came of it."""

    play: Play
    asked: Mapping[Node, float]  # where it waits, by weight
    weights: Mapping[Node, float]  # where it is charged: all of these, unless it has candidates
    others: list[Round]  # that were pending then
    waiting: set[Node]
    z: float | None = None  # of a loss that came
    loss: float = math.nan
    y: dict[tuple[Node, int], float] = field(default_factory=dict)
    q: dict[tuple[Node, int], float] = field(default_factory=dict)


@dataclass
class Side:
    """One side of a node."""

    G: float = 0.0
    W: float = 0.0


@dataclass(frozen=True)
class Expected:
    """What a certificate must say about a node."""

    rounds: float
    risk: float
    excess: float
    worst_stretch: float
    above: float
    below: float


class TheoremE:
    """The bettors, round by round; then A, Lambda and the bounds."""

    def __init__(self, rules: Rules) -> None:
        self.rules = rules
        self.rounds: list[Round] = []  # as they went out
        self.waiting: list[Round] = []  # of these, as they went out
        self.arrived: list[Round] = []  # as their losses came
        self.uninformed: list[Round] = []  # of no weight anywhere: no bets, no promise
        self.staked = rules.stake_all
        self.sides: dict[Node, tuple[Side, Side]] = {ALL: (Side(), Side())}
        self.most: dict[Node, float] = {ALL: 0.0}
        self.scores: list[float] = []
        self.most_pending = 0

    # ---- rounds ------------------------------------------------------------------------------

    def floor(self, base: float) -> float:
        """How far the bets may lower a threshold."""
        if not self.rules.two or self.rules.floor > -math.inf:
            return self.rules.floor
        return 2.0 * min(self.scores) - max(self.scores) if self.scores else base

    def play(self, weights: Mapping[Node, float], base: float, unit: float) -> Play:
        """The threshold that would go out now."""
        return self.play_above(self.floor(base), weights, base, unit)

    def play_above(
        self, floor: float, weights: Mapping[Node, float], base: float, unit: float
    ) -> Play:
        """The same, with a floor of its own."""
        U = sum(b * self._stake(n, UP) * self._wealth(n, UP) for n, b in weights.items())
        V = sum(b * self._stake(n, DOWN) * self._wealth(n, DOWN) for n, b in weights.items())
        g, ceiling = base + unit * (U - V), self.rules.ceiling
        if g < floor:
            ld = ((base - floor) / unit + U) / V
            return Play(base, unit, floor, floor, ld=min(max(ld, 0.0), 1.0))
        if g > ceiling:
            lu = ((ceiling - base) / unit + V) / U
            return Play(base, unit, floor, ceiling, lu=min(max(lu, 0.0), 1.0))
        return Play(base, unit, floor, g)

    def _stake(self, node: Node, side: int) -> float:
        """The part of the stake on one side: half of it if there are two; hats bet upwards."""
        stake = self.rules.stake_all if node == ALL else self.rules.stake
        if side == DOWN and (not self.rules.two or is_hat(node)):
            return 0.0
        return stake / 2.0 if self.rules.two else stake

    def _wealth(self, node: Node, side: int) -> float:
        state = self.sides.get(node, (Side(), Side()))[side]
        largest = largest_beta(self._restricted(node), self.rules.rho[side])
        return wealth(state.G, state.W, largest, self.rules.cap)

    def _restricted(self, node: Node) -> float:
        waiting = self.pending(node)
        rounded = 2.0 ** math.ceil(math.log2(waiting + 1.0)) - 1.0
        return max(self.most.get(node, 0.0), rounded)

    def pending(self, node: Node) -> float:
        """The weight of the pending rounds."""
        return math.fsum(r.asked[node] for r in self.waiting if node in r.waiting)

    def ask(self, weights: Mapping[Node, float], play: Play) -> Round:
        """A threshold goes out, and waits at these nodes."""
        for node in weights:
            if node not in self.sides:
                self.sides[node] = Side(), Side()
                self.staked += self._stake(node, UP) + self._stake(node, DOWN)
            self.most[node] = self._restricted(node)
        self.most_pending = max(self.most_pending, len(self.waiting))
        made = Round(play, dict(weights), dict(weights), list(self.waiting), set(weights))
        self.rounds.append(made)
        self.waiting.append(made)
        return made

    def tell(
        self,
        told: Round,
        loss: float,
        score: float = math.nan,
        *,
        play: Play | None = None,
        nodes: Mapping[Node, float] | None = None,
    ) -> None:
        """A loss arrives; of a round with candidates, that of one play at some of the nodes."""
        told.play = play or told.play
        told.weights = told.asked if nodes is None else dict(nodes)
        told.z, told.loss = (loss - self.rules.alpha) / self.rules.top, loss
        self.forget(told)
        for node, b in told.weights.items():
            self._step(told, node, UP, told.play.lu * told.z * b)
            if self._stake(node, DOWN):
                self._step(told, node, DOWN, -told.play.ld * told.z * b)
        (self.arrived if told.weights else self.uninformed).append(told)
        if math.isfinite(score):
            self.scores.append(score)

    def _step(self, told: Round, node: Node, side: int, y: float) -> None:
        state, q = self.sides[node][side], self._price(told, node, side, y)
        told.y[node, side], told.q[node, side] = y, q
        state.G, state.W = state.G + y, state.W + q
        if side == UP and state.G < 0.0:
            state.G = state.W = 0.0
            late = any(node in other.waiting for other in self.waiting)
            self.staked += self._stake(node, UP) * (LATE_RESTART if late else 1.0)

    def _price(self, told: Round, node: Node, side: int, y: float) -> float:
        """q of the theorem, from the rounds that were pending when this one went out."""
        others, rho = [r for r in told.others if node in r.asked], self.rules.rho[side]
        o = math.fsum(r.asked[node] for r in others)
        if o == 0.0:
            return SQUARE * y * y
        rem = math.fsum(r.asked[node] for r in others if node in r.waiting)
        dy = math.fsum(r.y.get((node, side), 0.0) for r in others)
        dq = math.fsum(r.q.get((node, side), 0.0) for r in others)
        if y >= 0.0:
            return SQUARE * y * y + y * min(o, max(dy + rem, 0.0))
        d = largest_beta(o, rho) * dq - dy + LATE_REACH * rho * rem
        return LATE_FACTOR * abs(y) * (abs(y) + min(LATE_REACH * rho * o, max(d, 0.0)))

    def forget(self, told: Round) -> None:
        """It waits no longer; of a loss that never comes, z = 0."""
        told.waiting = set()
        self.waiting = [other for other in self.waiting if other is not told]

    # ---- what the theorem says ---------------------------------------------------------------

    def s_max(self, stated: float | None = None) -> float:
        """A threshold that costs at most alpha."""
        if self.rules.ceiling < math.inf:
            return self.rules.ceiling
        return stated if stated is not None else max(self.scores, default=math.nan)

    def granted(self, stated: float | None = None) -> float:
        """A: stakes, and what the limits allow the bets to lose."""
        total = self.staked
        for r in self.arrived:
            assert r.z is not None
            if r.z > 0.0:
                total += r.z * (self.s_max(stated) - r.play.base) / r.play.unit
            elif self.rules.two:
                total -= r.z * (r.play.base - r.play.floor) / r.play.unit
        return total

    @property
    def won(self) -> float:
        """The same with what the bets won in fact."""
        paid = [(r.z or 0.0) * (r.play.threshold - r.play.base) / r.play.unit for r in self.arrived]
        return self.staked + math.fsum(paid)

    def budget(self, node: Node, total: float) -> float:
        """Lambda: a logarithm, and its tangent from the cap on."""
        stake, cap = self.rules.stake_all if node == ALL else self.rules.stake, self.rules.cap
        most = (2.0 if self.rules.two else 1.0) * BETS * total / stake
        return math.log(most) if most <= cap else math.log(cap) + most / cap - 1.0

    def gain(self, node: Node, side: int, total: float) -> float:
        """The most that z can add up to: G, and the parts of bets that were not played."""
        largest = largest_beta(self.most[node], self.rules.rho[side])
        return most_gain(self.budget(node, total), self.sides[node][side].W, largest)

    def lost(self, side: int) -> float:
        """What bets that a limit cut back did not see."""
        if side == UP:
            return math.fsum((1.0 - r.play.lu) * max(r.z or 0.0, 0.0) for r in self.arrived)
        return math.fsum((1.0 - r.play.ld) * max(-(r.z or 0.0), 0.0) for r in self.arrived)

    def bound(self, node: Node, side: int, total: float, rounds: float | None = None) -> float:
        """How far the mean loss at a node can be from alpha on one side."""
        weight = self.weight(node) if rounds is None else rounds
        limit = self.rules.B - self.rules.alpha if side == UP else self.rules.alpha
        if not weight:
            return math.inf
        gain = self.gain(node, side, total) + self.lost(side)
        return min(self.rules.top * gain / weight, limit)

    def weight(self, node: Node) -> float:
        return math.fsum(r.weights.get(node, 0.0) for r in self.arrived)

    def at(self, node: Node, stated: float | None = None) -> Expected:
        """What the certificate of a node must say."""
        alpha, weight = self.rules.alpha, self.weight(node)
        excess = math.fsum((r.loss - alpha) * r.weights.get(node, 0.0) for r in self.arrived)
        two = self.rules.two and not is_hat(node)
        return Expected(
            rounds=weight,
            risk=alpha + excess / weight if weight else math.nan,
            excess=excess,
            worst_stretch=self.rules.top * self._worst_suffix(node),
            above=self.bound(node, UP, self.granted(stated)),
            below=self.bound(node, DOWN, self.granted(stated)) if two else alpha,
        )

    def _worst_suffix(self, node: Node) -> float:
        """The largest sum of the steps of the last losses that came, however many."""
        worst = total = 0.0
        for r in reversed(self.arrived):
            total += r.y.get((node, UP), 0.0)
            worst = max(worst, total)
        return worst

    def observed(self) -> float:
        """The bound on the distance of all rounds, from what the bets won."""
        sides = (UP, DOWN) if self.rules.two else (UP,)
        return max(self.bound(ALL, side, self.won) for side in sides)

    def forward(self, rounds: int, nodes: int, stated: float | None = None) -> float:
        """The bound at a later round, at most so many nodes in each, as the page states it."""
        floor, ahead = self.rules.floor, rounds - len(self.arrived)
        if floor == -math.inf:
            floor = 2.0 * min(self.scores) - max(self.scores)
        smallest = min(r.play.unit for r in self.arrived)
        stakes = self.rules.stake_all + self.rules.stake * nodes
        growth = (self.s_max(stated) - floor) / smallest + (1.0 + LATE_RESTART) * stakes
        budget = self.budget(ALL, self.granted(stated) + ahead * growth)
        values = [self._forward(UP, budget, ahead, rounds, self.rules.B - self.rules.alpha)]
        if self.rules.two:
            values.append(self._forward(DOWN, budget, ahead, rounds, self.rules.alpha))
        return max(values)

    def _forward(self, side: int, budget: float, ahead: int, rounds: int, limit: float) -> float:
        """Every round to come costs the most that q can be: rho and o at their largest."""
        rho, o = self.rules.rho[side], self.most[ALL]
        dearest = max(SQUARE + o, LATE_FACTOR * rho * (rho + LATE_REACH * rho * o) if o else 0.0)
        W = self.sides[ALL][side].W + ahead * dearest
        gain = most_gain(budget, W, largest_beta(o, rho)) + self.lost(side)
        return min(self.rules.top * gain / rounds, limit)

    def nearest(self, rounds: int) -> float:
        """Of all that the mean loss less alpha can be at a later round, the nearest to 0."""
        ahead = rounds - len(self.arrived)
        so_far = math.fsum(r.loss - self.rules.alpha for r in self.arrived)
        lowest = (so_far - ahead * self.rules.alpha) / rounds
        highest = (so_far + ahead * (self.rules.B - self.rules.alpha)) / rounds
        return lowest if lowest > 0.0 else min(highest, 0.0)

    # ---- what was seen of the assumptions ----------------------------------------------------

    def ceiling_fails(self, stated: float | None = None) -> bool:
        """Whether a threshold that must cost at most alpha cost more."""
        costly = [r.play.threshold for r in self.arrived if (r.z or 0.0) > 0.0]
        if not costly:
            return False
        highest = self.s_max(stated)
        return math.isnan(highest) or max(costly) >= highest

    def floor_fails(self) -> bool:
        """Whether the floor cost less than alpha."""
        cheap = [r.play.threshold for r in self.arrived if (r.z or 0.0) < 0.0]
        return bool(cheap) and min(cheap) <= self.rules.floor
