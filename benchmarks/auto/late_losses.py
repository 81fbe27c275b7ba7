"""Late losses: forecasts of Elec2 for each of the next 24 half-hours, so that 300 are pending."""

from __future__ import annotations

import numpy as np

from benchmarks.auto.measured import Measured, at_most, plain
from localarc import LARC, RBF, AutoLARC, Dictionary
from localarc.calibrators.role import Calibrator
from localarc.validation import FloatArray
from localarc_lab.experiments.electricity import data
from localarc_lab.experiments.electricity.data import DAY

ALPHA = 0.1
STEPS = 24
DAYS = 90
WEEK = 7 * DAY
CARRY = 0.97  # of the deviation from last week, per half-hour


def measure() -> list[Measured]:
    X, forecast, truth = forecasts()
    name = f"Elec2, {STEPS} steps ahead"
    scores = np.abs(truth - forecast)
    thresholds, pending = late(AutoLARC(ALPHA), X, scores)
    misses, width = (scores > thresholds).mean(axis=0), 2.0 * thresholds.mean()
    gap = abs(float(misses.mean()) - ALPHA)
    at_once = prompt(AutoLARC(ALPHA), X, scores)
    larc = late_larc(LARC(ALPHA, RBF(1.0), memory=Dictionary(tolerance=1e-4)), X, scores)
    quantile = rolling(scores)
    return [
        plain(name, "losses pending", pending),
        at_most(name, "|misses - target|", gap, 0.02, f"{gap:.4f} (misses {misses.mean():.4f})"),
        Measured(name, "misses by horizon", f"{misses.min():.3f} to {misses.max():.3f}"),
        at_most(name, "mean width", float(width), 0.19),
        plain(name, "mean width, feedback at once", float(2.0 * at_once.mean())),
        Measured(name, "L-ARC with RBF(1.0), late", _words(scores, larc)),
        Measured(name, "rolling quantile per horizon, 500 rounds", _words(scores, quantile)),
    ]


def _words(scores: FloatArray, thresholds: FloatArray) -> str:
    known = np.isfinite(thresholds)
    misses = (scores[known] > thresholds[known]).mean()
    return f"misses {misses:.3f}, width {2.0 * np.maximum(thresholds[known], 0.0).mean():.3f}"


def forecasts() -> tuple[FloatArray, FloatArray, FloatArray]:
    """Features (n, steps, 3), forecasts and outcomes (n, steps).

    The forecast is the demand one week before, plus a decaying part of how far demand is from last
    week's now. Features are the time of day, the horizon and that difference.
    """
    demand = data.load().demand[: DAYS * DAY]
    t = np.arange(WEEK, len(demand) - STEPS)[:, None]
    h = np.arange(1, STEPS + 1)[None, :]
    now = demand[t] - demand[t - WEEK]
    forecast = demand[t + h - WEEK] + CARRY**h * now
    shape = np.zeros(forecast.shape)
    X = np.stack([((t + h) % DAY) / DAY + shape, h / STEPS + shape, now + shape], axis=-1)
    return X, forecast, demand[t + h]


def late(cal: AutoLARC, X: FloatArray, scores: FloatArray) -> tuple[FloatArray, int]:
    """Every loss arrives when its half-hour is over."""
    thresholds, tickets, most = np.empty(scores.shape), {}, 0
    for t in range(len(X)):
        for h in range(STEPS):
            ticket = tickets[t, h] = cal.ask(X[t, h])
            thresholds[t, h] = ticket.threshold
        most = max(most, len(tickets))
        for s, h in arrivals(t):
            score = float(scores[s, h])
            cal.tell(tickets.pop((s, h)), float(score > thresholds[s, h]), score=score)
    return thresholds, most


def late_larc(cal: LARC, X: FloatArray, scores: FloatArray) -> FloatArray:
    """The same for L-ARC, which needs no tickets."""
    thresholds = np.empty(scores.shape)
    for t in range(len(X)):
        for h in range(STEPS):
            thresholds[t, h] = cal.threshold(X[t, h])
        for s, h in arrivals(t):
            cal.update(X[s, h], float(scores[s, h] > thresholds[s, h]))
    return thresholds


def arrivals(t: int) -> list[tuple[int, int]]:
    """The rounds (s, h) whose outcome is known at the end of half-hour t."""
    return [(t - h, h) for h in range(min(t, STEPS - 1) + 1)]


def prompt(cal: Calibrator, X: FloatArray, scores: FloatArray) -> FloatArray:
    """Every loss arrives at once."""
    thresholds = np.empty(scores.shape)
    for t in np.ndindex(*scores.shape):
        thresholds[t] = cal.threshold(X[t])
        cal.update(X[t], float(scores[t] > thresholds[t]), score=float(scores[t]))
    return thresholds


def rolling(scores: FloatArray, window: int = 500) -> FloatArray:
    """The conformal quantile of the last scores of the same horizon that are known by then."""
    thresholds = np.full(scores.shape, np.nan)
    for t in range(100, len(scores)):
        for h in range(STEPS):
            known = scores[max(0, t - h - window) : max(0, t - h), h]
            level = min(1.0, (1.0 - ALPHA) * (len(known) + 1) / max(1, len(known)))
            thresholds[t, h] = np.quantile(known, level)
    return thresholds
