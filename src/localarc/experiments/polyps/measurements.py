"""What is measured: false negatives and mask size by source, online and on held-out images."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from localarc._replay import replay
from localarc.calibrators.base import BaseCalibrator
from localarc.experiments.experiment import Outcome, Plan, Row, Task
from localarc.experiments.polyps.images import SOURCES
from localarc.experiments.polyps.model_outputs import Outputs
from localarc.experiments.polyps.settings import coordinates, split, trial_of
from localarc.experiments.table_rows import means, together
from localarc.validation import FloatArray

EVALUATIONS = ("online", "average", "last")
_WHOLE = 0.99
_NAMES = ("pool", "alpha", "eta", "space", "method", "evaluation", "group")
_MEASURED = ("fnr", "size", "whole", "same_size_fnr", "spread", "state_kb", "running_kb")


def perform(data: Outputs, task: Task, make: Any, plan: Plan) -> Outcome:
    """Calibrate in random order, then evaluate on the held-out images; `make` is a `Recipe`."""
    setting, trial = trial_of(task.trial)
    calibration, held = split(data, setting.pool, plan.seed, trial)
    places = coordinates(data.features, calibration)
    online, test = data.take(calibration), data.take(held)
    curves = online.curves(setting.space)
    calibrator: BaseCalibrator = make(setting)
    run = replay(calibrator, places[calibration], curves, online.groups())
    lean = calibrator
    if make.without_archive() != make:
        lean = make.without_archive()(setting)
        replay(lean, places[calibration], curves, online.groups())
    known = setting._asdict() | {
        "method": task.method,
        "state_kb": len(calibrator.state()) / 1000,
        "running_kb": len(lean.state()) / 1000,
    }
    thresholds = {
        "average": _held_out(
            calibrator, calibrator.averaged_threshold_function, places[held], test
        ),
        "last": _held_out(calibrator, calibrator.threshold_function, places[held], test),
    }
    rows = _rows(known | {"evaluation": "online"}, online, setting.space, run.thresholds)
    for name, at in thresholds.items():
        rows += _rows(known | {"evaluation": name}, test, setting.space, at)
    arrays: dict[str, NDArray[Any]] = {"losses": run.losses, "held": held} | thresholds
    certificate = calibrator.certificate(evidence=run.evidence).to_dict()
    certificate.pop("groups")
    return Outcome(task, run.calibrator, rows, arrays, certificate)


def _held_out(
    calibrator: BaseCalibrator, function: Any, places: FloatArray, part: Outputs
) -> FloatArray:
    if "groups" in calibrator.learns_from:
        return np.asarray(function(places, part.groups()))
    return np.asarray(function(places))


def _rows(known: Row, part: Outputs, space: str, thresholds: FloatArray) -> list[Row]:
    """One row for all images and one for each source.

    `whole` is the share of masks that are the whole image, `spread` that of the thresholds.
    """
    curves = part.curves(space)
    losses, sizes = curves.losses_at(thresholds), curves.sizes_at(thresholds)
    plain = _one_threshold(part, float(sizes.mean()))
    members = {"all": np.ones(len(part), dtype=bool)}
    members |= {name: part.sources == i for i, name in enumerate(SOURCES)}
    return [
        known
        | {
            "group": group,
            "images": int(chosen.sum()),
            "fnr": float(losses[chosen].mean()),
            "size": float(sizes[chosen].mean()),
            "whole": float((sizes[chosen] > _WHOLE).mean()),
            "same_size_fnr": float(plain[chosen].mean()),
            "spread": float(thresholds[chosen].std()),
        }
        for group, chosen in members.items()
        if chosen.any()
    ]


def _one_threshold(part: Outputs, size: float) -> FloatArray:
    """Each image's loss at the one threshold for all whose masks are as large, on the whole.

    It is found on the very images that it is used on, so it is a yardstick and not a method.
    """
    column = np.searchsorted(part.sizes.mean(axis=0), size, side="right") - 1
    return part.losses[:, max(int(column), 0)]


def tabulate(data: Outputs, outcomes: Sequence[Outcome]) -> list[Row]:
    """Means over trials, each with its standard error, None where there was one trial."""
    return [
        dict(zip(_NAMES, key, strict=True))
        | {"images": rows[0]["images"], "trials": len(rows)}
        | means(rows, _MEASURED)
        for key, rows in together(outcomes, _NAMES).items()
    ]
