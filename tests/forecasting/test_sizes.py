"""Bands that are far too large are news, although their misses are right."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from localarc.forecasting import Bands
from localarc.forecasting.sizes import ROWS, SERIES, SizeSample


def observed(bands: Bands, errors: np.ndarray, *, start: int = 0) -> Bands:
    """Bands after these errors, one series per column, one step each."""
    names = [f"s{number}" for number in range(errors.shape[1])]
    for ds, y in enumerate(errors, start):
        rows = {"unique_id": names, "ds": ds}
        bands.predict(pd.DataFrame(rows | {"yhat": 0.0}))
        bands.observe(pd.DataFrame(rows | {"y": y}))
    return bands


def noise(rounds: int, series: int = 1, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(rounds, series))


def with_codes(errors: np.ndarray) -> np.ndarray:
    """One outcome in 40 is a code for "unknown", the third among them."""
    at = np.arange(len(errors))[:, None] % 40 == 2
    return np.where(at, 9999.0, errors)


def test_a_code_among_the_outcomes_makes_a_verdict_cautious_with_the_number() -> None:
    found = observed(Bands(horizon=1), with_codes(noise(200))).certificate()
    assert found.size_ratio > 20.0
    assert found.verdict.state == "cautious"
    assert f"{float(f'{found.size_ratio:.2g}'):,g} times as large" in found.verdict.text


@pytest.mark.slow
@pytest.mark.parametrize("law", ["normal", "lognormal", "t3", "louder", "quieter"])
def test_healthy_bands_trip_nothing(law: str) -> None:
    rng = np.random.default_rng(1)
    scale = np.array([1e-2, 1.0, 1e2])  # series of different units
    errors = {
        "normal": noise(150, 3),
        "lognormal": rng.lognormal(size=(150, 3)),
        "t3": rng.standard_t(3, size=(150, 3)),
        "louder": noise(150, 3) * np.where(np.arange(150) < 75, 1.0, 5.0)[:, None],
        "quieter": noise(150, 3) * np.where(np.arange(150) < 75, 5.0, 1.0)[:, None],
    }[law]
    found = observed(Bands(horizon=1), errors * scale).certificate()
    assert 0.5 < found.size_ratio < 2.0


def test_the_ratio_is_that_of_thresholds_to_a_quantile_whatever_the_origin_and_unit() -> None:
    scores = np.tile(np.arange(100.0), 4)
    series = np.repeat([0, 1], 200)
    moved = np.where(series == 0, scores, 1e3 * scores - 7.0)
    high, low = 90.0, 45.0  # the conformal quantiles of 200 scores at 0.9 and 0.45
    tripled = np.where(series == 0, low + 3 * (high - low), 1e3 * (low + 3 * (high - low)) - 7.0)
    sample = SizeSample(1).add(series, moved, tripled[:, None])
    assert sample.ratio(0, 0.1) == pytest.approx(3.0)


def test_without_enough_rounds_or_with_equal_scores_nothing_is_said() -> None:
    assert np.isnan(observed(Bands(horizon=1), noise(20)).certificate().size_ratio)
    equal = SizeSample(1).add(np.zeros(200, np.int64), np.ones(200), np.ones((200, 1)))
    assert np.isnan(equal.ratio(0, 0.1))


def test_the_sample_has_a_limit_and_resumes() -> None:
    bands = observed(Bands(horizon=1), noise(20, SERIES + 4))
    sample = bands._bands.rounds.sizes
    assert set(sample.rows[:, 0]) == set(range(SERIES))
    full = sample.add(np.zeros(2 * ROWS, np.int64), np.ones(2 * ROWS), np.ones((2 * ROWS, 1)))
    assert len(full.rows) == ROWS
    again = Bands.from_state(bands.state())
    one, other = (observed(each, noise(5, SERIES + 4), start=20) for each in (bands, again))
    assert one.state() == other.state()


@pytest.mark.parametrize(
    "rows",
    [np.zeros((3, 2)), np.full((3, 3), np.nan), np.array([[0.5, 1.0, 1.0]]), np.full((1, 3), 99.0)],
)
def test_a_sample_that_no_run_leaves_is_rejected(rows: np.ndarray) -> None:
    with pytest.raises(ValueError, match="its sample of sizes"):
        SizeSample(1).restore(rows)
