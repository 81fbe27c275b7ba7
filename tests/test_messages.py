"""Input of the wrong kind raises an error that names the argument, wherever it is passed."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from localarc import ARC, LARC, RBF, KeepAll, Mondrian, replay, replay_many, sets
from localarc.curves import (
    cumulative_probability,
    false_negatives,
    from_function,
    miscoverage,
    quantile_excess,
    residual,
)
from localarc.kernels import Radial
from localarc.measures import block_bootstrap, group_risk, localized_risk, worst_neighbourhood
from localarc.running.tune import tune
from localarc.testing import check_calibrator

X, CURVES = np.zeros((3, 1)), miscoverage([0.1, 0.2, 0.3])
LEARNED = LARC(0.1, RBF.from_paper(1.0)).update([0.0, 0.0], 1.0)
NOTHING: Any = None


class NoTarget:
    def threshold(self, x: Any) -> float:
        return 0.0

    def update(self, x: Any, loss: float) -> None:
        return None


class NoThreshold(NoTarget):
    alpha = 0.1

    def threshold(self, x: Any) -> Any:
        return None


CALLS: dict[str, tuple[Callable[[], Any], str]] = {
    "ragged": (lambda: LEARNED.threshold([[1, 2], [3]]), "All rows must have the same length"),
    "text": (lambda: LEARNED.threshold("ab"), "x must contain only numbers, got 'ab'"),  # type: ignore[arg-type]
    "dict": (lambda: LEARNED.update({"a": 0}, 1.0), "values of the dict in a fixed order"),  # type: ignore[arg-type]
    "empty": (lambda: LEARNED.update([], 1.0), "x must have at least one feature"),
    "scores": (lambda: miscoverage(NOTHING), "scores must contain only numbers, got None"),
    "no inputs": (lambda: replay(LEARNED, None, CURVES), "X must contain only numbers, got None"),
    "cost": (lambda: miscoverage([1, 2], cost=[1, 2]), "pass bound="),
    "columns": (
        lambda: residual(np.zeros((3, 1)), np.zeros(3)),
        "prediction must have the same",
    ),
    "lengths": (lambda: quantile_excess([1, 2], [3, 4], [1]), "got y (1,), lower (2,), upper"),
    "a label": (lambda: cumulative_probability(0.5), "one entry per label, got shape ()"),
    "no labels": (lambda: cumulative_probability([]), "one entry per label, got shape (0,)"),
    "images": (lambda: false_negatives(NOTHING, NOTHING), "must be lists of images"),
    "loss": (lambda: from_function(NOTHING, 2, [0.0]), "loss must be a function"),
    "formula": (lambda: Radial(NOTHING), "needs a function of u"),
    "interval": (lambda: sets.interval(NOTHING, 1.0), "prediction must be a number"),
    "groups": (lambda: group_risk([0.1], NOTHING), "groups must have one entry per round"),
    "a group": (
        lambda: replay(ARC(0.1), X, CURVES, groups=5),  # type: ignore[arg-type]
        "groups must have one entry per round",
    ),
    "place": (lambda: worst_neighbourhood(X, [0, 0, 1], NOTHING), "must be a kernel, got None"),
    "places": (lambda: localized_risk(X, [0, 0, 1], 0.1, X), "must be a kernel, got 0.1"),  # type: ignore[arg-type]
    "many": (lambda: replay_many(ARC(0.1), X, CURVES), "calibrators must be a list"),  # type: ignore[arg-type]
    "one": (
        lambda: tune(X, CURVES, ARC(0.1), RBF.from_paper(1.0)),  # type: ignore[arg-type]
        "candidates must be new calibrators",
    ),
    "scale": (lambda: tune(X, CURVES, [ARC(0.1)], 0.3), "must be a kernel, got 0.3"),  # type: ignore[arg-type]
    "split": (
        lambda: tune(X, CURVES, [Mondrian(lambda: ARC(0.1))], RBF.from_paper(1.0)),
        "construct Mondrian with group_of",
    ),
    "percent": (lambda: block_bootstrap([1.0], [1], confidence=95), "between 0 and 1, got 95"),
    "draws": (lambda: block_bootstrap([1.0], [1], draws=0), "draws must be a whole number"),
    "target": (
        lambda: replay(NoTarget(), X, CURVES),  # type: ignore[arg-type]
        "an object with alpha, threshold and update",
    ),
    "number": (lambda: replay(NoThreshold(), X, CURVES), "must return one number"),
    "promises": (lambda: check_calibrator(NOTHING), "an object with alpha, threshold and update"),
}


@pytest.mark.parametrize(("call", "words"), CALLS.values(), ids=CALLS.keys())
def test_the_message_names_the_argument_and_the_rule(call: Callable[[], Any], words: str) -> None:
    before = LEARNED.state()
    with pytest.raises((TypeError, ValueError)) as raised:
        call()
    assert words in str(raised.value)
    assert LEARNED.state() == before


def test_the_error_of_partial_fit_names_the_row() -> None:
    with pytest.raises(ValueError, match="loss must lie between") as raised:
        ARC(0.1).partial_fit(X, [0.0, 1.0, 2.0])
    assert raised.value.__notes__ == ["in row 2, counted from 0; nothing was learned."]


def test_arc_needs_no_inputs() -> None:
    assert np.array_equal(
        replay(ARC(0.1), None, CURVES).thresholds, replay(ARC(0.1), X, CURVES).thresholds
    )


def test_replay_many_accepts_a_generator_and_an_empty_stream() -> None:
    alike = (LARC(alpha, RBF.from_paper(1.0), memory=KeepAll()) for alpha in (0.1, 0.2))
    runs = replay_many(alike, X[:0], miscoverage([]))  # type: ignore[arg-type]
    assert [len(run) for run in runs] == [0, 0]
