"""The learner: what losses add to the local mean and spread of the scores."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from benchmarks.auto.figures.parts import parts
from localarc import AutoLARC
from localarc.figures.frame import frame, legend
from localarc.figures.palette import FAINT, INK, METHODS
from localarc.validation import FloatArray

ALPHA, ROUNDS, BINS = 0.1, 20_000, 20
SETTLED, EVERY = 5_000, 50
GRID = np.linspace(0.01, 0.99, 50)


def draw(path: Path) -> None:
    X, scores = stream()
    cal, thresholds, (mean, unit) = AutoLARC(ALPHA), np.empty(ROUNDS), np.empty((2, ROUNDS))
    offsets = []
    for t, (x, score) in enumerate(zip(X, scores.tolist(), strict=True)):
        seen = parts(cal, x)
        thresholds[t], mean[t], unit[t] = seen.threshold, seen.mean, seen.unit
        cal.update(x, float(score > thresholds[t]), score=score)
        if t >= SETTLED and t % EVERY == 0:
            offsets.append([parts(cal, np.array([place])).offset for place in GRID])
    figure = Figure(figsize=(10.0, 4.2), layout="constrained")
    left, right = figure.subplots(1, 2)
    _offsets(left, np.array(offsets))
    best = np.quantile((scores - mean)[1:] / unit[1:], 1.0 - ALPHA)
    alone = _risk(right, X[:, 0], scores > mean + best * unit, "mean and spread alone", FAINT)
    ours = METHODS["AutoLARC"]
    learned = _risk(right, X[:, 0], scores > thresholds, "with the learner", ours)
    right.axhline(ALPHA, color=INK, ls="--", lw=1)
    title = f"Misses by place: {alone} without the learner, {learned} with it"
    frame(right, title, "feature", "risk, ± 2 standard errors")
    legend(right)
    figure.savefig(path, dpi=160)


def _offsets(axes: Axes, offsets: FloatArray) -> None:
    """Mean over time of C and the offsets, and how far they swing around it."""
    mean, swing = offsets.mean(axis=0), offsets.std(axis=0)
    colour = METHODS["AutoLARC"]
    axes.plot(GRID, mean, color=colour, label="C and offsets, mean")
    axes.fill_between(
        GRID, mean - swing, mean + swing, color=colour, alpha=0.15, lw=0, label="± their swing"
    )
    axes.plot(GRID, needed(GRID), "--", color=INK, lw=1.2, label="true quantile")
    away = float(np.abs(mean - needed(GRID)).mean())
    title = f"Offsets are {away:.2f} from the true quantile, mean of rounds {SETTLED:,} on"
    frame(axes, title, "feature", "(threshold - m) / D")
    legend(axes)


def _risk(axes: Axes, x: FloatArray, missed: NDArray[np.bool_], name: str, colour: str) -> str:
    """Draw the risk along the feature, with two standard errors, and return its range."""
    place = np.minimum((BINS * x).astype(int), BINS - 1)
    counts = np.bincount(place, minlength=BINS)
    risk = np.bincount(place, missed, BINS) / counts
    error = 2.0 * np.sqrt(risk * (1.0 - risk) / counts)
    middle = (np.arange(BINS) + 0.5) / BINS
    axes.errorbar(middle, risk, error, fmt="o", ms=4, color=colour, label=name)
    return f"{risk.min():.2f} to {risk.max():.2f}"


def stream() -> tuple[FloatArray, FloatArray]:
    """Scores around two values on the left, with a long tail on the right."""
    random = np.random.default_rng(1)
    X = random.uniform(size=(ROUNDS, 1))
    return X, _scores(X[:, 0], random)


def _scores(x: FloatArray, random: np.random.Generator) -> FloatArray:
    n = len(x)
    two = 1.0 + 0.1 * random.normal(size=n) + np.where(random.random(n) < 0.5, 1.0, -1.0)
    tail = 2.0 * random.exponential(size=n) / 1.4715
    return np.where(random.random(n) < x, tail, two)


def needed(grid: FloatArray) -> FloatArray:
    """(quantile - mean) / (1.5 mean absolute deviations), by simulation."""
    random = np.random.default_rng(2)
    values = []
    for x in grid:
        scores = _scores(np.full(40_000, x), random)
        deviation = np.abs(scores - scores.mean()).mean()
        values.append((np.quantile(scores, 1.0 - ALPHA) - scores.mean()) / (1.5 * deviation))
    return np.array(values)
