"""The tables of the electricity report, and the findings in words."""

from __future__ import annotations

from collections.abc import Sequence

from localarc_lab.experiments.electricity.data import DAYS
from localarc_lab.experiments.experiment import Row, Table
from localarc_lab.experiments.table_rows import cert_text, methods, one, where


def overview(split: str, rows: Sequence[Row]) -> Table:
    """Risk online and held out, by kind of day, the intervals' width, and the certified bound."""
    head = ["method", "online", "weekday", "weekend"]
    head += ["averaged, held out", "weekday", "weekend", "last, held out", "weekday", "weekend"]
    head += ["width online", "CERT", "bound"]
    body = []
    for method in methods(rows):
        cells = [method]
        for evaluation in ("online", "average", "last"):
            mine = where(rows, split=split, method=method, evaluation=evaluation)
            risks = {row["group"]: f"{row['risk']:.3f}" for row in mine}
            cells += [risks.get(group, "-") for group in ("all", "weekday", "weekend")]
        online = one(rows, split=split, method=method, evaluation="online", group="all")
        bound = "none" if online["bound"] is None else f"{online['bound']:.3f}"
        body.append([*cells, f"{online['width']:.3f}", cert_text(online["cert"]), bound])
    return head, body


def by_day(rows: Sequence[Row]) -> Table:
    """Online risk on each day of the week, with the difference from ARC."""
    body = []
    for method in methods(rows):
        cells = [method]
        for day in DAYS:
            row = one(rows, split="alternating", method=method, evaluation="online", group=day)
            cells.append(_with_difference(row))
        body.append(cells)
    return ["method", *DAYS], body


def differences(rows: Sequence[Row]) -> Table:
    """Difference of each method from ARC, with 95 % intervals."""
    wanted = [("online", "weekday"), ("online", "weekend"), ("average", "all")]
    wanted += [("average", "weekday"), ("average", "weekend")]
    body = []
    for method in methods(rows):
        mine = where(rows, split="alternating", method=method)
        found = {(row["evaluation"], row["group"]): _interval(row) for row in mine}
        if method != "ARC":
            body.append([method, *(found.get(pair, "-") for pair in wanted)])
    return ["method", *(f"{e}, {g}" for e, g in wanted)], body


def _with_difference(row: Row) -> str:
    if row["difference_to_arc"] is None:
        return f"{row['risk']:.3f}"
    return f"{row['risk']:.3f} ({row['difference_to_arc']:+.3f})"


def _interval(row: Row) -> str:
    if row["difference_to_arc"] is None:
        return "-"
    low, high = row["difference_low"], row["difference_high"]
    return f"{row['difference_to_arc']:+.3f} [{low:+.3f}, {high:+.3f}]"


def tables(rows: Sequence[Row]) -> dict[str, Table]:
    """Return the tables of the report, by title."""
    return {
        "Even rows calibrate, odd rows evaluate, as in the paper": overview("alternating", rows),
        "The first 75 % calibrate, the last 25 % evaluate": overview("forward", rows),
        "Difference from ARC, with 95 % intervals over weeks": differences(rows),
        "Online miscoverage by day of the week (difference from ARC)": by_day(rows),
    }


def findings(rows: Sequence[Row]) -> list[str]:
    """What the rows show, in sentences, including what contradicts the claim."""
    sentences = []
    for method in methods(rows):
        online = {g: _online(rows, method, g) for g in ("all", "weekday", "weekend")}
        sentences.append(
            f"{method}: long-run miscoverage {online['all']['risk']:.4f}, weekdays "
            f"{online['weekday']['risk']:.3f}, weekends {_with_interval(online['weekend'])}."
        )
    for method in methods(rows):
        worse = [day for day in DAYS if _surely_worse(_online(rows, method, day))]
        if worse:
            days = ", ".join(f"{d} {_with_interval(_online(rows, method, d))}" for d in worse)
            sentences.append(f"{method} is worse than ARC on {days}.")
    return sentences


def _online(rows: Sequence[Row], method: str, group: str) -> Row:
    return one(rows, split="alternating", method=method, evaluation="online", group=group)


def _with_interval(row: Row) -> str:
    text = f"{row['risk']:.3f}"
    return text if row["difference_to_arc"] is None else f"{text} (to ARC {_interval(row)})"


def _surely_worse(row: Row) -> bool:
    """The whole interval is above zero, and the risk itself above the target."""
    low = row["difference_low"]
    return low is not None and low > 0 and row["risk"] > row["target"]
