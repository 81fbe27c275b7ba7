"""Measurements: risk and width, online and held out, by kind of day, compared with ARC."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from localarc.measures import block_bootstrap
from localarc.validation import FloatArray
from localarc_lab.experiments.electricity.data import DAYS, Demand
from localarc_lab.experiments.evaluate import calibrate, certified, to_json
from localarc_lab.experiments.experiment import Outcome, Plan, Row, Task
from localarc_lab.experiments.methods import Method

ALPHA, RATE = 0.1, 1.0
SCORE_RANGE = 0.0, 1.0  # demand is normalised to [0, 1], so the forecast error is in [0, 1]
FORWARD = 0.75
_LARGEST_INPUT = 7**0.5  # seven daily means, each in [0, 1]
Split = tuple[Demand, Demand]


def _alternating(data: Demand) -> Split:
    """As in the paper: rows 2, 4, 6, ... calibrate and rows 1, 3, 5, ... evaluate."""
    return data.take(slice(1, None, 2)), data.take(slice(0, None, 2))


def _forward(data: Demand) -> Split:
    """As in practice: the past calibrates, the future evaluates."""
    stop = int(FORWARD * len(data))
    return data.take(slice(0, stop)), data.take(slice(stop, None))


SPLITS: dict[str, Callable[[Demand], Split]] = {
    "alternating": _alternating,
    "forward": _forward,
}


def perform(data: Demand, task: Task[str], method: Method, plan: Plan) -> Outcome[str]:
    """Calibrate on one part and evaluate on the other."""
    calibration, evaluation = SPLITS[task.setting](data)
    stream, held_out = (method.visible(part.stream()) for part in (calibration, evaluation))
    alpha, rate = target(plan), plan.rate or RATE
    run = calibrate(method.calibrator(alpha, SCORE_RANGE, rate, stream), stream)
    rows: list[Row] = []
    arrays: dict[str, NDArray[Any]] = {"thresholds": run.record.thresholds}
    for name, thresholds in run.thresholds(held_out).items():
        part = calibration if name == "online" else evaluation
        curves = part.stream().curves
        arrays[name] = losses = curves.losses_at(thresholds)
        rows += _rows(task, name, part, losses, curves.sizes_at(thresholds))
    rows = [row | {"target": alpha} for row in rows]
    certificate = run.certificate(input_bound=_LARGEST_INPUT)
    best = None if certificate is None else certificate.bound
    rows[0] |= certified(certificate)
    rows[0] |= {"bound_from": best.name if best is not None and best.holds else None}
    return Outcome(task, run.record.calibrator, rows, arrays, to_json(certificate))


def target(plan: Plan) -> float:
    """Return the target: the paper's, unless the plan states another."""
    return ALPHA if plan.alpha is None else plan.alpha


def members(part: Demand) -> dict[str, NDArray[np.bool_]]:
    """Return which half-hours belong to each group."""
    days = {name: part.weekday == day for day, name in enumerate(DAYS)}
    everyone = np.ones(len(part), dtype=bool)
    return {"all": everyone, "weekday": ~part.weekend, "weekend": part.weekend} | days


def _rows(
    task: Task[str], evaluation: str, part: Demand, losses: FloatArray, widths: FloatArray
) -> list[Row]:
    return [
        {
            "split": task.setting,
            "method": task.method,
            "evaluation": evaluation,
            "group": group,
            "rounds": int(chosen.sum()),
            "risk": float(losses[chosen].mean()),
            "width": float(widths[chosen].mean()),
        }
        for group, chosen in members(part).items()
    ]


def with_differences(data: Demand, outcomes: Sequence[Outcome[str]]) -> list[Row]:
    """Return all rows, each with its difference from ARC and a 95 % interval over weeks."""
    arc = {outcome.task.setting: outcome for outcome in outcomes if outcome.task.method == "ARC"}
    return [
        row | _difference(row, outcome, arc.get(outcome.task.setting), data)
        for outcome in outcomes
        for row in outcome.rows
    ]


def _difference(row: Row, mine: Outcome[str], arc: Outcome[str] | None, data: Demand) -> Row:
    names = ("difference_to_arc", "difference_low", "difference_high")
    if arc is None or arc is mine:
        return dict.fromkeys(names)
    calibration, evaluation = SPLITS[mine.task.setting](data)
    part = calibration if row["evaluation"] == "online" else evaluation
    chosen = members(part)[row["group"]]
    excess = (mine.arrays[row["evaluation"]] - arc.arrays[row["evaluation"]])[chosen]
    estimate = block_bootstrap(excess, weeks(part)[chosen], draws=1000)
    return dict(zip(names, (estimate.value, estimate.low, estimate.high), strict=True))


def weeks(part: Demand) -> NDArray[np.int64]:
    """Return the number of each half-hour's week, Monday to Sunday."""
    days = part.times.astype("datetime64[D]").astype(np.int64)
    return np.asarray((days + 3) // 7)
