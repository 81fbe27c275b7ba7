"""AutoLARC in the experiments: a row in every comparison, and nothing that L-ARC does not get."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from localarc.curves import miscoverage
from localarc.streams.stream import Stream
from localarc_lab.experiments import EXPERIMENTS, Method, Plan, Results, run
from localarc_lab.experiments.evaluate import calibrate

METHODS = ("ARC", "AutoLARC")
TRIALS: dict[str, int | None] = {"electricity": None, "polyps": 1, "fruit": 1, "beams": 1}
ABOUT_ALL_METHODS = ("Memory", "The classifier", "Users and predictor")


@pytest.fixture(scope="module", params=list(TRIALS))
def results(request: Any, elec2: str, tmp_path_factory: Any) -> Results[Any, Any]:
    plan = Plan(quick=True, trials=TRIALS[request.param], methods=METHODS)
    folder: Path = tmp_path_factory.mktemp(request.param)
    return run(EXPERIMENTS[request.param], plan, folder)


def test_every_table_that_compares_methods_has_a_row_for_it(results: Results[Any, Any]) -> None:
    for title, (_, body) in results.tables().items():
        if body and not title.startswith(ABOUT_ALL_METHODS):
            cells = {cell for row in body for cell in row[:4]}
            assert {"AutoLARC", "AutoLARC (last)"} & cells, title


def test_it_is_held_out_with_its_last_threshold_and_has_no_average(
    results: Results[Any, Any],
) -> None:
    evaluations = {name: set[str]() for name in METHODS}
    for row in results.rows:
        evaluations[row["method"]].add(row["evaluation"])
    assert evaluations == {"ARC": {"online", "average", "last"}, "AutoLARC": {"online", "last"}}


def test_its_certificate_holds_beside_the_risk(results: Results[Any, Any]) -> None:
    for outcome in results.outcomes:
        if outcome.task.method == "AutoLARC":
            found: Any = outcome.certificate
            assert found["consistent"]
            bounds = found["above"], found["below"]
            assert -bounds[1]["value"] <= found["risk"] - found["alpha"] <= bounds[0]["value"]


def test_the_figures_can_be_drawn_without_an_average(results: Results[Any, Any]) -> None:
    from matplotlib.figure import Figure

    for spec in results.figures():
        spec.draw(Figure().subplots(), results)


def test_it_sees_no_groups_and_no_score_range() -> None:
    random = np.random.default_rng(0)
    scores, groups = random.exponential(size=300), random.integers(2, size=300).tolist()
    stream = Stream("toy", random.normal(size=(300, 1)), miscoverage(scores), tuple(groups))
    method = Method(auto=True)
    seen = method.visible(stream)
    assert seen.groups is None
    told = calibrate(method.calibrator(0.1, (0.0, 1.0)), seen)
    same = calibrate(method.calibrator(0.1, (-9.0, 9.0), rate=5.0), seen)
    assert np.array_equal(told.record.thresholds, same.record.thresholds)
    assert not np.array_equal(
        told.record.thresholds,
        calibrate(method.calibrator(0.1, (0.0, 1.0)), stream).record.thresholds,
    )
