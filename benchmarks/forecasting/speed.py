"""Speed and size: 1,000 series, 24 steps, a forecast of everything every hour."""

from __future__ import annotations

import time
import tracemalloc
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.auto.measured import Measured, at_most, plain
from localarc.forecasting import Bands

SERIES, STEPS, HOURS = 1000, 24, 60
START = pd.Timestamp("2024-01-01")
NAME = f"{SERIES:,} series, {STEPS} steps"


def measure() -> list[Measured]:
    bands = Bands(horizon=STEPS)
    predict, observe = run(bands)
    crowded = Bands(horizon=STEPS)
    for hour in range(STEPS):
        crowded.predict(forecasts(hour + 10**4, "other"))  # never observed
    _, beside = run(crowded)
    return [
        at_most(NAME, "predict, µs of processor time per row", predict, 10.0),
        plain(NAME, "observe, µs of processor time per forecast", observe),
        plain(NAME, "the same beside 576,000 more open forecasts", beside),
        plain(NAME, "open forecasts", bands.pending, f"{bands.pending:,}"),
        at_most(NAME, "bytes per open forecast", bands.nbytes / bands.pending, 200.0),
        at_most(NAME, "the same, all memory that opening took", _traced(), 200.0),
    ]


def run(bands: Bands) -> tuple[float, float]:
    """Microseconds of processor time per row and per settled forecast, with most forecasts open."""
    predict, observe = [], []
    for hour in range(HOURS):
        predict.append(_seconds(bands.predict, forecasts(hour)))
        observe.append(_seconds(bands.observe, actuals(hour)))
    rows = 1e-6 * SERIES * STEPS
    return float(np.median(predict[STEPS:])) / rows, float(np.median(observe[STEPS:])) / rows


def _traced() -> float:
    """Memory per open forecast, with the index by series and time."""
    bands = Bands(horizon=STEPS)
    bands.predict(forecasts(0))
    bands.observe(actuals(0))  # series are known, and so are their sums
    for hour in range(1, STEPS + 1):
        bands.observe(actuals(hour))
    tracemalloc.start()
    for hour in range(STEPS + 1, 2 * STEPS):
        bands.predict(forecasts(hour))
        bands.observe(actuals(hour))
    taken, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return taken / bands.pending


def _seconds(call: Any, frame: Any) -> float:
    start = time.process_time()
    call(frame)
    return time.process_time() - start


def forecasts(hour: int, name: str = "series") -> Any:
    times = pd.date_range(START + pd.Timedelta(hours=hour), periods=STEPS, freq="h")
    return pd.DataFrame(
        {
            "unique_id": np.repeat(names(name), STEPS),
            "ds": np.tile(times.to_numpy(), SERIES),
            "yhat": 0.0,
        }
    )


def actuals(hour: int) -> Any:
    y = np.random.default_rng(hour).normal(size=SERIES)
    return pd.DataFrame({"unique_id": names(), "ds": START + pd.Timedelta(hours=hour), "y": y})


def names(name: str = "series") -> list[str]:
    return [f"{name} {i}" for i in range(SERIES)]
