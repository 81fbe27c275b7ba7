import dataclasses
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from localarc import ARC, RBF, AutoLARC, Record, replay
from localarc.curves import miscoverage
from localarc.measures import (
    MEASURES,
    RISK,
    WORST_PART,
    distance_to_target,
    group_risk,
    localized_risk,
    mean_size,
    risk,
    rolling_risk,
    running_risk,
    worst_neighbourhood,
    worst_neighbourhoods,
)
from localarc.streams.synthetic import heteroscedastic

random = np.random.default_rng(0)


def test_running_and_rolling_risk_are_means() -> None:
    losses = random.uniform(size=50)
    assert running_risk(losses)[19] == pytest.approx(losses[:20].mean())
    rolling = rolling_risk(losses, 10)
    assert np.isnan(rolling[:9]).all()
    assert rolling[29] == pytest.approx(losses[20:30].mean())
    assert np.isnan(rolling_risk(losses[:5], 10)).all()
    assert risk(losses) == pytest.approx(losses.mean())
    assert distance_to_target(losses, 0.3)[-1] == pytest.approx(abs(losses.mean() - 0.3))


def test_a_round_may_belong_to_several_groups(tmp_path: Path) -> None:
    groups: list[Any] = [["a", "b"], "b", {"a": 0.5, "c": 0.0}]
    found = {row.group: (row.count, row.risk) for row in group_risk([1.0, 0.0, 0.0], groups)}
    assert found == {"a": (2, 0.5), "b": (2, 0.5)}
    groups = [["a", "b"], ["b"]] * 100
    scores = np.random.default_rng(0).uniform(size=200)
    record = replay(AutoLARC(0.1), None, miscoverage(scores), groups)
    assert "; every group within " in record.verdict.text
    groups = [["a", ("b", 1)], {"a": 0.5}, "c", 1] * 10
    record = replay(AutoLARC(0.1), None, miscoverage(np.arange(40.0)), groups)
    record.save(tmp_path / "run.record")
    assert Record.load(tmp_path / "run.record").groups == tuple(groups)


def test_groups_have_counts_means_and_standard_errors() -> None:
    losses, groups = random.uniform(size=90), [10, 9, "b"] * 30
    rows = group_risk(losses, groups, sizes=2 * losses)
    assert [row.group for row in rows] == [9, 10, "b"]
    mine = losses[1::3]
    assert rows[0].count == 30
    assert rows[0].risk == pytest.approx(mine.mean())
    assert rows[0].standard_error == pytest.approx(mine.std(ddof=1) / np.sqrt(30))
    assert rows[0].size == pytest.approx(2 * mine.mean())


def test_localized_risk_is_a_weighted_mean() -> None:
    X, losses = random.normal(size=(80, 2)), random.uniform(size=80)
    kernel, centre = RBF.from_paper(0.5), np.array([[0.2, 0.1]])
    w = kernel(X, centre[0])
    local = localized_risk(X, losses, kernel, centre)
    assert local.risks[0] == pytest.approx((w * losses).sum() / w.sum())
    assert local.counts[0] == pytest.approx(w.sum() ** 2 / (w**2).sum())


def test_a_flat_kernel_sees_the_mean_and_its_standard_error() -> None:
    X, losses = random.normal(size=(80, 2)), random.uniform(size=80)
    local = localized_risk(X, losses, RBF.from_paper(1e12), [[0.0, 0.0]])
    assert local.risks[0] == pytest.approx(losses.mean())
    assert local.standard_errors[0] == pytest.approx(losses.std(ddof=1) / np.sqrt(80), rel=1e-6)
    assert local.counts[0] == pytest.approx(80)


def test_the_standard_error_has_the_nominal_coverage() -> None:
    inside = 0
    for seed in range(300):
        draw = np.random.default_rng(seed)
        X = draw.uniform(-1, 1, size=(400, 1))
        losses = (draw.uniform(size=400) < 0.3).astype(float)
        local = localized_risk(X, losses, RBF.from_paper(0.1), [[0.0]])
        inside += abs(local.risks[0] - 0.3) <= 1.96 * local.standard_errors[0]
    assert 0.91 <= inside / 300 <= 0.98


def test_the_risk_far_from_all_inputs_is_nan() -> None:
    local = localized_risk([[0.0], [1.0]], [0.0, 1.0], RBF.from_paper(0.01), [[1e6]])
    assert np.isnan(local.risks[0])


def test_the_worst_neighbourhood_is_where_the_risk_is_high() -> None:
    X = random.uniform(size=(4000, 2))
    bad = ((X - [0.8, 0.2]) ** 2).sum(axis=1) < 0.02
    losses = (random.uniform(size=4000) < np.where(bad, 0.6, 0.1)).astype(float)
    worst = worst_neighbourhood(X, losses, RBF.from_paper(0.01))
    assert np.linalg.norm(worst.centre - [0.8, 0.2]) < 0.1
    assert worst.risk > 0.4
    assert worst.count >= 30
    several = worst_neighbourhoods(X, losses, RBF.from_paper(0.01), 4)
    assert len(several) == 4
    for i, one in enumerate(several):
        for other in several[:i]:
            assert RBF.from_paper(0.01)(one.centre[None], other.centre)[0] <= 0.5


def test_arc_fails_in_the_hard_corner_of_the_synthetic_stream() -> None:
    stream = heteroscedastic(4000, seed=0)
    run = replay(ARC(0.1), stream.X, stream.curves)
    worst = worst_neighbourhood(stream.X, run.losses, RBF.from_paper(0.05))
    assert worst.centre[0] > 0.8
    assert worst.risk - 2 * worst.standard_error > 0.2


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: rolling_risk([0.1], 0), "window must be a whole number"),
        (lambda: group_risk([0.1, 0.2], ["a"]), "one entry per round"),
        (lambda: risk([[0.1]]), "one number per round"),
        (lambda: risk([np.nan]), "losses must be finite"),
        (
            lambda: localized_risk([[0.0]], [0.1, 0.2], RBF.from_paper(1.0), [[0.0]]),
            "one entry per",
        ),
        (
            lambda: worst_neighbourhood([[0.0]], [0.1], RBF.from_paper(1.0)),
            "no neighbourhood has 30",
        ),
    ],
)
def test_the_error_of_bad_input_names_the_rule(call: Callable[[], object], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        call()


def test_every_measure_of_a_run_is_what_it_says() -> None:
    stream = heteroscedastic(400, seed=1)
    record = replay(ARC(0.1), stream.X, stream.curves)
    rounds = record.rounds_of(stream.curves, start=100)
    losses, level = record.losses[100:], 0.1
    short = stream.curves.min_thresholds(0.1)[100:] - record.thresholds[100:]
    expected = {
        "risk": losses.mean(),
        "size": record.sizes[100:].mean(),
        "pinball": np.maximum((1.0 - level) * short, -level * short).mean(),
        "twentieth": max(part.mean() for part in losses.reshape(20, 15)),
    }
    found = {measure.name: measure.of(rounds) for measure in MEASURES}
    assert found == pytest.approx(expected)


def test_a_risk_on_the_right_side_of_the_target_has_no_excess() -> None:
    lower, target = WORST_PART.excess, RISK.excess
    assert [lower(0.05, 0.1), target(0.05, 0.1), lower(0.2, 0.1)] == [0.0, 0.5, 1.0]
    higher = dataclasses.replace(RISK, better="higher").excess
    assert [higher(0.2, 0.1), higher(0.05, 0.1)] == [0.0, 0.5]


def test_unbounded_sets_have_no_part_in_the_mean_size() -> None:
    assert mean_size(np.array([1.0, np.inf, 3.0])) == 2.0
    assert np.isnan(mean_size(np.array([np.inf])))
