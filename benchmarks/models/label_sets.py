"""Label sets of a stream with coverage for every class, by localarc and by crepes."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from benchmarks.models import ours
from benchmarks.models.intervals import COVERAGE, OURS
from benchmarks.models.streams import Case

Sets = NDArray[np.bool_]  # (rounds, classes)


def localarc(case: Case) -> Sets:
    """`Calibrated(per_class=True)`."""
    found = ours.sets(case, coverage=COVERAGE, kind="probability", per_class=True)
    return np.asarray(found.members)


def crepes(case: Case) -> Sets:
    """Mondrian by class, with a calibration set that grows with every round."""
    from crepes import WrapClassifier

    from benchmarks.models.precomputed import FirstColumns

    assert case.classes is not None
    X, y, known = case.predictions, case.y, case.calibration
    model = WrapClassifier(FirstColumns(case.classes))
    model.calibrate(X[:known], y[:known], class_cond=True, seed=0)
    found = model.predict_set(X[known:], y[known:], labels=False, confidence=COVERAGE, online=True)
    return np.asarray(found, dtype=bool)


METHODS: dict[str, Callable[[Case], Sets]] = {OURS: localarc, "crepes class_cond": crepes}
