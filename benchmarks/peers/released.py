"""Released packages, one step at a time; those that are not installed are left out."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from functools import partial

import numpy as np

from localarc.validation import FloatArray

ALPHA = 0.1
_CALIBRATION = 150

Step = Callable[[float], object]
"""A prediction and an update with the score of one round."""


def released() -> Iterator[tuple[str, str, Callable[[FloatArray], Step]]]:
    """Yield the name of a peer, a package that has it, and what makes a step of it."""
    try:
        from online_conformal.faci import FACI
        from online_conformal.ogd import ScaleFreeOGD
        from online_conformal.saocp import SAOCP
    except ImportError:
        pass
    else:
        for name, method in {"SFOGD": ScaleFreeOGD, "SAOCP": SAOCP, "DtACI": FACI}.items():
            yield name, "online-conformal", partial(_online_conformal, method)
    try:
        import mapie.regression  # noqa: F401
    except ImportError:
        return
    yield "ACI", "MAPIE", _mapie


def _online_conformal(method: type, first: FloatArray) -> Step:
    import pandas
    from online_conformal.utils import Residuals

    known = Residuals(1)
    known.extend(1, first[:_CALIBRATION].tolist())
    predictor = method(None, None, coverage=1.0 - ALPHA, calib_residuals=known)
    zero = pandas.Series([0.0])

    def step(score: float) -> object:
        predictor.predict(1)
        return predictor.update(pandas.Series([score]), zero, 1)

    return step


def _mapie(first: FloatArray) -> Step:
    from mapie.conformity_scores import AbsoluteConformityScore
    from mapie.regression import TimeSeriesRegressor
    from sklearn.dummy import DummyRegressor

    x = np.zeros((1, 1))
    X, y = np.zeros((len(first), 1)), first
    model = DummyRegressor(strategy="constant", constant=0.0).fit(X, y)
    regressor = TimeSeriesRegressor(
        model, method="aci", cv="prefit", conformity_score=AbsoluteConformityScore()
    ).fit(X, y)

    def step(score: float) -> object:
        outcome = np.array([score])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            regressor.predict(x, confidence_level=1.0 - ALPHA, allow_infinite_bounds=True)
            regressor.adapt_conformal_inference(
                x, outcome, gamma=0.005, confidence_level=1.0 - ALPHA
            )
            return regressor.update(x, outcome)

    return step
