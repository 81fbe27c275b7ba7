"""Files of a comparison: the table as CSV and JSON, a figure, and a page."""

from __future__ import annotations

import json
import math
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from localarc import figures
from localarc.figures.canvas import save_picture
from localarc.measures import MEASURES, RISK
from localarc.reporting.assessment import jsonable
from localarc.reporting.html.markup import document, figure, heading, paragraph, table
from localarc.reporting.html.markup import figures as side_by_side
from localarc.reporting.provenance import versions
from localarc.tables.csv import write_csv
from localarc_lab.compare.comparison import Comparison
from localarc_lab.compare.result import Local, Result

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

FILES = ("comparison.csv", "comparison.json", "comparison.png", "report.html")
"""The files that a comparison writes; the figure only if set sizes are known."""

_LINES = 8  # methods in the figure of running risks
READING = (
    f"{RISK.about} Groups and neighbourhoods are the worst of their kind, with standard errors "
    "that treat rounds as independent; the percentage is the share of all rounds in a typical "
    f"neighbourhood. Read them beside the mean size. {' '.join(m.about for m in MEASURES[1:])} "
    "Won, tied and lost: against every other method, how far the worst neighbourhood of each "
    "size, or else the worst group, is above the target, at two standard errors. Times are "
    "processor times of this run."
)


def write_comparison(comparison: Comparison, folder: Path, command: str) -> list[Path]:
    """Write all files to an existing folder, and return their paths.

    `command` is what gives these results again, for the reader.
    """
    write_csv(folder / "comparison.csv", comparison.columns())
    content = json.dumps(_summary(comparison, command), indent=2, allow_nan=False)
    (folder / "comparison.json").write_text(content + "\n", encoding="utf-8")
    if all(_points(comparison, alpha) for alpha in comparison.targets):
        _draw(folder / "comparison.png", comparison)
    (folder / "report.html").write_text(_page(comparison, command), encoding="utf-8")
    return [folder / name for name in FILES if (folder / name).exists()]


def _summary(comparison: Comparison, command: str) -> dict[str, object]:
    records = comparison.records
    return {
        "format": "localarc comparison 1",
        "command": command,
        "stream": comparison.stream,
        "versions": versions(),
        "calibrators": [
            records[result.alpha, result.method].calibrator for result in comparison.results
        ],
        "rows": [jsonable(row) for row in comparison.rows()],
    }


def _judged(result: Result) -> Local | None:
    """The neighbourhood of middle size, or else the worst group."""
    places = result.neighbourhoods
    return places[len(places) // 2] if places else result.group


def _points(comparison: Comparison, alpha: float) -> dict[str, tuple[float, float, float]]:
    found = {result.method: (result, _judged(result)) for result in comparison.at(alpha)}
    return {
        name: (result.size, local.risk, _known(local.standard_error))
        for name, (result, local) in found.items()
        if local is not None and math.isfinite(local.risk) and math.isfinite(result.size)
    }


def _known(error: float) -> float:
    return error if math.isfinite(error) else 0.0


def _what(comparison: Comparison) -> str:
    local = _judged(comparison.results[0])
    if comparison.results[0].neighbourhoods and local is not None:
        return f"risk, worst neighbourhood of {local.name}"
    return "risk in the worst group"


def _trade_off(axes: Axes, comparison: Comparison, alpha: float) -> Axes:
    points = _points(comparison, alpha)
    return figures.method_trade_off(axes, points, alpha, _what(comparison))


def _draw(path: Path, comparison: Comparison) -> None:
    targets = comparison.targets

    def draw(drawing: Figure) -> None:
        panels = drawing.subplots(len(targets), squeeze=False)[:, 0]
        for axes, alpha in zip(panels, targets, strict=True):
            _trade_off(axes, comparison, alpha)

    save_picture(path, (8.0, 5.2 * len(targets)), draw)


def _page(comparison: Comparison, command: str) -> str:
    parts = [heading(f"{comparison.stream}: online methods on the same rounds", 1)]
    parts.append(paragraph(READING, "soft"))
    for i, alpha in enumerate(comparison.targets):
        parts += [heading(f"Target {alpha:g}"), table(*comparison.table(alpha))]
        parts.append(side_by_side(_figures(comparison, alpha, i)))
    parts += [
        heading("Methods"),
        table(["method", "target", "calibrator"], _calibrators(comparison)),
    ]
    parts.append(paragraph(f"Command: {command}", "soft"))
    return document(f"{comparison.stream}: comparison", parts)


def _figures(comparison: Comparison, alpha: float, i: int) -> list[str]:
    drawn = []
    if _points(comparison, alpha):
        caption = f"Mean set size and {_what(comparison)}: small is good in both directions."
        draw = partial(_trade_off, comparison=comparison, alpha=alpha)
        drawn.append(figure(draw, f"trade-off{i}", caption))
    titles = [result.method for result in comparison.at(alpha)][:_LINES]
    records = {title: comparison.records[alpha, title] for title in titles}
    more = len(comparison.at(alpha)) - len(titles)
    caption = "Mean loss up to each round" + (f"; {more} methods are omitted." if more else ".")
    drawn.append(figure(lambda axes: figures.running_risk(axes, records), f"running{i}", caption))
    return drawn


def _calibrators(comparison: Comparison) -> list[list[str]]:
    return [
        [
            result.method,
            f"{result.alpha:g}",
            comparison.records[result.alpha, result.method].calibrator,
        ]
        for result in comparison.results
    ]
