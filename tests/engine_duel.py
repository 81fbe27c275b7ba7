"""AutoLARC's engine as the adversaries of theorem E meet it: with hostile bases and units."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

import bettors as oracle
from localarc.calibrators.tickets import Ticket
from localarc.constants import BETS, STAKE, STAKE_ALL
from localarc.engine.auto import layout
from localarc.engine.auto.engine import AutoEngine, Rules
from localarc.engine.auto.loops import ASK, PEEK
from localarc.engine.auto.nodes import GROUP, KEY_BITS, KIND_SHIFT
from localarc.testing import Scenario
from localarc.validation import FloatArray, IntArray

BETAS = 0.5 ** np.arange(1, BETS + 1)
NO = math.nan


class HostileEngine:
    """ask, tell and forget of the engine, whose base and unit a scenario chooses in each round."""

    def __init__(self, scenario: Scenario, dimension: int, own_base: bool) -> None:
        low, high = scenario.score_range if scenario.limited else (-math.inf, math.inf)
        rules = Rules(
            scenario.alpha,
            scenario.loss_bound,
            low,
            high,
            scenario.two_sided,
            initial_threshold=scenario.score_range[0],
            unit=scenario.score_range[1] - scenario.score_range[0],
            slots=2**12,
            own_base=own_base,
        )
        self.scenario, self.own_base = scenario, own_base
        self.engine = AutoEngine(rules, dimension, scenario.nodes)
        self.random = np.random.default_rng(scenario.seed)

    def ask(self, x: Any, groups: Any = ()) -> Ticket:
        keys = np.array([_key(name) for name in groups], np.int64)
        where = np.asarray(x, float), keys, np.array([*groups.values()], float)
        self.engine.reserve(len(keys), 1)
        base, unit = (NO, NO) if self.own_base else self._base_and_unit(where)
        threshold = self.engine.serve(ASK, *where, base, unit, 0.0, 0.0)
        return Ticket(int(self.engine.numbers[layout.ISSUED]), threshold)

    def _base_and_unit(self, where: tuple[FloatArray, IntArray, FloatArray]) -> tuple[float, float]:
        low, high = self.scenario.score_range
        span, t = high - low, int(self.engine.numbers[layout.ISSUED])
        unit = span if self.scenario.unit == "range" else span * 10 ** self.random.uniform(-2, 1)
        match self.scenario.base:
            case "anywhere":
                return low + span * self.random.uniform(-0.5, 1.5), unit
            case "against the bets":
                middle = low + 0.5 * span
                seen = self.engine.serve(PEEK, *where, middle, unit, 0.0, 0.0)
                return 2.0 * middle - seen, unit
            case "jumps":
                return (high if (t // 100) % 2 else low), unit
            case _:
                return low, unit

    def tell(self, ticket: Ticket, loss: float, score: float | None = None) -> None:
        assert self.engine.tell(ticket.id, loss, NO if score is None else score)

    def forget(self, ticket: Ticket) -> None:
        assert self.engine.forget(ticket.id)

    def largest_ratio(self) -> float:
        """The largest G / bound over all nodes and sides."""
        numbers, size = self.engine.numbers, len(self.engine.keys)
        slots = np.append(np.flatnonzero(self.engine.keys), size)
        nodes = self.engine.nodes[slots]
        stakes = np.where(slots == size, STAKE_ALL, STAKE)
        two = self.scenario.two_sided
        logs = np.log((2 if two else 1) * BETS * self.total() / stakes)
        up = _ratio(nodes, layout.UP_GAIN, layout.UP_COST, numbers[layout.DROP_UP], logs)
        if not two:
            return up
        keys = np.append(self.engine.keys, 0)[slots]
        both = (slots == size) | (keys >> KIND_SHIFT == GROUP + 1)
        drop = numbers[layout.DROP_DOWN]
        down = _ratio(nodes[both], layout.DOWN_GAIN, layout.DOWN_COST, drop, logs[both])
        return max(up, down)

    def total(self) -> float:
        """A of theorem E; without a ceiling, under A2."""
        numbers = self.engine.numbers
        return float(
            numbers[layout.STAKED]
            + numbers[layout.GRANTED]
            + self.scenario.score_range[1] * numbers[layout.UP_INVERSE]
            - numbers[layout.UP_BASE]
        )


def _ratio(nodes: FloatArray, gain: int, cost: int, drop: float, logs: FloatArray) -> float:
    most = nodes[:, layout.MOST_WEIGHT]
    tops = np.where(most > 0.0, min(1.0, 0.25 / drop) / (1.0 + most), 0.5)
    bounds = (logs[:, None] + BETAS**2 * nodes[:, cost, None]) / BETAS
    bounds[tops[:, None] < BETAS] = math.inf
    return float((nodes[:, gain] / bounds.min(axis=1)).max())


def _key(name: str) -> int:
    return int((1 + sum(map(ord, name)) & KEY_BITS) | (GROUP + 1) << KIND_SHIFT)


class ShadowedEngine(HostileEngine):
    """An engine without features, each of whose thresholds must be that of the oracle."""

    def __init__(self, scenario: Scenario, rounds: int) -> None:
        super().__init__(scenario, 0, own_base=False)
        n = 1 + scenario.nodes
        stake = np.full(n, STAKE)
        stake[0] = STAKE_ALL
        share = np.tile([0.5, 0.5] if scenario.two_sided else [1.0, 0.0], (n, 1))
        bound = scenario.loss_bound
        self.state = oracle.new_bettors(scenario.alpha, bound, stake, share, [True, False])
        self.book = oracle.new_rounds(rounds, n)
        self.top = max(scenario.alpha, bound - scenario.alpha)

    def ask(self, x: Any, groups: Any = ()) -> Ticket:
        ticket = super().ask(x, groups)
        t, book, state = ticket.id - 1, self.book, self.state
        issued = self.engine._pending().tickets[-1]
        base, unit, floor = issued[[layout.BASE, layout.ITS_UNIT, layout.ITS_FLOOR]].tolist()
        book.base[t], book.unit[t], book.low[t] = base, unit, floor
        book.high[t], book.b[t, 0] = self.scenario.score_range[1], 1.0
        for name, weight in groups.items():
            book.b[t, 1 + int(name.split()[1])] = weight
        oracle.touch(state, book.b[t])
        ceiling = self.engine.rules.ceiling
        oracle.ask(state, book, t, *oracle.bets(state, book.b[t]), floor, ceiling)
        # The engine squares its way up from the smallest beta, which costs seven digits of a bet.
        assert abs(book.g[t] - ticket.threshold) <= 1e-6 * (unit + abs(book.g[t] - base))
        return ticket

    def tell(self, ticket: Ticket, loss: float, score: float | None = None) -> None:
        super().tell(ticket, loss, score)
        z = (loss - self.scenario.alpha) / self.top
        oracle.tell(self.state, self.book, ticket.id - 1, z, self.last())

    def forget(self, ticket: Ticket) -> None:
        super().forget(ticket)
        oracle.tell(self.state, self.book, ticket.id - 1, 0.0, self.last())

    def last(self) -> int:
        """The latest round."""
        return int(self.engine.numbers[layout.ISSUED]) - 1
