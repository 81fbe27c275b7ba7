"""Files of an arena: all numbers as CSV and JSON, a figure, and a page."""

from __future__ import annotations

import base64
import json
import math
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

from localarc.figures import method_grid
from localarc.figures.canvas import INSTALL, save_picture
from localarc.reporting.assessment import jsonable
from localarc.reporting.html.markup import document, heading, paragraph, table
from localarc.reporting.provenance import versions
from localarc.tables.csv import write_csv
from localarc_lab.arena.standings import Standings, Table
from localarc_lab.arena.yardstick import WITHOUT_TARGET
from localarc_lab.compare.report import READING
from localarc_lab.data import DATASETS

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FILES = ("arena.csv", "arena.json", "arena.png", "report.html")
"""The files that an arena writes."""

OURS = ("AutoLARC", "L-ARC")
"""The methods whose defeats are listed."""

SUMMARY_READING = (
    "Means over streams, with standard errors over streams. Risk is the distance from the target, "
    "and what is worst of its kind is by how much it exceeds the target, all in units of the "
    "target: 0.5 is half the target too much. What has no target "
    f"({', '.join(each.title for each in WITHOUT_TARGET)}) is in units of the best constant "
    "threshold in hindsight, which is no method, with geometric means. Read risks beside sizes: "
    "large sets have a low risk everywhere. Won, tied and lost count every pair of methods and "
    "size of neighbourhood, at two standard errors."
)
_SHARE = "10 %"  # the neighbourhoods of the figure


def write_arena(standings: Standings, folder: Path, command: str) -> list[Path]:
    """Write all files to an existing folder, and return their paths."""
    write_csv(folder / "arena.csv", standings.columns())
    content = json.dumps(_summary(standings, command), indent=1, allow_nan=False)
    (folder / "arena.json").write_text(content + "\n", encoding="utf-8")
    draw(standings, folder / "arena.png")
    (folder / "report.html").write_text(_page(standings, folder, command), encoding="utf-8")
    return [folder / name for name in FILES if (folder / name).exists()]


def draw(standings: Standings, path: Path) -> None:
    """Draw the excess of the worst neighbourhood and, beside it, the size, by method and stream."""
    methods, streams = standings.methods, list(standings.comparisons)
    shown = [s for s in streams if any(_known(standings.excess(m, s, _SHARE)) for m in methods)]
    size = max(7.0, 2.4 + 0.46 * len(shown)), 3.4 + 0.5 * len(methods)
    risks = {m: {s: standings.excess(m, s, _SHARE) for s in shown} for m in methods}
    sizes = {m: {s: standings.relative_size(m, s) for s in shown} for m in methods}
    note = " (quick run)" if standings.quick else ""
    least = [min(risks, key=lambda m: _last(risks[m][s])) for s in shown]
    best = max(methods, key=least.count)
    title = (
        f"Excess of the worst neighbourhood of {_SHARE}, in targets: {best} has the least on "
        f"{least.count(best)} of {len(shown)} streams{note}"
    )
    larger = sum(sizes[best][s] > 1.0 for s in shown)
    size_title = (
        f"Mean size, in best constants: sets of {best} are larger than those of the best constant "
        f"on {larger} of {len(shown)} streams{note}"
    )

    def panels(figure: Figure) -> None:
        above, below = figure.subplots(2, sharex=True)
        method_grid(above, risks, title, ideal=0.0, span=3.0)
        method_grid(below, sizes, size_title, ideal=1.0, span=1.0)

    save_picture(path, size, panels)


def _last(excess: float) -> float:
    """The excess as a sort key: unknown ones come last."""
    return math.inf if math.isnan(excess) else excess


def stream_table(standings: Standings) -> Table:
    """Return one row per stream: what it is, its base model, groups, licence and checksums."""
    head = ["stream", "rounds", "target", "a round", "base model", "groups", "licence", "SHA-256"]
    rows = [
        [
            *(name, f"{standings.comparisons[name].results[0].rounds:,}", f"{entry.alpha:g}"),
            *(entry.title, entry.model, entry.groups, entry.licence, _checksums(entry.data)),
        ]
        for name, entry in standings.entries.items()
    ]
    return head, rows


def left_out_table(standings: Standings) -> Table:
    """Return what was not run, and why: streams, and methods on a stream."""
    return ["left out", "why"], [[name, why] for name, why in standings.left_out.items()]


def _checksums(data: str | None) -> str:
    """The first digits of the checksums of a data set's files."""
    if data is None:
        return "-"
    variants = DATASETS[data].variants
    return " or ".join(" ".join(digest[:8] for digest in files.values()) for files in variants)


def _known(value: float) -> bool:
    return math.isfinite(value)


def _summary(standings: Standings, command: str) -> dict[str, object]:
    head, summary = standings.summary()
    return {
        "format": "localarc arena 1",
        "command": command,
        "quick": standings.quick,
        "versions": versions(),
        "left out": dict(standings.left_out),
        "summary": [dict(zip(head, row, strict=True)) for row in summary],
        "rows": [jsonable(row) for row in standings.rows()],
    }


def _picture(path: Path) -> str:
    """The figure inside the page, or how to get it."""
    if not path.exists():
        return paragraph(INSTALL, "soft")
    content = base64.b64encode(path.read_bytes()).decode()
    caption = "Excess of the worst neighbourhood, and mean set size, by method and stream"
    return (
        f'<figure><img src="data:image/png;base64,{content}" style="max-width: 100%" '
        f'alt="{escape(caption)}"><figcaption>{escape(caption)}.</figcaption></figure>'
    )


def _page(standings: Standings, folder: Path, command: str) -> str:
    title = "Arena: online methods on the same streams"
    parts = [heading(title, 1)]
    if standings.quick:
        parts.append(paragraph("A quick run: at most 1,000 rounds of each stream."))
    parts += [table(*standings.summary()), paragraph(SUMMARY_READING, "soft")]
    parts.append(_picture(folder / "arena.png"))
    for method in [each for each in OURS if each in standings.methods]:
        parts += [heading(f"Where {method} is beaten"), table(*standings.beaten_by(method))]
    parts += [heading("Streams"), table(*stream_table(standings))]
    if standings.left_out:
        parts.append(table(*left_out_table(standings)))
    for stream, comparison in standings.comparisons.items():
        alpha = standings.entries[stream].alpha
        parts += [heading(f"{stream}, target {alpha:g}"), table(*comparison.table(alpha))]
    parts += [paragraph(READING, "soft"), paragraph(f"Command: {command}", "soft")]
    return document(title, parts)
