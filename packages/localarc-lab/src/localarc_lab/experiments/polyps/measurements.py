"""Measurements: false negatives and mask size by source, online and on held-out images."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from localarc.calibrators.role import Calibrator
from localarc.streams.stream import Stream
from localarc.validation import FloatArray
from localarc_lab.experiments.evaluate import (
    Calibration,
    calibrate,
    certified,
    state_kilobytes,
    to_json,
)
from localarc_lab.experiments.experiment import Outcome, Row, Task
from localarc_lab.experiments.methods import Method
from localarc_lab.experiments.polyps.images import SOURCES
from localarc_lab.experiments.polyps.model_outputs import Outputs
from localarc_lab.experiments.polyps.settings import Setting, calibration_split, coordinates
from localarc_lab.experiments.table_rows import mean_over_trials

_WHOLE = 0.99
_KEYS = ("pool", "alpha", "eta", "space", "method", "evaluation", "group")
_MEASURED = (
    *("fnr", "size", "whole", "same_size_fnr", "spread"),
    *("state_kb", "running_kb", "cert", "bound"),
)


def perform(data: Outputs, task: Task[Setting], method: Method, seed: int) -> Outcome[Setting]:
    """Calibrate in random order, then evaluate on the held-out images."""
    setting = task.setting
    calibration, held = calibration_split(data, setting.pool, seed, task.trial)
    inputs = coordinates(data.features, calibration)
    online, test = data.take(calibration), data.take(held)
    stream = method.visible(_stream(online, inputs[calibration], setting))
    run = calibrate(_calibrator(method, setting, stream), stream)
    certificate = run.certificate(audit=False)
    known = setting._asdict() | {
        "method": task.method,
        "state_kb": state_kilobytes(run.calibrator),
        "running_kb": state_kilobytes(_without_archive(run, method, setting, stream)),
        **certified(certificate),
    }
    thresholds = run.thresholds(method.visible(_stream(test, inputs[held], setting)))
    rows: list[Row] = []
    for name, values in thresholds.items():
        part = online if name == "online" else test
        rows += _rows(known | {"evaluation": name}, part, setting.space, values)
    arrays: dict[str, NDArray[Any]] = {"losses": run.record.losses, "held": held}
    arrays |= {name: values for name, values in thresholds.items() if name != "online"}
    return Outcome(task, run.record.calibrator, rows, arrays, to_json(certificate))


def _calibrator(method: Method, setting: Setting, stream: Stream) -> Calibrator:
    return method.calibrator(setting.alpha, setting.score_range, setting.eta, stream)


def _stream(part: Outputs, inputs: FloatArray, setting: Setting) -> Stream:
    return Stream("polyps", inputs, part.curves(setting.space), tuple(part.groups()))


def _without_archive(
    run: Calibration, method: Method, setting: Setting, stream: Stream
) -> Calibrator:
    """The calibrator without what only its averaged threshold needs."""
    lean = method.without_archive()
    if lean == method:
        return run.calibrator
    return calibrate(_calibrator(lean, setting, stream), stream).calibrator


def _rows(known: Row, part: Outputs, space: str, thresholds: FloatArray) -> list[Row]:
    """One row for all images and one for each source.

    `whole` is the fraction of masks that are the whole image, `spread` the standard deviation of
    the thresholds.
    """
    curves = part.curves(space)
    losses, sizes = curves.losses_at(thresholds), curves.sizes_at(thresholds)
    single = _one_threshold(part, float(sizes.mean()))
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
            "same_size_fnr": float(single[chosen].mean()),
            "spread": float(thresholds[chosen & np.isfinite(thresholds)].std()),
        }
        for group, chosen in members.items()
        if chosen.any()
    ]


def _one_threshold(part: Outputs, size: float) -> FloatArray:
    """Each image's loss at the one threshold for all images that gives this mean mask size.

    It is chosen on the evaluated images themselves, so it is a yardstick and not a method.
    """
    column = np.searchsorted(part.sizes.mean(axis=0), size, side="right") - 1
    return part.losses[:, max(int(column), 0)]


def summarize(outcomes: Sequence[Outcome[Setting]]) -> list[Row]:
    """Return means over trials, each with its standard error."""
    return mean_over_trials(outcomes, _KEYS, _MEASURED, constant=["images"])
