"""The figures of the fruit experiment: the paper's three panels, and the classifier itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from localarc.figures.findings import by_method
from localarc.figures.frame import frame, legend, plain
from localarc.figures.palette import FAINT, INK, colours
from localarc.figures.settling import settling
from localarc.measures import running_risk
from localarc_lab.experiments.experiment import Results as AnyResults
from localarc_lab.experiments.experiment import Row
from localarc_lab.experiments.fruit.measurements import BINS, FEW, bin_name, target
from localarc_lab.experiments.fruit.model_outputs import Outputs
from localarc_lab.experiments.table_rows import held_out, held_out_name, methods, one, where

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Results = AnyResults[Outputs, str]
_NEAR = 0.005
_MARKS = "os^DPv"


def running_coverage(axes: Axes, results: Results) -> Axes:
    """The round from which the miscoverage so far stays near the target: mean over trials."""
    means = {
        name: np.mean(
            [running_risk(run.arrays["losses"]) for run in results.of_method(name, "probability")],
            axis=0,
        )
        for name in methods(results.rows)
    }
    return settling(axes, means, target(results.plan), _NEAR, "round")


def coverage_by_confidence(axes: Axes, results: Results) -> Axes:
    """Held-out coverage of the averaged threshold in each bin, or else of the last."""
    lowest = _finding(_coverage(axes, results, "held out"), ".2f")
    title = f"Lowest held-out coverage of a bin{lowest}"
    return legend(frame(axes, title, "confidence", "coverage"))


def online_by_confidence(axes: Axes, results: Results) -> Axes:
    """Coverage of the calibration rounds, each at its own threshold, in each bin."""
    lowest = _finding(_coverage(axes, results, "online"), ".2f")
    title = f"Lowest online coverage of a bin{lowest}"
    return legend(frame(axes, title, "confidence", "coverage"))


def _coverage(axes: Axes, results: Results, evaluation: str) -> dict[str, float]:
    """Draw coverages, and return the lowest of each method in a bin with enough samples."""
    _target(axes, results)
    found = _by_confidence(axes, results, "coverage", evaluation)
    axes.set_ylim(-0.02, 1.17)  # room for the counts
    axes.set_yticks(np.arange(6) / 5)
    return {name: min(values) for name, values in found.items() if values}


def size_by_confidence(axes: Axes, results: Results) -> Axes:
    """Labels per set in each bin; the scale is linear up to 1, then logarithmic."""
    largest = {
        name: max(values)
        for name, values in _by_confidence(axes, results, "size", "held out").items()
        if values
    }
    axes.set_yscale("symlog", linthresh=1.0)
    axes.set_ylim(-0.05, 600.0)  # room for the counts
    axes.set_yticks([0, 1, 10, 100], ["0", "1", "10", "100"])
    title = f"Largest mean set of a bin{_finding(largest, '.3g')}"
    return legend(frame(axes, title, "confidence", "labels in the set"))


def _finding(values: dict[str, float], digits: str) -> str:
    """The numbers of a title, and that bins with few samples do not count."""
    return f" with at least {FEW} samples: {by_method(values, digits) or 'no such bin'}"


def reliability(axes: Axes, results: Results) -> Axes:
    """Accuracy against confidence, and the share of samples in each bin."""
    first = methods(results.rows)[0]
    rows = where(results.rows, score="probability", method=first, evaluation="last")
    found = _bins(rows)
    total = one(rows, group="all")["samples"]
    middles = [_middle(row) for row in found]
    axes.bar(
        middles,
        [row["samples"] / total for row in found],
        width=0.9 / BINS,
        color=FAINT,
        alpha=0.4,
        label="share of samples",
    )
    axes.plot([0, 1], [0, 1], color=INK, linestyle="--", linewidth=1.2, label="calibrated")
    kept = [row for row in found if row["samples"] >= FEW]
    axes.errorbar(
        [_middle(row) for row in kept],
        [row["accuracy"] for row in kept],
        [row["accuracy_error"] or 0.0 for row in kept],
        color=colours(["L-ARC"])["L-ARC"],
        marker="o",
        markersize=4,
        linewidth=1.5,
        label="accuracy",
    )
    away = max(abs(row["accuracy"] - _middle(row)) for row in kept) if kept else 0.0
    title = f"Accuracy differs from confidence by up to {100 * away:.0f} points"
    return legend(frame(axes, title, "confidence", "accuracy, share"))


def _by_confidence(
    axes: Axes, results: Results, value: str, evaluation: str
) -> dict[str, list[float]]:
    """One line per method; bins with few samples are hollow; counts along the top.

    Returns the values of each method in bins with enough samples.
    """
    names, held = methods(results.rows), evaluation == "held out"
    drawn: dict[str, list[float]] = {}
    for name, mark in zip(names, _MARKS * len(names), strict=False):
        wanted = held_out(results.rows, name) if held else evaluation
        label = held_out_name(results.rows, name) if held else name
        found = _bins(where(results.rows, score="probability", method=name, evaluation=wanted))
        x, colour = np.array([_middle(row) for row in found]), colours(names)[name]
        y = np.array([row[value] for row in found])
        errors = [row[f"{value}_error"] or 0.0 for row in found]
        few = np.array([row["samples"] < FEW for row in found])
        drawn[label] = y[~few].tolist()
        axes.errorbar(x, y, errors, color=colour, linewidth=1.3, label=plain(label))
        axes.plot(x[~few], y[~few], mark, color=colour, markersize=4)
        axes.plot(x[few], y[few], mark, color=colour, markersize=4, markerfacecolor="white")
    if names:
        _counts(axes, found)
    axes.set_xlim(0.0, 1.0)
    return drawn


def _counts(axes: Axes, found: list[Row]) -> None:
    """The number of samples per bin, along the top."""
    for row in found:
        axes.annotate(
            f"{row['samples']:.0f}",
            (_middle(row), 0.985),
            xycoords=axes.get_xaxis_transform(),
            ha="center",
            va="top",
            rotation=90,
            fontsize=7,
            color=INK,
        )


def _bins(rows: list[Row]) -> list[Row]:
    by_name = {row["group"]: row for row in rows}
    return [by_name[bin_name(k)] for k in range(BINS) if bin_name(k) in by_name]


def _middle(row: Row) -> float:
    return float(row["group"]) + 0.5 / BINS


def _target(axes: Axes, results: Results) -> None:
    wanted = 1 - target(results.plan)
    axes.axhline(wanted, color=INK, linestyle="--", linewidth=1.2, label=f"target {wanted:g}")
