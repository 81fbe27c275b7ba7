"""The tables of the polyp report, and the findings in words."""

from __future__ import annotations

from collections.abc import Sequence

from localarc_lab.experiments import table_rows
from localarc_lab.experiments.experiment import Row, Table
from localarc_lab.experiments.polyps.images import SOURCES
from localarc_lab.experiments.polyps.settings import HEADLINE, Setting
from localarc_lab.experiments.table_rows import (
    certificates,
    held_out,
    held_out_name,
    one,
    where,
    with_error,
)

MEMORIES = ("KeepLast", "Dictionary")
MEMORY_SCALE = 0.25


def in_setting(rows: Sequence[Row], setting: Setting, **values: object) -> list[Row]:
    """Return the rows of a setting that have these values."""
    return where(rows, **setting._asdict(), **values)


def settings(rows: Sequence[Row]) -> list[Setting]:
    """Return the settings in the rows; the first is the headline of the report."""
    return list(dict.fromkeys(Setting(*(row[name] for name in Setting._fields)) for row in rows))


def headline(rows: Sequence[Row]) -> Setting:
    """Return the setting that the report leads with."""
    return next(iter(settings(rows)), HEADLINE)


def unseen_settings(rows: Sequence[Row]) -> list[Setting]:
    """Return the settings of images that the network was not trained on."""
    return [setting for setting in settings(rows) if setting.pool == "unseen"]


def groups(rows: Sequence[Row]) -> list[str]:
    """Return "all" and the sources in the rows."""
    found = {row["group"] for row in rows}
    return [group for group in ("all", *SOURCES) if group in found]


def methods(rows: Sequence[Row], memory: bool = False) -> list[str]:
    """Return the methods of the main comparison, or those of the memory study."""
    names = table_rows.methods(rows)
    if not memory:
        return [name for name in names if not name.startswith(MEMORIES)]
    exact = f"L-ARC l={MEMORY_SCALE:g}"
    order = ("ARC", "KeepLast", exact, "Dictionary")
    return [name for start in order for name in names if name.startswith(start)]


def cells(
    rows: Sequence[Row], setting: Setting, method: str, evaluation: str, value: str
) -> list[str]:
    """Return a value on all images and by source, each with its standard error."""
    found = in_setting(rows, setting, method=method, evaluation=evaluation)
    by_group = {row["group"]: row for row in found}
    return [with_error(by_group[group], value) for group in groups(found)]


def overview(setting: Setting, value: str, rows: Sequence[Row]) -> Table:
    """The averaged threshold on held-out images (or the last), after the long-run value."""
    head = ["method", "long run", "held out", *groups(rows)[1:]]
    if not in_setting(rows, setting):
        return head, []
    body = []
    for method in methods(rows):
        online = cells(rows, setting, method, "online", value)[0]
        shown = cells(rows, setting, method, held_out(rows, method), value)
        body.append([held_out_name(rows, method), online, *shown])
    return head, body


def several(wanted: Sequence[Setting], value: str, rows: Sequence[Row]) -> Table:
    """The same for several settings."""
    head = ["target", "eta", "scores", *overview(headline(rows), value, rows)[0]]
    body = [
        [f"{setting.alpha:g}", f"{setting.eta:g}", setting.space, *line]
        for setting in wanted
        for line in overview(setting, value, rows)[1]
    ]
    return head, body


def price(rows: Sequence[Row]) -> Table:
    """False negatives, compared with one threshold for all images and the same mask size."""
    body = []
    for method in methods(rows):
        evaluation, name = held_out(rows, method), held_out_name(rows, method)
        size = cells(rows, headline(rows), method, evaluation, "size")[0]
        body.append([name, size, *cells(rows, headline(rows), method, evaluation, "fnr")])
        same = cells(rows, headline(rows), method, evaluation, "same_size_fnr")
        body.append(["one threshold, same size", size, *same])
    return ["method", "mask size", "held out", *groups(rows)[1:]], body


def last(rows: Sequence[Row]) -> Table:
    """The last threshold instead of the average, on the same images."""
    body = [
        [method, *cells(rows, headline(rows), method, "last", "fnr"),
         cells(rows, headline(rows), method, "last", "size")[0]]
        for method in methods(rows)
    ]  # fmt: skip
    return ["method", "held out", *groups(rows)[1:], "mask size"], body


def memory(rows: Sequence[Row]) -> Table:
    """The size of the state with each memory, and how much of the localization it keeps."""
    head = ["method", "state kB", "with average kB", "threshold spread", *groups(rows)]
    body = []
    for method in methods(rows, memory=True):
        row = one(in_setting(rows, headline(rows), method=method), evaluation="last", group="all")
        sizes = [f"{row['running_kb']:.1f}", f"{row['state_kb']:.1f}", f"{row['spread']:.3f}"]
        body.append([method, *sizes, *cells(rows, headline(rows), method, "average", "fnr")])
    return head, body


def _certificates(rows: Sequence[Row]) -> Table:
    online = in_setting(rows, headline(rows), evaluation="online", group="all")
    return certificates([row for row in online if row["method"] in methods(rows)])


def tables(rows: Sequence[Row]) -> dict[str, Table]:
    """Return the tables of the report, by title."""
    main = headline(rows)
    others = [setting for setting in settings(rows)[1:] if setting.pool == "all"]
    return {
        f"False negatives: {main}": overview(main, "fnr", rows),
        f"Mask size: {main}": overview(main, "size", rows),
        f"One threshold for all images with the same mask size: {main}": price(rows),
        f"False negatives of the last threshold: {main}": last(rows),
        f"Memory at l = {MEMORY_SCALE:g}, false negatives: {main}": memory(rows),
        f"Certificates, distance of the long-run FNR from the target: {main}": _certificates(rows),
        "False negatives, unseen images": several(unseen_settings(rows), "fnr", rows),
        "Mask size, unseen images": several(unseen_settings(rows), "size", rows),
        "False negatives, all images, other rates and scores": several(others, "fnr", rows),
        "Mask size, all images, other rates and scores": several(others, "size", rows),
    }


def findings(rows: Sequence[Row]) -> list[str]:
    """What the rows show, in sentences, including what contradicts the claim."""
    plain = [setting for setting in unseen_settings(rows) if setting.space == HEADLINE.space]
    reported = dict.fromkeys([*settings(rows)[:1], *plain])
    return [_sentence(rows, setting, method) for setting in reported for method in methods(rows)]


def _sentence(rows: Sequence[Row], setting: Setting, method: str) -> str:
    evaluation = held_out(rows, method)
    found = in_setting(rows, setting, method=method, evaluation=evaluation)
    by_group = {row["group"]: row for row in found}
    sources = sorted(groups(found)[1:], key=lambda group: by_group[group]["fnr"])
    low, high = by_group[sources[0]], by_group[sources[-1]]
    online = one(in_setting(rows, setting, method=method), evaluation="online", group="all")
    return (
        f"{str(setting)[0].upper()}{str(setting)[1:]}: {method} has a long-run FNR of "
        f"{online['fnr']:.3f}; held out ({evaluation} threshold) from {low['fnr']:.3f} "
        f"({low['group']}) to {high['fnr']:.3f} ({high['group']}), "
        f"{by_group['all']['fnr']:.3f} in all, with masks of "
        f"{by_group['all']['size']:.3f} of the image."
    )
