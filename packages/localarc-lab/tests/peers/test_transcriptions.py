"""Peers whose released code is not in Python return the thresholds of their equations."""

from typing import Any

import numpy as np
import pytest

from localarc_lab import peers
from localarc_lab.peers.boa import BernsteinAggregation
from peers.rounds import ALPHA, group, inputs_and_scores, thresholds
from peers.transcriptions import (
    aci,
    boa_mixtures,
    dtaci_levels,
    kernel_weighted,
    nearest,
    rolling,
)

X, SCORES = inputs_and_scores()


@pytest.mark.parametrize(("gamma", "window"), [(0.005, 1250), (0.2, 40)])
def test_aci_is_its_equation(gamma: float, window: int) -> None:
    expected = aci(SCORES, ALPHA, gamma, window)
    assert thresholds(peers.ACI(ALPHA, gamma, window)) == pytest.approx(expected, abs=1e-12)


def test_large_steps_of_aci_reach_full_and_empty_sets() -> None:
    cal = peers.ACI(ALPHA, gamma=0.2, window=40)
    found = thresholds(cal)
    past = np.array([SCORES[:t].max() for t in range(1, len(SCORES))])
    assert (found[1:] == past).any()
    for _ in range(80):
        cal.update(None, loss=0.0, score=0.5)
    assert cal.threshold(None) < SCORES.min()


def test_each_group_has_the_aci_of_its_rounds() -> None:
    found = thresholds(peers.GroupACI(ALPHA))
    for mine in range(3):
        rounds = [t for t in range(len(SCORES)) if group(t) == mine]
        assert found[rounds] == pytest.approx(aci(SCORES[rounds], ALPHA, 0.005, 1250), abs=1e-12)


def test_dtaci_mixes_levels_as_its_algorithm_does() -> None:
    cal, gammas = peers.DtACI(ALPHA), np.array(peers.DtACI(ALPHA).gammas)
    shares, levels = [], []
    for t, score in enumerate(SCORES.tolist()):
        shares.append(float((SCORES[:t] >= score).mean()) if t else 1.0)
        levels.append(cal.level)
        cal.update(None, float(score > cal.threshold(None)), score=score)
    assert levels == pytest.approx(dtaci_levels(np.array(shares), ALPHA, gammas, 500), abs=1e-12)


def test_the_threshold_of_dtaci_is_the_quantile_at_its_level() -> None:
    cal = peers.DtACI(ALPHA)
    for score in SCORES[:300].tolist():
        cal.update(None, 0.0, score=score)
    assert cal.threshold(None) == pytest.approx(np.quantile(SCORES[:300], 1.0 - cal.level))


def test_aggregation_mixes_experts_as_opera_does() -> None:
    experts = np.column_stack([SCORES, np.ones(len(SCORES)), np.roll(SCORES, 1), 2.0 * SCORES])
    aggregation, found = BernsteinAggregation(4), []
    for forecasts, outcome in zip(experts, SCORES.tolist(), strict=True):
        mixture = float(aggregation.weights @ forecasts)
        found.append(mixture)
        aggregation.learn((float(outcome < mixture) - 0.9) * (mixture - forecasts))
    assert found == pytest.approx(boa_mixtures(experts, SCORES, 0.9), rel=1e-9)


def test_agaci_mixes_the_thresholds_of_aci() -> None:
    gammas = (0.0, 0.01, 0.1)
    experts = np.column_stack([aci(SCORES, ALPHA, gamma, 1250) for gamma in gammas])
    expected = boa_mixtures(experts, SCORES, 1.0 - ALPHA)
    assert thresholds(peers.AgACI(ALPHA, gammas)) == pytest.approx(expected, rel=1e-9)


def test_a_rolling_quantile_is_split_conformal_on_the_window() -> None:
    expected = rolling(SCORES, ALPHA, 80)
    assert thresholds(peers.RollingQuantile(ALPHA, window=80)) == pytest.approx(expected)


def test_the_nearest_quantile_is_split_conformal_on_the_neighbours() -> None:
    expected = nearest(X, SCORES, ALPHA, 30, 200)
    assert thresholds(peers.NearestQuantile(ALPHA, 30, 200)) == pytest.approx(expected)


def test_the_kernel_quantile_is_a_weighted_quantile() -> None:
    expected = kernel_weighted(X, SCORES, ALPHA, 0.5, 200)
    assert thresholds(peers.KernelQuantile(ALPHA, 0.5, 200)) == pytest.approx(expected)


def test_random_fourier_features_approximate_a_gaussian_kernel() -> None:
    cal: Any = peers.RandomFourierQuantile(ALPHA, features=20_000, calibration=50)
    for t in range(50):
        cal.update(X[t], 0.0, score=float(SCORES[t]))
    one, two = cal._transform(X[0]), cal._transform(X[1])
    gap = (X[0] - X[1]) / X[:50].std(axis=0)
    assert float(one @ two) == pytest.approx(np.exp(-(gap @ gap) / 2.0), abs=0.03)


def test_a_step_of_random_fourier_regression_is_a_gradient_step() -> None:
    cal: Any = peers.RandomFourierQuantile(ALPHA, features=50, calibration=200)
    for t in range(200):
        cal.update(X[t], 0.0, score=float(SCORES[t]))
    before = cal.threshold(X[300])
    cal.update(X[250], 1.0, score=9.0)
    low, high = np.quantile(SCORES[:200], (0.1, 0.9))
    similar = 1.0 + cal._transform(X[250]) @ cal._transform(X[300])
    step = (high - low) / np.sqrt(201) * (1.0 - ALPHA) * similar
    assert cal.threshold(X[300]) - before == pytest.approx(step)
