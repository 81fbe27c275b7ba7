"""Our side: `Calibrated` over a stream, with the set that each row had before its outcome."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.models.streams import Case
from localarc.models import Calibrated


def sets(case: Case, **settings: Any) -> Any:
    """The sets of the stream: warmed up on the calibration rows, then row by row in order.

    These are the sets of `predict_interval(row)` or `predict_set(row)` before `update(row, y)`, but
    learned from in one call.
    """
    model, X, known = calibrated(case, **settings), columns(case), case.calibration
    model.warm_up(X[:known], case.y[:known], prediction=case.predictions[:known])
    calibration = model._calibration
    rows = calibration.read(None, X[known:], case.predictions[known:], many=False)
    return model._sets(rows, calibration.learn(rows, case.y[known:]))


def calibrated(case: Case, **settings: Any) -> Calibrated:
    """With the stream's local features and groups; it has no model, but the predictions of one."""
    number = case.local.shape[1]
    groups = [] if case.groups is None else [number]
    classes = None if case.classes is None else case.classes.tolist()
    local = [*range(number)]
    return Calibrated(None, local=local, groups=groups, classes=classes, **settings)


def columns(case: Case) -> NDArray[Any]:
    """Local features, and the number of the group as the last column."""
    if case.groups is None:
        return case.local
    return np.column_stack([case.local, np.unique(case.groups, return_inverse=True)[1]])
