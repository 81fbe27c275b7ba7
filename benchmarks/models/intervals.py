"""Intervals of a stream, by localarc and by its peers with their defaults.

Every method knows the predictions and the calibration rows before the stream begins. In each round
it returns an interval first and learns the outcome afterwards.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from benchmarks.models import ours
from benchmarks.models.streams import Case
from localarc.validation import FloatArray

COVERAGE = 0.9
GAMMA = 0.05  # MAPIE has no default; this is what its documentation uses


@dataclass(frozen=True)
class Intervals:
    """Lower and upper ends, one pair for each round of the stream."""

    lower: FloatArray
    upper: FloatArray

    def cover(self, y: FloatArray) -> FloatArray:
        """1 where the outcome is inside, else 0."""
        return ((self.lower <= y) & (y <= self.upper)).astype(np.float64)

    @property
    def widths(self) -> FloatArray:
        """Upper minus lower end."""
        return self.upper - self.lower


def localarc(case: Case) -> Intervals:
    """`Calibrated` with its defaults: symmetric around the prediction."""
    return Intervals(*ours.sets(case, coverage=COVERAGE))


def localarc_asymmetric(case: Case) -> Intervals:
    """`Calibrated(kind="asymmetric")`: each end misses half as often."""
    return Intervals(*ours.sets(case, coverage=COVERAGE, kind="asymmetric"))


def mapie(case: Case) -> Intervals:
    """Adaptive conformal inference on signed residuals; scores and level are updated each round."""
    from mapie.regression import TimeSeriesRegressor

    from benchmarks.models.precomputed import FirstColumn

    X, y, known = case.predictions[:, None], case.y, case.calibration
    model = TimeSeriesRegressor(FirstColumn().fit(X, y), method="aci", cv="prefit")
    model.fit(X[:known], y[:known])
    ends = np.empty((len(case), 2))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # `update` warns in every round
        for t in range(known, len(y)):
            row, outcome = X[t : t + 1], y[t : t + 1]
            _, found = model.predict(row, confidence_level=COVERAGE, allow_infinite_bounds=True)
            ends[t - known] = found[0, :, 0]
            model.adapt_conformal_inference(row, outcome, GAMMA, confidence_level=COVERAGE)
            model.update(row, outcome)
    return Intervals(*ends.T)


def crepes(case: Case) -> Intervals:
    """A conformal regressor whose calibration set grows with every round."""
    from crepes import WrapRegressor

    from benchmarks.models.precomputed import FirstColumn

    X, y, known = case.predictions[:, None], case.y, case.calibration
    model = WrapRegressor(FirstColumn().fit(X, y))
    model.calibrate(X[:known], y[:known])
    ends = model.predict_int(X[known:], y[known:], confidence=COVERAGE, online=True)
    return Intervals(*np.asarray(ends).T)


def river(case: Case) -> Intervals:
    """The jackknife: quantiles of all residuals so far."""
    from river import base, conf

    class Prediction(base.Regressor):  # type: ignore[misc]
        def learn_one(self, x: dict[str, float], y: float) -> None:
            """The model is trained already."""

        def predict_one(self, x: dict[str, float]) -> float:
            return x["prediction"]

    model = conf.RegressionJackknife(Prediction(), confidence_level=COVERAGE)
    ends = []
    for prediction, outcome in zip(case.predictions.tolist(), case.y.tolist(), strict=True):
        found = model.predict_one({"prediction": prediction}, with_interval=True)
        ends.append((found.lower, found.upper))
        model.learn_one({"prediction": prediction}, outcome)
    return Intervals(*case.stream(np.array(ends)).T)


OURS = "localarc"
METHODS: dict[str, Callable[[Case], Intervals]] = {
    OURS: localarc,
    f"{OURS}, asymmetric": localarc_asymmetric,
    "MAPIE ACI": mapie,
    "crepes online": crepes,
    "river jackknife": river,
}
