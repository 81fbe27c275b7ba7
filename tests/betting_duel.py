"""Adversaries against theorem E's bettors: everything that the theorem leaves open is chosen
against the state. Every touched node is checked after every loss, and every interval at the end.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numba import njit

import bettors as oracle
from bettors import ask, bets, largest_ratio, tell, touch
from localarc.testing.betting_scenarios import BASES, LOSSES, ORDERS, PLACES, UNITS, Scenario
from oracle_constants import STAKE, STAKE_ALL

RANDOM_GROUPS, RANDOM_WEIGHTS, BLOCKS, HIGH_BETS = range(len(PLACES))
ANYWHERE, AGAINST_BETS, LOWEST, JUMPS = range(len(BASES))
RANGE, ANYTHING = range(len(UNITS))
ALWAYS, NEVER, LONG, SHORT, COIN, TARGET, ONE_NODE, CONSTANT, TWO_IN_THREE, SECOND_HALF = range(
    len(LOSSES)
)
AT_ONCE, OLDEST, NEWEST, ANY, HIGHEST_FIRST, LOWEST_FIRST, BATCHES, NEWEST_HALF = range(len(ORDERS))


class Outcome(NamedTuple):
    """What came of a duel."""

    ratio: float  # the largest G / bound
    observed: float  # the same with the bound from what the bets won in fact
    interval: float  # the largest excess of an interval's sum over G + rho o
    excess: float  # mean of (loss - alpha)


class _Codes(NamedTuple):
    """A scenario for compiled code."""

    places: int
    base: int
    unit: int
    losses: int
    order: int
    most: int
    alpha: float
    bound: float
    limited: bool
    two: bool
    forgets: bool
    low: float
    high: float


def duel(scenario: Scenario, rounds: int, late_terms: bool = True) -> Outcome:
    """Play a scenario. late_terms=False is the control: it ignores what is pending."""
    n = scenario.nodes + 1
    stake = np.full(n, STAKE)
    stake[0] = STAKE_ALL
    share = np.tile([0.5, 0.5] if scenario.two_sided else [1.0, 0.0], (n, 1))
    if scenario.two_sided:
        share[n // 2 + 1 :, 1] = 0.0  # some nodes bet upwards only
    restarts = [scenario.seed % 5 > 0, scenario.seed % 3 == 0]
    state = oracle.new_bettors(
        scenario.alpha, scenario.loss_bound, stake, share, restarts, late_terms
    )
    book = oracle.new_rounds(rounds, n)
    codes = _Codes(
        PLACES.index(scenario.places),
        BASES.index(scenario.base),
        UNITS.index(scenario.unit),
        LOSSES.index(scenario.losses),
        ORDERS.index(scenario.order),
        scenario.max_pending,
        scenario.alpha,
        scenario.loss_bound,
        scenario.limited,
        scenario.two_sided,
        scenario.forgets,
        *scenario.score_range,
    )
    ratio, observed, excess = _play(state, book, codes, np.random.default_rng(scenario.seed))
    return Outcome(ratio, observed, _worst_interval(state, book), excess)


@njit
def _play(state, book, codes, random):  # type: ignore[no-untyped-def]
    top = max(codes.alpha, codes.bound - codes.alpha)
    T = len(book.g)
    waiting, count, worst, observed, total = np.zeros(T, np.int64), 0, 0.0, 0.0, 0.0
    for t in range(T + 1):
        if t < T:
            _choose_round(state, book, codes, t, random)
            waiting[count] = t
            count += 1
            few = count <= codes.most
            if few and (
                codes.order == BATCHES or (codes.order != AT_ONCE and random.random() < 0.7)
            ):
                continue
        arrive = count if codes.order == BATCHES or t == T else max(count - codes.most, 1)
        for _ in range(arrive):
            k = _next_arrival(book.g, waiting, count, codes, random)
            s = waiting[k]
            waiting[k : count - 1] = waiting[k + 1 : count].copy()
            count -= 1
            if codes.forgets and random.random() < 0.1:
                z = 0.0
            else:
                loss = _choose_loss(state, book, codes, s, random)
                z = (loss - codes.alpha) / top
                total += loss - codes.alpha
            tell(state, book, s, z, min(t, T - 1))
            worst = max(worst, largest_ratio(state, book.b[s], state.A[0]))
            observed = max(observed, largest_ratio(state, book.b[s], state.won[0]))
    return worst, observed, total / T


@njit
def _choose_round(state, book, codes, t, random):  # type: ignore[no-untyped-def]
    """Nodes, unit, base and limits of round t, and its threshold."""
    span = codes.high - codes.low
    _choose_weights(state, book.b[t], codes.places, t, random)
    touch(state, book.b[t])
    U, V = bets(state, book.b[t])
    unit = span if codes.unit == RANGE else span * 10.0 ** random.uniform(-2, 1)
    lowest = codes.low if codes.limited or not codes.two else codes.low - span
    base = codes.low
    if codes.base == ANYWHERE:
        base = codes.low + span * random.uniform(-0.5, 1.5)
    elif codes.base == AGAINST_BETS:
        base = codes.low + 0.5 * span - unit * (U - V)
    elif codes.base == JUMPS:
        base = codes.high if (t // 100) % 2 else codes.low
    base = max(base, lowest)
    base = min(base, codes.high if codes.limited else codes.high + span)
    book.base[t], book.unit[t] = base, unit
    book.low[t], book.high[t] = lowest, codes.high
    ask(state, book, t, U, V, lowest, codes.high if codes.limited else math.inf)


@njit
def _choose_weights(state, b, places, t, random):  # type: ignore[no-untyped-def]
    b[0], groups = 1.0, len(b) - 1
    for n in range(1, len(b)):
        if places == RANDOM_GROUPS:
            b[n] = 1.0 if random.random() < 0.4 else 0.0
        elif places == RANDOM_WEIGHTS:
            b[n] = random.random()
        elif places == BLOCKS:
            b[n] = 1.0 if (t // 20) % groups == n - 1 else 0.0
        else:
            b[n] = 1.0 if state.G[n, 0] > 3.0 or random.random() < 0.2 else 0.0


@njit
def _next_arrival(g, waiting, count, codes, random):  # type: ignore[no-untyped-def]
    """The position in `waiting` of the loss that arrives next."""
    pending = g[waiting[:count]]
    if codes.order == NEWEST:
        return count - 1
    if codes.order == ANY:
        return random.integers(0, count)
    if codes.order == HIGHEST_FIRST:
        return np.argmax(pending)
    if codes.order == LOWEST_FIRST:
        return np.argmin(pending)
    if codes.order == NEWEST_HALF:
        half = codes.most // 2
        return random.integers(half, count) if count > half + 1 else count - 1
    return 0


@njit
def _choose_loss(state, book, codes, s, random):  # type: ignore[no-untyped-def]
    coin, strategy, alpha, bound = random.random(), codes.losses, codes.alpha, codes.bound
    constant, last = state.G[0, 0], len(state.stake) - 1
    wants = coin < 0.5
    if strategy in (ALWAYS, NEVER):
        wants = strategy == ALWAYS
    elif strategy == LONG:
        wants = int(np.log2(s + 1.0)) % 2 == 0
    elif strategy == SHORT:
        wants = (s // 50) % 2 == 0
    elif strategy == TARGET:
        wants = coin < alpha / bound
    elif strategy == ONE_NODE:
        wants = state.G[last, 0] > 0.0 if book.b[s, last] > 0.0 else coin < 0.2
    elif strategy == CONSTANT:
        wants = constant > 0.0
    elif strategy == TWO_IN_THREE:
        wants = (constant <= 0.0) != (s % 3 == 0)
    elif strategy == SECOND_HALF:
        wants = s > len(book.g) // 2
    free = codes.limited or book.g[s] < codes.high  # no A2 there: any loss is possible
    if strategy == COIN and coin < 0.25:
        return random.random() * (bound if free else alpha)
    if free:
        return bound if wants else 0.0
    return alpha * (1.0 if coin < 0.5 else random.random()) if wants else 0.0


def _worst_interval(state: Any, book: Any) -> float:
    """max over nodes, restarted sides and s of (sum of y since s) - rho o_s - G; E: at most 0."""
    worst = -math.inf
    for side in range(2):
        if state.restarts[side]:
            tails = np.cumsum(book.y[::-1, :, side], axis=0)[::-1]
            active = state.born & (state.share[:, side] > 0.0)
            excess = tails - state.rho[side] * book.o - state.G[:, side]
            worst = max(worst, float(np.max(excess[:, active], initial=-math.inf)))
    return worst
