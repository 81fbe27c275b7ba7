"""Noise that triples: our bands beside the conformal intervals of mlforecast, which do not move."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.auto.measured import Measured
from localarc.forecasting import Bands

DAY, WINDOWS = 24, 20
BEFORE, AFTER = 60, 60  # days
OLD, NEW = (40, BEFORE), (BEFORE + 10, BEFORE + AFTER)  # the days that are measured
NAMES = ("ours", "mlforecast", "mlforecast, refitted daily")
NAME = "noise times 3 after 60 days"


def measure() -> list[Measured]:
    try:
        import mlforecast  # noqa: F401
    except ModuleNotFoundError as error:
        raise SystemExit(
            "this requires mlforecast: make forecasting, then use its Python"
        ) from error
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        out = run(series())
    return [
        Measured(NAME, name, f"{_words(out, name, *OLD)} before; {_words(out, name, *NEW)} after")
        for name in NAMES
    ]


def _words(out: Any, name: str, first: int, last: int) -> str:
    part = out[(out.day >= first) & (out.day < last)]
    low, high = part[f"{name} lo"], part[f"{name} hi"]
    missed = (part.y < low) | (part.y > high)
    return f"misses {missed.mean():.3f}, width {(high - low).mean():.2f}"


def series() -> Any:
    """A daily pattern with Gaussian noise, of three times the size after 60 days."""
    hours = (BEFORE + AFTER) * DAY
    rng, t = np.random.default_rng(0), np.arange(hours)
    noise = rng.normal(size=hours) * np.where(t < BEFORE * DAY, 1.0, 3.0)
    y = 10.0 * np.sin(2.0 * np.pi * t / DAY) + noise
    return pd.DataFrame(
        {"unique_id": "a", "ds": pd.date_range("2024-01-01", periods=hours, freq="h"), "y": y}
    )


def run(df: Any) -> Any:
    """Forecasts of each day, from day 40 on, with the intervals of all three."""
    start = OLD[0]
    model, bands = fitted(df[: start * DAY]), Bands(coverage=0.9, horizon=DAY)
    past = model.cross_validation(df[: start * DAY], h=DAY, n_windows=WINDOWS, step_size=DAY)
    bands.replay(past)
    model, parts = fitted(df[: start * DAY]), []
    for day in range(start, BEFORE + AFTER):
        known, today = df[: day * DAY], df[day * DAY : (day + 1) * DAY]
        theirs, refitted = model.predict(DAY, level=[90]), fitted(known).predict(DAY, level=[90])
        ours = bands.predict(theirs[["unique_id", "ds", "LinearRegression"]])
        parts.append(_together(day, today, ours, theirs, refitted))
        bands.observe(today)
        model.update(today)
    return pd.concat(parts, ignore_index=True)


def _together(day: int, today: Any, *frames: Any) -> Any:
    columns: dict[str, Any] = {"day": day, "ds": today.ds.to_numpy(), "y": today.y.to_numpy()}
    for name, frame in zip(NAMES, frames, strict=True):
        for end in ("lo", "hi"):
            columns[f"{name} {end}"] = frame[f"LinearRegression-{end}-90"].to_numpy()
    return pd.DataFrame(columns)


def fitted(df: Any) -> Any:
    """A linear model of the same hour of the last days, with 20 windows for its intervals."""
    from mlforecast import MLForecast
    from mlforecast.utils import PredictionIntervals
    from sklearn.linear_model import LinearRegression

    model = MLForecast(models=[LinearRegression()], freq="h", lags=[DAY, 2 * DAY, 7 * DAY])
    intervals = PredictionIntervals(n_windows=WINDOWS, h=DAY)
    return model.fit(df, prediction_intervals=intervals)
