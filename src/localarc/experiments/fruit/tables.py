"""The tables of the fruit report, and what they say in words."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from localarc.experiments.experiment import Row, Table
from localarc.experiments.fruit.measurements import BINS, FEW, bin_name

ALPHA = 0.25
_SHOWN = (2, 6, 10, 14, 18)  # every fourth bin: 0.10, 0.30, 0.50, 0.70, 0.90


def of(rows: Sequence[Row], **wanted: Any) -> list[Row]:
    """The rows that have these values."""
    return [row for row in rows if all(row[key] == value for key, value in wanted.items())]


def methods(rows: Sequence[Row]) -> list[str]:
    """The methods, in order."""
    return list(dict.fromkeys(row["method"] for row in rows))


def bins(rows: Sequence[Row]) -> dict[str, Row]:
    """The rows of bins with enough samples, in order of confidence; all bins if none has."""
    found = {row["group"]: row for row in rows}
    names = [bin_name(k) for k in range(BINS) if bin_name(k) in found]
    enough = [name for name in names if found[name]["samples"] >= FEW]
    return {name: found[name] for name in enough or names}


def unevenness(rows: Sequence[Row]) -> float:
    """The mean distance of the bins' coverage from the target, weighted by their samples."""
    return _weighted(rows, lambda coverage: abs(coverage - (1 - ALPHA)))


def shortfall(rows: Sequence[Row]) -> float:
    """The same, where only coverage below the target counts: what a user was promised and lacks."""
    return _weighted(rows, lambda coverage: max(0.0, 1 - ALPHA - coverage))


def _weighted(rows: Sequence[Row], gap: Callable[[float], float]) -> float:
    kept = bins(rows).values()
    total = sum(row["samples"] for row in kept)
    return float(sum(row["samples"] * gap(row["coverage"]) for row in kept) / total)


def _with_error(row: Row, value: str) -> str:
    error = row[f"{value}_error"]
    return f"{row[value]:.3f}" if error is None else f"{row[value]:.3f} ± {error:.3f}"


def overview(score: str, rows: Sequence[Row]) -> Table:
    """Coverage on the whole, how uneven it is over confidence, and how large the sets are."""
    head = ["method", "online", "unevenness", "averaged, held out", "unevenness", "shortfall"]
    head += ["lowest bin", "set size", "empty sets", "last, held out", "unevenness", "shortfall"]
    body = []
    for method in methods(of(rows, score=score)):
        mine = of(rows, score=score, method=method)
        online, average, last = (of(mine, evaluation=e) for e in ("online", "average", "last"))
        (whole,) = of(average, group="all")
        body.append(
            [
                method,
                _with_error(of(online, group="all")[0], "coverage"),
                f"{unevenness(online):.3f}",
                _with_error(whole, "coverage"),
                f"{unevenness(average):.3f}",
                f"{shortfall(average):.3f}",
                f"{min(row['coverage'] for row in bins(average).values()):.3f}",
                _with_error(whole, "size"),
                f"{whole['empty']:.3f}",
                _with_error(of(last, group="all")[0], "coverage"),
                f"{unevenness(last):.3f}",
                f"{shortfall(last):.3f}",
            ]
        )
    return head, body


def by_confidence(evaluation: str, value: str, rows: Sequence[Row]) -> Table:
    """A value in every fourth bin of confidence."""
    names = [bin_name(k) for k in _SHOWN]
    body = []
    for method in methods(rows):
        found = bins(of(rows, score="probability", method=method, evaluation=evaluation))
        cells = [_with_error(found[name], value) if name in found else "-" for name in names]
        body.append([method, *cells])
    return ["method", *(f"{name} to {float(name) + 1 / BINS:.2f}" for name in names)], body


def reliability(rows: Sequence[Row]) -> Table:
    """The classifier itself: samples and accuracy by confidence, on held-out samples."""
    names = methods(rows)
    found = of(rows, score="probability", method=names[0], evaluation="average")
    total = of(found, group="all")[0]["samples"]
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


TABLES: dict[str, Callable[[Sequence[Row]], Table]] = {
    "Coverage; the target is 0.75": partial(overview, "probability"),
    "Held-out coverage by confidence": partial(by_confidence, "average", "coverage"),
    "Held-out set size by confidence": partial(by_confidence, "average", "size"),
    "Online coverage by confidence": partial(by_confidence, "online", "coverage"),
    "Coverage with cumulative scores": partial(overview, "cumulative"),
    "The classifier: samples and accuracy by confidence, held out": reliability,
}


def findings(rows: Sequence[Row]) -> list[str]:
    """What the rows say, also where it is not what one would wish."""
    return [
        _sentence(score, method, of(rows, score=score, method=method))
        for score in dict.fromkeys(row["score"] for row in rows)
        for method in methods(of(rows, score=score))
    ]


def _sentence(score: str, method: str, rows: Sequence[Row]) -> str:
    online, average = of(rows, evaluation="online"), of(rows, evaluation="average")
    whole, run = of(average, group="all")[0], of(online, group="all")[0]
    found = bins(average)
    low = min(found, key=lambda name: float(found[name]["coverage"]))
    high = max(found, key=lambda name: float(found[name]["coverage"]))
    return (
        f"{method}, {score} score: long-run coverage {run['coverage']:.4f}; averaged and held out "
        f"{whole['coverage']:.3f}, from {found[low]['coverage']:.3f} at confidence {low} to "
        f"{found[high]['coverage']:.3f} at {high}, with {whole['size']:.2f} labels a set and "
        f"{whole['empty']:.1%} of sets empty."
    )
