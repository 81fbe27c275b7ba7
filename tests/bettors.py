"""Theorem E's bettors, written out from docs/guarantees.md: the oracle for the engine's.

Nodes are plain columns: any weight in [0, 1] of any node in any round. Compiled, because the
adversaries of tests/betting_duel.py play thousands of streams against it.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numba import njit

from oracle_constants import (
    BETS,
    LATE_BET,
    LATE_FACTOR,
    LATE_REACH,
    NEGLIGIBLE_WEIGHT,
    SQUARE,
)

K, C, TINY = BETS, SQUARE, NEGLIGIBLE_WEIGHT


class Bettors(NamedTuple):
    """The state: for each node and side (0: up, 1: down) the gain G and its variance term W."""

    stake: Any  # (n,) p
    share: Any  # (n, 2) part of the stake on each side
    rho: Any  # (2,) largest step down of each side
    restarts: Any  # (2,) whether G < 0 starts the side anew
    G: Any  # (n, 2)
    W: Any  # (n, 2)
    most: Any  # (n,) largest weight that was pending when a threshold went out, rounded up
    pending: Any  # (n,) weight pending now
    born: Any  # (n,)
    A: Any  # (1,) of the theorem
    won: Any  # (1,) the same with what the bets won in fact
    late_terms: bool  # False: the control, which ignores what is pending


class Rounds(NamedTuple):
    """What is kept of each round, in the order of prediction."""

    b: Any  # (T, n) weights
    o: Any  # (T, n) weight pending when the threshold went out
    rem: Any  # (T, n) of that, still pending
    dy: Any  # (T, n, 2) what the others have added since
    dq: Any  # (T, n, 2)
    base: Any  # (T,)
    unit: Any  # (T,)
    low: Any  # (T,) the floor, and the most that a threshold with a loss above alpha can be
    high: Any  # (T,)
    g: Any  # (T,)
    played: Any  # (T, 2) lu, ld
    waiting: Any  # (T,) the loss is pending
    y: Any  # (T, n, 2)
    q: Any  # (T, n, 2)


def new_bettors(
    alpha: float, bound: float, stake: Any, share: Any, restarts: Any, late_terms: bool = True
) -> Bettors:
    n, top = len(stake), max(alpha, bound - alpha)
    rho = np.array([alpha, bound - alpha]) / top
    gains, variances = np.zeros((2, n, 2))
    most, pending = np.zeros((2, n))
    born = np.zeros(n, np.bool_)
    return Bettors(
        np.asarray(stake, float),
        np.asarray(share, float),
        rho,
        np.asarray(restarts, np.bool_),
        gains,
        variances,
        most,
        pending,
        born,
        np.zeros(1),
        np.zeros(1),
        late_terms,
    )


def new_rounds(T: int, n: int) -> Rounds:
    b, o, rem = np.zeros((3, T, n))
    dy, dq, y, q = np.zeros((4, T, n, 2))
    base, unit, low, high, g = np.zeros((5, T))
    return Rounds(
        b, o, rem, dy, dq, base, unit, low, high, g, np.ones((T, 2)), np.zeros(T, np.bool_), y, q
    )


@njit
def largest_beta(late_terms, most, rho):  # type: ignore[no-untyped-def]
    if most <= 0.0 or not late_terms:
        return 0.5
    return min(1.0, LATE_BET / rho) / (1.0 + most)


@njit
def wealth(G, W, top):  # type: ignore[no-untyped-def]
    """H(G, W)."""
    total, beta = 0.0, 0.5
    for _ in range(K):
        if beta <= top:
            total += beta * math.exp(min(beta * G - beta * beta * W, 500.0))
        beta *= 0.5
    return total / K


@njit
def gain_bound(log_wealth, W, top):  # type: ignore[no-untyped-def]
    """min_k (Lambda + beta_k^2 W) / beta_k."""
    least, beta = math.inf, 0.5
    for _ in range(K):
        if beta <= top:
            least = min(least, (log_wealth + beta * beta * W) / beta)
        beta *= 0.5
    return least


@njit
def price(late_terms, y, rho, o, rem, dy, dq):  # type: ignore[no-untyped-def]
    """q: what the step y adds to W."""
    if o <= TINY or not late_terms:
        return C * y * y
    if y >= 0.0:
        return C * y * y + y * max(0.0, min(o, dy + rem))
    d = largest_beta(True, o, rho) * dq - dy + LATE_REACH * rho * rem
    return LATE_FACTOR * -y * (-y + max(0.0, min(LATE_REACH * rho * o, d)))


@njit
def _pay(bettors, amount):  # type: ignore[no-untyped-def]
    bettors.A[0] += amount
    bettors.won[0] += amount


@njit
def touch(bettors, b):  # type: ignore[no-untyped-def]
    """Create nodes, and drop the betas that are too large for what is pending."""
    for n in range(len(b)):
        if b[n] > 0.0:
            if not bettors.born[n]:
                bettors.born[n] = True
                _pay(bettors, bettors.stake[n] * (bettors.share[n, 0] + bettors.share[n, 1]))
            waiting = bettors.pending[n]
            if waiting > TINY and waiting > bettors.most[n]:
                bettors.most[n] = 2.0 ** math.ceil(math.log2(waiting + 1.0)) - 1.0


@njit
def bets(bettors, b):  # type: ignore[no-untyped-def]
    """U and V."""
    sums = np.zeros(2)
    for n in range(len(b)):
        for side in range(2):
            if b[n] > 0.0 and bettors.share[n, side] > 0.0:
                top = largest_beta(bettors.late_terms, bettors.most[n], bettors.rho[side])
                h = wealth(bettors.G[n, side], bettors.W[n, side], top)
                sums[side] += bettors.stake[n] * bettors.share[n, side] * b[n] * h
    return sums[0], sums[1]


@njit
def ask(bettors, rounds, t, U, V, floor, ceiling):  # type: ignore[no-untyped-def]
    """A threshold goes out; base, unit, low and high of round t are set."""
    base, unit = rounds.base[t], rounds.unit[t]
    g, up, down = base + unit * (U - V), 1.0, 1.0
    if g > ceiling:
        g, up = ceiling, min(max((ceiling - base + unit * V) / (unit * U), 0.0), 1.0)
    elif g < floor:
        g, down = floor, min(max((base + unit * U - floor) / (unit * V), 0.0), 1.0)
    rounds.g[t], rounds.played[t, 0], rounds.played[t, 1] = g, up, down
    rounds.waiting[t] = True
    for n in range(rounds.b.shape[1]):
        rounds.o[t, n] = rounds.rem[t, n] = bettors.pending[n]
        bettors.pending[n] += rounds.b[t, n]


@njit
def tell(bettors, rounds, t, z, last):  # type: ignore[no-untyped-def]
    """The loss of round t arrives; z = 0 if it never will. last: the latest round."""
    rounds.waiting[t] = False
    bettors.won[0] += z * (rounds.g[t] - rounds.base[t]) / rounds.unit[t]
    if z > 0.0:
        bettors.A[0] += z * (rounds.high[t] - rounds.base[t]) / rounds.unit[t]
    elif bettors.share[0, 1] > 0.0:
        bettors.A[0] -= z * (rounds.base[t] - rounds.low[t]) / rounds.unit[t]
    for n in range(rounds.b.shape[1]):
        b = rounds.b[t, n]
        if b > 0.0:
            left = bettors.pending[n] - b
            bettors.pending[n] = left if left >= TINY else 0.0
            _step(bettors, rounds, t, n, z)
            for later in range(t + 1, last + 1):
                if rounds.waiting[later]:
                    rounds.rem[later, n] = max(0.0, rounds.rem[later, n] - b)
                    rounds.dy[later, n] += rounds.y[t, n]
                    rounds.dq[later, n] += rounds.q[t, n]


@njit
def _step(bettors, rounds, t, n, z):  # type: ignore[no-untyped-def]
    """Both sides of one node."""
    for side in range(2):
        if bettors.share[n, side] > 0.0:
            y = (1.0 - 2.0 * side) * rounds.played[t, side] * z * rounds.b[t, n]
            q = price(
                bettors.late_terms,
                y,
                bettors.rho[side],
                rounds.o[t, n],
                rounds.rem[t, n],
                rounds.dy[t, n, side],
                rounds.dq[t, n, side],
            )
            rounds.y[t, n, side], rounds.q[t, n, side] = y, q
            bettors.G[n, side] += y
            bettors.W[n, side] += q
            if bettors.restarts[side] and bettors.G[n, side] < 0.0:
                bettors.G[n, side] = bettors.W[n, side] = 0.0
                cost = bettors.stake[n] * bettors.share[n, side]
                _pay(bettors, cost * (1.0 if bettors.pending[n] == 0.0 else math.e))


@njit
def largest_ratio(bettors, touched, A):  # type: ignore[no-untyped-def]
    """The largest G / bound over the touched nodes and their sides; theorem E: at most 1."""
    worst = 0.0
    for n in range(len(bettors.stake)):
        for side in range(2):
            if touched[n] > 0.0 and bettors.share[n, side] > 0.0:
                stake = bettors.stake[n] * bettors.share[n, side]
                log_wealth = math.log(K * A / stake)
                top = largest_beta(bettors.late_terms, bettors.most[n], bettors.rho[side])
                limit = gain_bound(log_wealth, bettors.W[n, side], top)
                worst = max(worst, bettors.G[n, side] / limit)
    return worst
