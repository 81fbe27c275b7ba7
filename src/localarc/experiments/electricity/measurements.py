"""What is measured: risk and width, online and held out, by kind of day, against ARC."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from localarc._replay import replay
from localarc.calibrators.base import BaseCalibrator
from localarc.experiments.electricity.data import DAYS, Electricity
from localarc.experiments.experiment import Outcome, Plan, Row, Task
from localarc.metrics import block_bootstrap
from localarc.validation import FloatArray

EVALUATIONS = ("online", "average", "last")
FORWARD = 0.75
_LARGEST_INPUT = 7**0.5  # seven daily means, each in [0, 1]
Split = tuple[Electricity, Electricity]


def _alternating(data: Electricity) -> Split:
    """As in the paper: rows 2, 4, 6, ... calibrate and rows 1, 3, 5, ... evaluate."""
    return data.take(slice(1, None, 2)), data.take(slice(0, None, 2))


def _forward(data: Electricity) -> Split:
    """What a practitioner would do: the past calibrates, the future evaluates."""
    stop = int(FORWARD * len(data))
    return data.take(slice(0, stop)), data.take(slice(stop, None))


SPLITS: dict[str, Callable[[Electricity], Split]] = {
    "alternating": _alternating,
    "forward": _forward,
}


def perform(
    data: Electricity, task: Task, make: Callable[[], BaseCalibrator], plan: Plan
) -> Outcome:
    """Calibrate on one part, evaluate on the other."""
    calibration, evaluation = SPLITS[task.trial](data)
    calibrator = make()
    stream = calibration.stream()
    run = replay(calibrator, stream.X, stream.curves, stream.groups)
    thresholds = {
        "online": run.thresholds,
        "average": _held_out(calibrator, calibrator.averaged_threshold_function, evaluation),
        "last": _held_out(calibrator, calibrator.threshold_function, evaluation),
    }
    rows: list[Row] = []
    arrays: dict[str, NDArray[Any]] = {"thresholds": run.thresholds}
    for name in EVALUATIONS:
        part = calibration if name == "online" else evaluation
        curves = part.stream().curves
        arrays[name] = losses = curves.losses_at(thresholds[name])
        rows += _rows(task, name, part, losses, curves.sizes_at(thresholds[name]))
    certificate = calibrator.certificate(
        evidence=run.evidence, input_bound=_LARGEST_INPUT, losses=run.losses
    )
    best = certificate.bound
    rows[0] |= {
        "cert": certificate.observed.value,
        "bound": best.value if best.holds else None,
        "bound_from": best.name if best.holds else None,
    }
    told = certificate.to_dict()
    told.pop("groups")
    return Outcome(task, run.calibrator, rows, arrays, told)


def _held_out(calibrator: BaseCalibrator, function: Any, part: Electricity) -> FloatArray:
    stream = part.stream()
    if "groups" in calibrator.learns_from:
        return np.asarray(function(stream.X, stream.groups))
    return np.asarray(function(stream.X))


def members(part: Electricity) -> dict[str, NDArray[np.bool_]]:
    """Which half-hours belong to which group."""
    days = {name: part.weekday == day for day, name in enumerate(DAYS)}
    everyone = np.ones(len(part), dtype=bool)
    return {"all": everyone, "weekday": ~part.weekend, "weekend": part.weekend} | days


def _rows(
    task: Task, evaluation: str, part: Electricity, losses: FloatArray, widths: FloatArray
) -> list[Row]:
    return [
        {
            "split": task.trial,
            "method": task.method,
            "evaluation": evaluation,
            "group": group,
            "rounds": int(chosen.sum()),
            "risk": float(losses[chosen].mean()),
            "width": float(widths[chosen].mean()),
        }
        for group, chosen in members(part).items()
    ]


def tabulate(data: Electricity, outcomes: Sequence[Outcome]) -> list[Row]:
    """All rows, each with its difference to ARC and a 95 % interval from redrawn weeks."""
    reference = {each.task.trial: each for each in outcomes if each.task.method == "ARC"}
    return [
        row | _difference(row, each, reference.get(each.task.trial), data)
        for each in outcomes
        for row in each.rows
    ]


def _difference(row: Row, mine: Outcome, arc: Outcome | None, data: Electricity) -> Row:
    names = ("difference_to_arc", "difference_low", "difference_high")
    if arc is None or arc is mine:
        return dict.fromkeys(names)
    calibration, evaluation = SPLITS[mine.task.trial](data)
    part = calibration if row["evaluation"] == "online" else evaluation
    chosen = members(part)[row["group"]]
    excess = (mine.arrays[row["evaluation"]] - arc.arrays[row["evaluation"]])[chosen]
    estimate = block_bootstrap(excess, weeks(part)[chosen], draws=1000)
    return dict(zip(names, (estimate.value, estimate.low, estimate.high), strict=True))


def weeks(part: Electricity) -> NDArray[np.int64]:
    """The number of each half-hour's week, Monday to Sunday."""
    days = part.times.astype("datetime64[D]").astype(np.int64)
    return np.asarray((days + 3) // 7)
