"""The tables of the fruit report, and the findings in words."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from localarc_lab.experiments.experiment import Row, Table
from localarc_lab.experiments.fruit.measurements import BINS, FEW, bin_name
from localarc_lab.experiments.table_rows import (
    certificates,
    held_out,
    held_out_name,
    methods,
    one,
    where,
    with_error,
)

_SHOWN = (2, 6, 10, 14, 18)  # every fourth bin: 0.10, 0.30, 0.50, 0.70, 0.90


def bins(rows: Sequence[Row]) -> dict[str, Row]:
    """Return the rows of bins with enough samples, by confidence; all bins if none has enough."""
    found = {row["group"]: row for row in rows}
    names = [bin_name(k) for k in range(BINS) if bin_name(k) in found]
    enough = [name for name in names if found[name]["samples"] >= FEW]
    return {name: found[name] for name in enough or names}


def unevenness(rows: Sequence[Row]) -> float:
    """Return the mean distance of the bins' coverage from the target, weighted by samples."""
    return _weighted(rows, lambda coverage: abs(coverage - _wanted(rows)))


def shortfall(rows: Sequence[Row]) -> float:
    """Return the mean by which the bins' coverage falls below the target, weighted by samples."""
    return _weighted(rows, lambda coverage: max(0.0, _wanted(rows) - coverage))


def _wanted(rows: Sequence[Row]) -> float:
    """The coverage that the target asks for."""
    return 1.0 - float(rows[0]["target"])


def _weighted(rows: Sequence[Row], gap: Callable[[float], float]) -> float:
    kept = bins(rows).values()
    total = sum(row["samples"] for row in kept)
    return float(sum(row["samples"] * gap(row["coverage"]) for row in kept) / total)


def overview(score: str, rows: Sequence[Row]) -> Table:
    """Overall coverage, its unevenness over confidence, and set sizes."""
    head = ["method", "online", "unevenness", "averaged, held out", "unevenness", "shortfall"]
    head += ["lowest bin", "set size", "empty sets", "last, held out", "unevenness", "shortfall"]
    body = []
    for method in methods(where(rows, score=score)):
        mine = where(rows, score=score, method=method)
        online, average, last = (where(mine, evaluation=e) for e in ("online", "average", "last"))
        body.append(
            [
                method,
                with_error(one(online, group="all"), "coverage"),
                f"{unevenness(online):.3f}",
                *(_held_out(average) + _sets(average) if average else ["-"] * 6),
                *_held_out(last),
            ]
        )
    return head, body


def _held_out(rows: Sequence[Row]) -> list[str]:
    whole = with_error(one(rows, group="all"), "coverage")
    return [whole, f"{unevenness(rows):.3f}", f"{shortfall(rows):.3f}"]


def _sets(rows: Sequence[Row]) -> list[str]:
    """Lowest coverage of a bin, labels per set and the fraction of empty sets."""
    whole = one(rows, group="all")
    lowest = min(row["coverage"] for row in bins(rows).values())
    return [f"{lowest:.3f}", with_error(whole, "size"), f"{whole['empty']:.3f}"]


def last_sets(rows: Sequence[Row]) -> Table:
    """Sets of the last threshold: what AutoLARC, which keeps no average, is used with."""
    body = [
        [score, method, *_sets(where(rows, score=score, method=method, evaluation="last"))]
        for score in dict.fromkeys(row["score"] for row in rows)
        for method in methods(where(rows, score=score))
    ]
    return ["score", "method", "lowest bin", "set size", "empty sets"], body


def by_confidence(evaluation: str, value: str, rows: Sequence[Row]) -> Table:
    """A value in every fourth bin of confidence; "held out" is the average, or else the last."""
    names = [bin_name(k) for k in _SHOWN]
    body = []
    for method in methods(rows):
        held = evaluation == "held out"
        wanted = held_out(rows, method) if held else evaluation
        found = bins(where(rows, score="probability", method=method, evaluation=wanted))
        cells = [with_error(found[name], value) if name in found else "-" for name in names]
        body.append([held_out_name(rows, method) if held else method, *cells])
    return ["method", *(f"{name} to {float(name) + 1 / BINS:.2f}" for name in names)], body


def reliability(rows: Sequence[Row]) -> Table:
    """The classifier itself: samples and accuracy by confidence, on held-out samples."""
    names = methods(rows)
    found = where(rows, score="probability", method=names[0], evaluation="last")
    total = one(found, group="all")["samples"]
    body = [
        [
            f"{row['group']} to {float(row['group']) + 1 / BINS:.2f}",
            f"{row['samples']:.0f}" + (" (few)" if row["samples"] < FEW else ""),
            f"{row['samples'] / total:.3f}",
            f"{row['accuracy']:.3f}",
        ]
        for row in sorted(found, key=lambda row: str(row["group"]))
        if row["group"] != "all"
    ]
    return ["confidence", "samples", "share", "accuracy"], body


def tables(rows: Sequence[Row]) -> dict[str, Table]:
    """Return the tables of the report, by title."""
    return {
        f"Coverage; the target is {_wanted(rows):g}": overview("probability", rows),
        "Held-out coverage by confidence": by_confidence("held out", "coverage", rows),
        "Held-out set size by confidence": by_confidence("held out", "size", rows),
        "Online coverage by confidence": by_confidence("online", "coverage", rows),
        "Coverage with cumulative scores": overview("cumulative", rows),
        "Sets of the last threshold, held out": last_sets(rows),
        "Certificates: distance of the long-run risk from the target": _certificates(rows),
        "The classifier: samples and accuracy by confidence, held out": reliability(rows),
    }


def _certificates(rows: Sequence[Row]) -> Table:
    return certificates(where(rows, score="probability", evaluation="online", group="all"))


def findings(rows: Sequence[Row]) -> list[str]:
    """What the rows show, in sentences, including what contradicts the claim."""
    return [
        _sentence(score, method, where(rows, score=score, method=method))
        for score in dict.fromkeys(row["score"] for row in rows)
        for method in methods(where(rows, score=score))
    ]


def _sentence(score: str, method: str, rows: Sequence[Row]) -> str:
    evaluation = held_out(rows, method)
    online, held = where(rows, evaluation="online"), where(rows, evaluation=evaluation)
    whole, run = one(held, group="all"), one(online, group="all")
    found = bins(held)
    low = min(found, key=lambda name: float(found[name]["coverage"]))
    high = max(found, key=lambda name: float(found[name]["coverage"]))
    return (
        f"{method}, {score} score: long-run coverage {run['coverage']:.4f}; held out "
        f"({evaluation} threshold) {whole['coverage']:.3f}, from {found[low]['coverage']:.3f} at "
        f"confidence {low} to {found[high]['coverage']:.3f} at {high}, with {whole['size']:.2f} "
        f"labels per set and {whole['empty']:.1%} of sets empty."
    )
