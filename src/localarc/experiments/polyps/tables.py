"""The tables of the polyp report, and what they say in words."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from localarc.experiments.experiment import Row, Table
from localarc.experiments.polyps.images import SOURCES
from localarc.experiments.polyps.settings import HEADLINE, ON_ALL, ON_UNSEEN, Setting

MEMORIES = ("KeepLast", "Dictionary")
MEMORY_SCALE = 0.25


def of(rows: Sequence[Row], setting: Setting, **wanted: Any) -> list[Row]:
    """The rows of a setting that have these values."""
    wanted |= setting._asdict()
    return [row for row in rows if all(row[key] == value for key, value in wanted.items())]


def groups(rows: Sequence[Row]) -> list[str]:
    """All images, then the sources that there are."""
    found = {row["group"] for row in rows}
    return [group for group in ("all", *SOURCES) if group in found]


def methods(rows: Sequence[Row], memory: bool = False) -> list[str]:
    """The methods in order: those of the main comparison, or those of the memory study."""
    names = list(dict.fromkeys(row["method"] for row in rows))
    if not memory:
        return [name for name in names if not name.startswith(MEMORIES)]
    exact = f"L-ARC l={MEMORY_SCALE:g}"
    order = ("ARC", "KeepLast", exact, "Dictionary")
    return [name for start in order for name in names if name.startswith(start)]


def cells(
    rows: Sequence[Row], setting: Setting, method: str, evaluation: str, value: str
) -> list[str]:
    """A value on all images and by source, with its standard error over trials."""
    found = of(rows, setting, method=method, evaluation=evaluation)
    by_group = {row["group"]: row for row in found}
    return [_with_error(by_group[group], value) for group in groups(found)]


def _with_error(row: Row, value: str) -> str:
    error = row[f"{value}_error"]
    return f"{row[value]:.3f}" if error is None else f"{row[value]:.3f} ± {error:.3f}"


def overview(setting: Setting, value: str, rows: Sequence[Row]) -> Table:
    """The averaged threshold on held-out images, by source, after the long-run value."""
    head = ["method", "long run", "held out", *groups(rows)[1:]]
    if not of(rows, setting):
        return head, []
    body = []
    for method in methods(rows):
        online = cells(rows, setting, method, "online", value)[0]
        body.append([method, online, *cells(rows, setting, method, "average", value)])
    return head, body


def several(settings: Sequence[Setting], value: str, rows: Sequence[Row]) -> Table:
    """The same for several settings, one after the other."""
    head = ["target", "eta", "scores", *overview(HEADLINE, value, rows)[0]]
    body = [
        [f"{setting.alpha:g}", f"{setting.eta:g}", setting.space, *line]
        for setting in settings
        for line in overview(setting, value, rows)[1]
    ]
    return head, body


def price(rows: Sequence[Row]) -> Table:
    """False negatives beside those of one threshold for all images, with masks as large."""
    body = []
    for method in methods(rows):
        size = cells(rows, HEADLINE, method, "average", "size")[0]
        body.append([method, size, *cells(rows, HEADLINE, method, "average", "fnr")])
        same = cells(rows, HEADLINE, method, "average", "same_size_fnr")
        body.append(["one threshold, same size", size, *same])
    return ["method", "mask size", "held out", *groups(rows)[1:]], body


def last(rows: Sequence[Row]) -> Table:
    """The last threshold instead of the average, on the same images."""
    body = [
        [method, *cells(rows, HEADLINE, method, "last", "fnr"),
         cells(rows, HEADLINE, method, "last", "size")[0]]
        for method in methods(rows)
    ]  # fmt: skip
    return ["method", "held out", *groups(rows)[1:], "mask size"], body


def memory(rows: Sequence[Row]) -> Table:
    """What each memory costs in state, and what it keeps of the localization."""
    head = ["method", "state kB", "with average kB", "threshold spread", *groups(rows)]
    body = []
    for method in methods(rows, memory=True):
        row = of(rows, HEADLINE, method=method, evaluation="last", group="all")[0]
        sizes = [f"{row['running_kb']:.1f}", f"{row['state_kb']:.1f}", f"{row['spread']:.3f}"]
        body.append([method, *sizes, *cells(rows, HEADLINE, method, "average", "fnr")])
    return head, body


TABLES: dict[str, Callable[[Sequence[Row]], Table]] = {
    f"False negatives: {HEADLINE}": partial(overview, HEADLINE, "fnr"),
    f"Mask size: {HEADLINE}": partial(overview, HEADLINE, "size"),
    f"What the same mask size buys with one threshold: {HEADLINE}": price,
    f"False negatives of the last threshold: {HEADLINE}": last,
    f"Memory at l = {MEMORY_SCALE:g}, false negatives: {HEADLINE}": memory,
    "False negatives, unseen images": partial(several, ON_UNSEEN, "fnr"),
    "Mask size, unseen images": partial(several, ON_UNSEEN, "size"),
    "False negatives, all images, other steps and scores": partial(several, ON_ALL[1:], "fnr"),
    "Mask size, all images, other steps and scores": partial(several, ON_ALL[1:], "size"),
}


def findings(rows: Sequence[Row]) -> list[str]:
    """What the rows say, also where it is not what one would wish."""
    told = [setting for setting in (HEADLINE, *ON_UNSEEN[:2]) if of(rows, setting)]
    return [_sentence(rows, setting, method) for setting in told for method in methods(rows)]


def _sentence(rows: Sequence[Row], setting: Setting, method: str) -> str:
    found = of(rows, setting, method=method, evaluation="average")
    by_group = {row["group"]: row for row in found}
    sources = sorted(groups(found)[1:], key=lambda group: by_group[group]["fnr"])
    low, high = by_group[sources[0]], by_group[sources[-1]]
    online = of(rows, setting, method=method, evaluation="online", group="all")[0]
    return (
        f"{str(setting)[0].upper()}{str(setting)[1:]}: {method} has a long-run FNR of "
        f"{online['fnr']:.3f}; held out from {low['fnr']:.3f} ({low['group']}) to "
        f"{high['fnr']:.3f} ({high['group']}), {by_group['all']['fnr']:.3f} in all, with masks of "
        f"{by_group['all']['size']:.3f} of the image."
    )
