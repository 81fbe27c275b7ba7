"""The picture of the front page: a promise that holds in every part of a real stream, and a peer's.

`python -m benchmarks.front_page --figure docs/front-page.png` draws it and prints its numbers. It
requires `pip install 'localarc[benchmarks,plots]'` and takes about 40 seconds of one core.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

from benchmarks.models.intervals import COVERAGE, METHODS, Intervals
from benchmarks.models.sources import REGRESSION
from benchmarks.models.streams import Case, train
from localarc.figures.frame import frame, legend
from localarc.figures.palette import INK, colours
from localarc.validation import FloatArray

STREAM = "air time"
ROUNDS = 15_000
PARTS = 10
SHOWN = colours(["localarc", "MAPIE ACI"])


def main() -> None:
    """Measure, print and draw."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--figure", type=Path, help="file to draw")
    chosen = parser.parse_args()
    case = stream()
    found = {name: METHODS[name](case) for name in SHOWN}
    print("\n".join(described(case, found)))
    if chosen.figure:
        miles = case.stream(case.local)[:, 0]
        covered = {name: sets.cover(case.stream(case.y)) for name, sets in found.items()}
        draw(covered, miles, chosen.figure)


def described(case: Case, found: dict[str, Intervals]) -> list[str]:
    """The numbers of the caption, a line for each method."""
    lines = []
    for name, sets in found.items():
        covered = 100 * sets.cover(case.stream(case.y))
        shares, _ = by_part(covered, case.stream(case.local)[:, 0])
        finite = sets.widths[np.isfinite(sets.widths)]
        infinite = len(case) - len(finite)
        lines.append(
            f"{name}: {covered.mean():.1f} % covered, by tenth {shares.min():.1f} to "
            f"{shares.max():.1f} %; {finite.mean():.1f} minutes wide, {infinite} infinite"
        )
    return lines


def stream() -> Case:
    """Air time of flights, predicted from their schedule by a random forest."""
    (source,) = (source for source in REGRESSION if source.name == STREAM)
    return train(source, ROUNDS).case()


def by_part(covered: FloatArray, values: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Coverage and its standard error in parts with equally many rounds; equal values together."""
    edges = np.quantile(values, np.linspace(0, 1, PARTS + 1)[1:-1])
    part = np.searchsorted(edges, values)
    groups = [covered[part == k] for k in range(PARTS)]
    shares = np.array([group.mean() for group in groups])
    errors = np.array([group.std() / np.sqrt(len(group)) for group in groups])
    return shares, errors


def draw(found: dict[str, FloatArray], miles: FloatArray, path: Path) -> None:
    """Coverage against distance, with two standard errors."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(7.5, 3.6), layout="constrained")
    axes.axhline(100 * COVERAGE, color=INK, linestyle="--", linewidth=1.2, label="target: 90 %")
    for k, (name, covered) in enumerate(found.items()):
        shares, errors = by_part(covered, miles)
        axes.errorbar(
            np.arange(1, PARTS + 1) + 0.12 * (k - 0.5),
            100 * shares,
            yerr=200 * errors,
            fmt="o-",
            markersize=5,
            linewidth=1.2,
            color=SHOWN[name],
            label=name,
        )
    axes.set_xticks(range(1, PARTS + 1), ["shortest", *[""] * (PARTS - 2), "longest"])
    title = "localarc keeps 90 % at every distance, MAPIE's ACI does not"
    frame(axes, title, "tenth of the flights, by distance", "outcomes inside the interval, %")
    legend(axes)
    figure.savefig(path, dpi=150)
    pyplot.close(figure)


if __name__ == "__main__":
    main()
