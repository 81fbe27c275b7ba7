"""The tables of the fruit report, and the findings in words."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from localarc.experiments.experiment import Row, Table
from localarc.experiments.fruit.measurements import ALPHA, BINS, FEW, bin_name
from localarc.experiments.table_rows import methods, one, where, with_error

_SHOWN = (2, 6, 10, 14, 18)  # every fourth bin: 0.10, 0.30, 0.50, 0.70, 0.90


def bins(rows: Sequence[Row]) -> dict[str, Row]:
    """Return the rows of bins with enough samples, by confidence; all bins if none has enough."""
    found = {row["group"]: row for row in rows}
    names = [bin_name(k) for k in range(BINS) if bin_name(k) in found]
    enough = [name for name in names if found[name]["samples"] >= FEW]
    return {name: found[name] for name in enough or names}


def unevenness(rows: Sequence[Row]) -> float:
    """Return the mean distance of the bins' coverage from the target, weighted by samples."""
    return _weighted(rows, lambda coverage: abs(coverage - (1 - ALPHA)))


def shortfall(rows: Sequence[Row]) -> float:
    """Return the mean by which the bins' coverage falls below the target, weighted by samples."""
    return _weighted(rows, lambda coverage: max(0.0, 1 - ALPHA - coverage))


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
        whole = one(average, group="all")
        body.append(
            [
                method,
                with_error(one(online, group="all"), "coverage"),
                f"{unevenness(online):.3f}",
                with_error(whole, "coverage"),
                f"{unevenness(average):.3f}",
                f"{shortfall(average):.3f}",
                f"{min(row['coverage'] for row in bins(average).values()):.3f}",
                with_error(whole, "size"),
                f"{whole['empty']:.3f}",
                with_error(one(last, group="all"), "coverage"),
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
        found = bins(where(rows, score="probability", method=method, evaluation=evaluation))
        cells = [with_error(found[name], value) if name in found else "-" for name in names]
        body.append([method, *cells])
    return ["method", *(f"{name} to {float(name) + 1 / BINS:.2f}" for name in names)], body


def reliability(rows: Sequence[Row]) -> Table:
    """The classifier itself: samples and accuracy by confidence, on held-out samples."""
    names = methods(rows)
    found = where(rows, score="probability", method=names[0], evaluation="average")
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
        "Coverage; the target is 0.75": overview("probability", rows),
        "Held-out coverage by confidence": by_confidence("average", "coverage", rows),
        "Held-out set size by confidence": by_confidence("average", "size", rows),
        "Online coverage by confidence": by_confidence("online", "coverage", rows),
        "Coverage with cumulative scores": overview("cumulative", rows),
        "The classifier: samples and accuracy by confidence, held out": reliability(rows),
    }


def findings(rows: Sequence[Row]) -> list[str]:
    """What the rows show, in sentences, including what contradicts the claim."""
    return [
        _sentence(score, method, where(rows, score=score, method=method))
        for score in dict.fromkeys(row["score"] for row in rows)
        for method in methods(where(rows, score=score))
    ]


def _sentence(score: str, method: str, rows: Sequence[Row]) -> str:
    online, average = where(rows, evaluation="online"), where(rows, evaluation="average")
    whole, run = one(average, group="all"), one(online, group="all")
    found = bins(average)
    low = min(found, key=lambda name: float(found[name]["coverage"]))
    high = max(found, key=lambda name: float(found[name]["coverage"]))
    return (
        f"{method}, {score} score: long-run coverage {run['coverage']:.4f}; averaged and held out "
        f"{whole['coverage']:.3f}, from {found[low]['coverage']:.3f} at confidence {low} to "
        f"{found[high]['coverage']:.3f} at {high}, with {whole['size']:.2f} labels per set and "
        f"{whole['empty']:.1%} of sets empty."
    )
