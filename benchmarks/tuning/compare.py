"""Comparison: untuned L-ARC and the tuned calibrator on the rounds that `tune` holds out."""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass

from benchmarks.tuning.streams import Case
from localarc import LARC, RBF, Tuning, tune
from localarc.calibrators.adaptive import AdaptiveCalibrator
from localarc.figures.trade_off import family
from localarc.running.tune import Evaluation, SelectionWarning
from localarc.running.tune.evaluation import evaluate

LENGTH_SCALE = 0.4


@dataclass(frozen=True)
class Comparison:
    """The held-out results of both calibrators on one stream."""

    stream: str
    rounds: int
    untuned: Evaluation
    tuned: Evaluation
    selected: str

    @property
    def difference(self) -> float:
        """Tuned minus untuned, in standard errors: worst neighbourhoods, as if independent."""
        error = math.hypot(self.untuned.worst_error, self.tuned.worst_error)
        return (self.tuned.worst - self.untuned.worst) / error

    @property
    def outcome(self) -> str:
        """Whether the tuned calibrator is better beyond two standard errors."""
        if abs(self.difference) <= 2.0:
            return "equal"
        return "better" if self.difference < 0.0 else "worse"


def compare(name: str, case: Case) -> Comparison:
    """Tune with nothing but the target; evaluate untuned L-ARC in the same neighbourhoods."""
    untuned = LARC(case.alpha, RBF(LENGTH_SCALE), loss_bound=case.curves.bound)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SelectionWarning)  # the table has a column for it
        tuning = tune(case.X, case.curves, alpha=case.alpha)
    assert tuning.held_out is not None
    start = tuning.evaluations[0].rounds
    other = evaluate(untuned, case.X, case.curves, tuning.neighbourhoods, start)
    return Comparison(name, len(case.X), other, tuning.held_out, _describe(tuning))


def _describe(tuning: Tuning) -> str:
    """Return the selected method, its length scales and its rate."""
    chosen = tuning.candidates[tuning.selected]
    assert isinstance(chosen, AdaptiveCalibrator)
    rate = chosen.settings.rate
    return f"{family(chosen)}, {type(rate).__name__}({rate(1):.3g})"
