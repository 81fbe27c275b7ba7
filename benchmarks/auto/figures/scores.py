"""Local mean and spread: what AutoLARC knows from the scores themselves."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from benchmarks.auto.figures.parts import parts
from localarc import AutoLARC
from localarc.figures.frame import frame, legend
from localarc.figures.palette import INK, METHODS
from localarc.validation import FloatArray

ALPHA, ROUNDS, DROP = 0.1, 3000, 2000
SHOWN = 400
FAR = 2.0  # times the largest score is far above the scores


def draw(path: Path) -> None:
    figure = Figure(figsize=(10.0, 4.2), layout="constrained")
    left, right = figure.subplots(1, 2)
    _places(left)
    _change(right)
    figure.savefig(path, dpi=160)


def _places(axes: Axes) -> None:
    """Scores over one feature, with m(x) and D(x)."""
    X, scores = stream(ROUNDS)
    cal = AutoLARC(ALPHA)
    for x, score in zip(X, scores.tolist(), strict=True):
        cal.update(x, float(score > cal.threshold(x)), score=score)
    grid = np.linspace(0.0, 1.0, 201)
    seen = [parts(cal, np.array([x])) for x in grid]
    mean, unit = np.array([p.mean for p in seen]), np.array([p.unit for p in seen])
    axes.plot(X[-SHOWN:, 0], scores[-SHOWN:], ".", color="0.75", ms=3, label="last scores")
    axes.plot(grid, mean, color=METHODS["AutoLARC"], label="m(x)")
    axes.fill_between(
        grid, mean - unit, mean + unit, color=METHODS["AutoLARC"], alpha=0.15, label="± D(x)", lw=0
    )
    axes.plot(grid, [p.threshold for p in seen], color=INK, lw=1.2, label="threshold")
    low, high = min(p.threshold for p in seen), max(p.threshold for p in seen)
    title = f"Thresholds {low:.1f} to {high:.1f} by place after {ROUNDS:,} rounds"
    frame(axes, title, "feature", "score")
    legend(axes)


def _change(axes: Axes) -> None:
    """A thousandfold drop of all scores."""
    X, scores = stream(ROUNDS)
    scores[DROP:] /= 1000.0
    cal, thresholds = AutoLARC(ALPHA), np.empty(ROUNDS)
    for t, (x, score) in enumerate(zip(X, scores.tolist(), strict=True)):
        thresholds[t] = cal.threshold(x)
        cal.update(x, float(score > thresholds[t]), score=score)
    shown = np.arange(DROP - 300, ROUNDS)
    axes.semilogy(shown, scores[shown], ".", color="0.75", ms=3, label="scores")
    axes.semilogy(shown, thresholds[shown], color=INK, lw=0.9, label="thresholds")
    axes.set_ylim(5e-5, 30.0)
    far = thresholds[DROP:] > FAR * scores[DROP:].max()
    late = int(np.flatnonzero(far)[-1]) + 1
    title = f"{late} rounds after a thousandfold fall, all thresholds are down to the scores"
    frame(axes, title, "round", "score")
    legend(axes)


def stream(rounds: int) -> tuple[FloatArray, FloatArray]:
    """Scores whose mean and spread both depend on the feature."""
    random = np.random.default_rng(0)
    X = random.uniform(size=(rounds, 1))
    level = 2.0 + np.sin(2.0 * np.pi * X[:, 0])
    return X, level * random.gamma(4.0, 0.25, size=rounds)
