"""Draw docs/models/places.png and print the numbers beside it."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from sklearn.linear_model import LinearRegression

from benchmarks.machine import ROOT
from localarc.figures.findings import by_method
from localarc.figures.frame import frame, legend, target_line
from localarc.figures.palette import METHODS
from localarc.models import Calibrated, FewOutcomesWarning
from localarc.validation import FloatArray

ROWS, TENTHS, SNAPSHOTS = 8000, 10, 200
COLOURS = {'local=["size"]': METHODS["AutoLARC"], "local=()": METHODS["ARC"]}


def stream(seed: int, rows: int = ROWS) -> tuple[FloatArray, FloatArray]:
    """Errors that grow with the size of what is predicted."""
    random = np.random.default_rng(seed)
    X = random.uniform(0, 10, (rows, 1))
    return X, 3 * X[:, 0] + random.normal(0, 0.5 + X[:, 0])


def shown(m: Calibrated, X: FloatArray, y: FloatArray) -> FloatArray:
    """Whether each interval that was shown contains the outcome: rows one by one, by ticket."""
    hits = np.empty(len(y))
    for t in range(len(y)):
        batch = m.ask(X[t : t + 1])
        hits[t] = float(batch.sets.covers(y[t : t + 1])[0])  # type: ignore[union-attr]
        m.tell(batch.ids, y[t : t + 1])
    return hits


def by_tenth(X: FloatArray, hits: FloatArray) -> FloatArray:
    tenth = np.minimum((X[:, 0]).astype(int), TENTHS - 1)
    return np.array([hits[tenth == k].mean() for k in range(TENTHS)])


def snapshots(model: Any) -> FloatArray:
    """Coverage of 2,000 other rows by the thresholds at one time, between two updates."""
    X, y = stream(2)
    other, truth = stream(3, 2000)
    m = Calibrated(model, local=[0]).update(X[:4000], y[:4000])
    found = []
    for t in range(4000, ROWS, (ROWS - 4000) // SNAPSHOTS):
        m.update(X[t : t + 20], y[t : t + 20])
        found.append(m.predict_interval(other).covers(truth).mean())
    return np.array(found)


def draw_places(axes: Axes, model: Any) -> None:
    X, y = stream(1)
    settings: dict[str, Any] = {'local=["size"]': [0], "local=()": ()}
    lowest: dict[str, float] = {}
    for name, local in settings.items():
        hits = shown(Calibrated(model, local=local), X, y)
        tenths = by_tenth(X, hits)
        print(
            f"{name}: {hits.mean():.3f} overall, by tenth {tenths.min():.3f} to {tenths.max():.3f}"
        )
        lowest[name] = float(tenths.min())
        axes.plot(0.5 + np.arange(TENTHS), tenths, "o-", color=COLOURS[name], label=name)
    target_line(axes, 0.9)
    axes.set_ylim(0.6, 1.01)
    title = f"Lowest coverage of a tenth: {by_method(lowest, '.2f')}"
    legend(frame(axes, title, "size, the feature", "coverage"))


def draw_snapshots(axes: Axes, model: Any) -> None:
    found = snapshots(model)
    away = np.sqrt(np.mean((found - 0.9) ** 2))
    print(f"snapshots: {found.min():.3f} to {found.max():.3f}, {100 * away:.1f} points away (rms)")
    times = np.linspace(4000, ROWS, len(found))
    axes.plot(times, found, color=METHODS["AutoLARC"], lw=1, label="thresholds of one moment")
    target_line(axes, 0.9)
    axes.set_ylim(0.6, 1.01)
    title = f"Thresholds of one moment cover {found.min():.2f} to {found.max():.2f}"
    legend(frame(axes, title, "rows learned from", "coverage"))


def main() -> None:
    warnings.simplefilter("ignore", FewOutcomesWarning)
    model = LinearRegression().fit(*stream(0, 1000))
    figure = Figure(figsize=(9.0, 3.8), layout="constrained")
    left, right = figure.subplots(1, 2)
    draw_places(left, model)
    draw_snapshots(right, model)
    path = ROOT / "docs" / "models" / "places.png"
    figure.savefig(path, dpi=160)
    print(path.relative_to(ROOT))


if __name__ == "__main__":
    main()
