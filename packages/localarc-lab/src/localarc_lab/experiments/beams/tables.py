"""The tables of the beams report, and the findings in words."""

from __future__ import annotations

import math
from collections.abc import Sequence

from localarc_lab.experiments import table_rows
from localarc_lab.experiments.beams.measurements import (
    BY_QUARTER,
    PERCENTILES,
    SAME_SIZE,
    SNR,
)
from localarc_lab.experiments.experiment import Row, Table
from localarc_lab.experiments.table_rows import (
    certificates,
    held_out,
    held_out_name,
    one,
    where,
    with_error,
)

_MEMORIES = ("KeepLast", "KeepAll")


def compared(rows: Sequence[Row]) -> list[str]:
    """The main comparison: ARC, Mondrian, the first L-ARC, AutoLARC, and methods of others."""
    found = table_rows.methods(rows)
    more = [name for name in found if name.startswith("L-ARC l=")][1:]
    return [name for name in found if not name.startswith(_MEMORIES) and name not in more]


def shown(rows: Sequence[Row]) -> str:
    """The target of maps, of the running risk and of the memory study, as a setting."""
    return str(rows[0]["shown"])


def targets(rows: Sequence[Row]) -> list[str]:
    """All targets, as settings."""
    found = dict.fromkeys(row["setting"] for row in rows if row["setting"] != SAME_SIZE)
    return sorted(found, key=float)


def memory_study(rows: Sequence[Row]) -> list[str]:
    """The memory study: ARC, L-ARC with windows, exact, and in the lattice's constant memory."""
    local = [name for name in table_rows.methods(rows) if name.startswith("L-ARC")][:1]
    windows = [name for name in table_rows.methods(rows) if name.startswith(_MEMORIES)]
    return [*(name for name in table_rows.methods(rows) if name == "ARC"), *windows, *local]


def memory_name(method: str) -> str:
    """Return a method's name in the memory study: its memory, the lattice if none is given.

    >>> memory_name("KeepLast(500) l=100"), memory_name("L-ARC l=100"), memory_name("ARC")
    ('L-ARC, KeepLast(500)', 'L-ARC, Lattice', 'ARC')
    """
    family = method.split(" l=")[0]
    if family == "ARC":
        return family
    return f"L-ARC, {'Lattice' if family == 'L-ARC' else family}"


_SPREAD = ["cells: std", "cells: worst"]
_STRENGTH = [f"SNR {p} %, dB" for p in PERCENTILES]


def _spread(row: Row) -> list[str]:
    return [with_error(row, "cell_std"), with_error(row, "cell_worst", 2)]


def _strength(row: Row) -> list[str]:
    """Percentiles in dB of the mean amplitude over trials; "none" where the set is empty."""
    return [
        f"{20 * math.log10(row[name]):.1f}" if row["empty"] < percent / 100 else "none"
        for name, percent in zip(SNR, PERCENTILES, strict=True)
    ]


def by_target(evaluation: str, rows: Sequence[Row]) -> Table:
    """Every target, every method of the main comparison; AutoLARC's last for an average."""
    head = ["target", "method", "risk", "beams", "empty sets", *_SPREAD, *_STRENGTH]
    body = []
    for target in targets(rows):
        for method in compared(rows):
            name, wanted = method, evaluation
            if evaluation == "average":
                name, wanted = held_out_name(rows, method), held_out(rows, method)
            for row in where(rows, method=method, setting=target, evaluation=wanted):
                cells = [with_error(row, "risk"), with_error(row, "size", 2)]
                cells += [f"{row['empty']:.3f}", *_spread(row), *_strength(row)]
                body.append([target, name, *cells])
    return head, body


def same_size(rows: Sequence[Row]) -> Table:
    """At one mean set size: the target, and how even the risk is."""
    head = ["method", "target", "beams", "risk", "empty sets", *_SPREAD, *_STRENGTH]
    body = []
    for method in compared(rows):
        name, evaluation = held_out_name(rows, method), held_out(rows, method)
        for row in where(rows, method=method, setting=SAME_SIZE, evaluation=evaluation):
            cells = [with_error(row, "target"), f"{row['size']:.2f}", with_error(row, "risk")]
            body.append([name, *cells, f"{row['empty']:.3f}", *_spread(row), *_strength(row)])
    return head, body


def by_length_scale(rows: Sequence[Row]) -> Table:
    """L-ARC from local to global, then ARC and AutoLARC, at the target of the maps."""
    found = table_rows.methods(rows)
    local = [name for name in found if name.startswith("L-ARC")]
    others = [name for name in found if name in ("ARC", "AutoLARC")]
    return _study([*local, *others], [], rows)


def memory(rows: Sequence[Row]) -> Table:
    """The size of the state with each memory, and how much of the localization it keeps."""
    head, body = _study(memory_study(rows), ["running_kb", "state_kb"], rows)
    return head, [[memory_name(method), *cells] for method, *cells in body]


def _study(methods: Sequence[str], sizes: Sequence[str], rows: Sequence[Row]) -> Table:
    titles = {"running_kb": "state kB", "state_kb": "with average kB"}
    head = ["method", *(titles[size] for size in sizes), "risk online", "beams", *_SPREAD]
    head += ["risk averaged, held out", "beams", *_SPREAD]
    body = []
    for method in methods:
        mine = where(rows, method=method, setting=shown(rows))
        cells = [f"{mine[0][size]:.1f}" for size in sizes]
        for evaluation in ("online", held_out(rows, method)):
            row = one(mine, evaluation=evaluation)
            cells += [with_error(row, "risk"), with_error(row, "size", 2), *_spread(row)]
        body.append([held_out_name(rows, method), *cells])
    return head, body


def regions(rows: Sequence[Row]) -> Table:
    """Online risk near the transmitter and far from it, at the target of the maps."""
    body = [
        [row["method"], with_error(row, "near"), with_error(row, "far")]
        for method in compared(rows)
        for row in where(rows, method=method, setting=shown(rows), evaluation="online")
    ]
    return ["method", "within 50 m", "farther"], body


def by_strength(rows: Sequence[Row]) -> Table:
    """Risk and beams by quarters of users, ordered by the strength of their best beam."""
    quarters = ["weakest quarter", "second", "third", "strongest"]
    head = ["method", *(f"risk, {quarters[0]}", *quarters[1:])]
    head += [f"beams, {quarters[0]}", *quarters[1:]]
    body = [
        [method, *(with_error(row, name, 2 if "size" in name else 3) for name in BY_QUARTER)]
        for method in compared(rows)
        for row in where(rows, method=method, setting=shown(rows), evaluation="online")
    ]
    return head, body


def _certificates(rows: Sequence[Row]) -> Table:
    online = where(rows, setting=shown(rows), evaluation="online")
    return certificates([row for row in online if row["method"] in compared(rows)])


def predictor(rows: Sequence[Row]) -> Table:
    """What all methods share: the fraction of positions with a path, and the predictor."""
    row = rows[0]
    return (
        ["outdoor positions with a path", "largest share is the best beam"],
        [[with_error(row, "reached"), with_error(row, "hits")]],
    )


def tables(rows: Sequence[Row]) -> dict[str, Table]:
    """Return the tables of the report, by title."""
    same_size_title = f"Equal mean set size, {SAME_SIZE}: held out, averaged threshold"
    return {
        "Online, each user at its round's threshold": by_target("online", rows),
        "Held out, averaged threshold": by_target("average", rows),
        "Held out, last threshold": by_target("last", rows),
        same_size_title: same_size(rows),
        f"Near and far, online, target {shown(rows)}": regions(rows),
        f"By strength of the best beam, online, target {shown(rows)}": by_strength(rows),
        f"Length scales, target {shown(rows)}": by_length_scale(rows),
        f"Memory, target {shown(rows)}": memory(rows),
        f"Certificates, distance of the long-run risk from the target {shown(rows)}": (
            _certificates(rows)
        ),
        "Users and predictor": predictor(rows),
    }


def findings(rows: Sequence[Row]) -> list[str]:
    """What the rows show, in sentences, including what contradicts the claim."""
    sentences = [_sentence(rows, method) for method in compared(rows)]
    others = [name for name in compared(rows) if name != "ARC"]
    if "ARC" in table_rows.methods(rows):
        sentences += [_against_arc(rows, name) for name in others]
    return sentences


def _sentence(rows: Sequence[Row], method: str) -> str:
    row = one(rows, method=method, setting=shown(rows), evaluation="online")
    evaluation = held_out(rows, method)
    held = one(rows, method=method, setting=shown(rows), evaluation=evaluation)
    return (
        f"{method}, target {shown(rows)}: long-run risk {row['risk']:.4f}, "
        f"{row['size']:.2f} beams; over {row['cells']:.0f} cells the risk has a standard "
        f"deviation of {row['cell_std']:.3f} and reaches {row['cell_worst']:.2f}. Held out "
        f"({evaluation} threshold): risk {held['risk']:.3f}, {held['size']:.2f} beams, "
        f"{held['cell_std']:.3f} and {held['cell_worst']:.2f}."
    )


def _against_arc(rows: Sequence[Row], method: str) -> str:
    comparisons = []
    for value, words in (("size", "smaller online sets"), ("cell_std", "more even online risk")):
        better = [
            target
            for target in targets(rows)
            if _online(rows, method, target)[value] < _online(rows, "ARC", target)[value]
        ]
        where = f" ({', '.join(better)})" if 0 < len(better) < len(targets(rows)) else ""
        comparisons.append(f"{words} at {len(better)} of {len(targets(rows))} targets{where}")
    return f"{method} against ARC, means over trials: {' and '.join(comparisons)}."


def _online(rows: Sequence[Row], method: str, target: str) -> Row:
    return one(rows, method=method, setting=target, evaluation="online")
