"""Bettors: one side of one node against a base that is stuck too low."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

import bettors as oracle  # tests/bettors.py: theorem E written out
from localarc.figures.frame import frame, legend
from localarc.figures.palette import INK, METHODS
from localarc.validation import FloatArray

ALPHA, ROUNDS, CHANGE = 0.1, 1200, 400


def draw(path: Path) -> None:
    scores, thresholds, gains, bounds = simulate()
    figure = Figure(figsize=(10.0, 6.2), layout="constrained")
    above, middle, below = figure.subplots(3, 1, sharex=True, height_ratios=[2, 1.4, 1])
    t = np.arange(ROUNDS)
    above.plot(t, scores, ".", color="0.75", ms=3, label="scores")
    above.plot(t, np.ones(ROUNDS), "--", color=INK, lw=1, label="base: the quantile of before")
    above.plot(t, thresholds, color=METHODS["AutoLARC"], lw=1.4, label="base and bets")
    frame(above, f"Scores double in round {CHANGE}; the base never learns", "", "score")
    legend(above)
    middle.plot(t, gains, color=METHODS["AutoLARC"], label="gain G")
    middle.plot(t, bounds, color=INK, ls="--", lw=1, label="bound of theorem E")
    share = float((gains / bounds).max())
    title = f"The bettor's gain reaches at most {share:.0%} of its bound"
    frame(middle, title, "", "in units of z")
    legend(middle)
    for values, name, style in (
        (scores > thresholds, "with bets", {"color": METHODS["AutoLARC"]}),
        (scores > 1.0, "base alone", {"color": INK, "ls": "--", "lw": 1}),
    ):
        rolling = np.convolve(values, np.ones(100) / 100, mode="full")[:ROUNDS]
        below.plot(t[99:], rolling[99:], label=name, **style)
    below.axhline(ALPHA, color="0.5", lw=0.8)
    ends = [f"{np.mean(missed[-100:]):.2f}" for missed in (scores > thresholds, scores > 1.0)]
    title = f"Misses of the last 100 rounds end at {ends[0]} with bets, {ends[1]} without"
    frame(below, title, "round", "risk")
    legend(below)
    figure.savefig(path, dpi=160)


def simulate() -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """Scores, thresholds, and the up side's gain and bound after each round."""
    random = np.random.default_rng(3)
    scores = np.abs(random.normal(size=ROUNDS)) / 1.645
    scores[CHANGE:] *= 2.0
    state = oracle.new_bettors(ALPHA, 1.0, [0.05], [[0.5, 0.5]], [True, False])
    book = oracle.new_rounds(ROUNDS, 1)
    book.b[:], book.base[:], book.unit[:], book.high[:], book.low[:] = 1.0, 1.0, 0.5, 4.0, -4.0
    gains, bounds = np.empty((2, ROUNDS))
    for t in range(ROUNDS):
        oracle.touch(state, book.b[t])
        oracle.ask(state, book, t, *oracle.bets(state, book.b[t]), -math.inf, math.inf)
        oracle.tell(state, book, t, (float(scores[t] > book.g[t]) - ALPHA) / (1.0 - ALPHA), t)
        gains[t] = state.G[0, 0]
        log_wealth = math.log(2 * oracle.K * state.A[0] / 0.05)
        bounds[t] = oracle.gain_bound(log_wealth, state.W[0, 0], 0.5)
    return scores, book.g, gains, bounds
