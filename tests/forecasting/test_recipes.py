"""Bands around the forecasts of statsforecast, mlforecast, darts and sktime: `make forecasting`.

Their own code warns a lot, so warnings are no errors here.
"""

import os
from typing import Any

import numpy as np
import pandas as pd
import pytest

from localarc.forecasting import Bands

pytestmark = pytest.mark.filterwarnings("ignore")
REQUIRED = os.environ.get("LOCALARC_REQUIRE_FORECASTERS") == "1"
DAY = 24


def imported(name: str) -> Any:
    if REQUIRED:
        return __import__(name)
    return pytest.importorskip(name, reason=f"{name} is not installed: make forecasting")


def series(hours: int = 20 * DAY, names: tuple[str, ...] = ("a", "b")) -> Any:
    """Two series with a daily pattern; the second has ten times the noise."""
    rng, t = np.random.default_rng(0), np.arange(hours)
    parts = [
        pd.DataFrame(
            {
                "unique_id": name,
                "ds": pd.date_range("2024-01-01", periods=hours, freq="h"),
                "y": 10.0 * np.sin(2.0 * np.pi * t / DAY) + rng.normal(size=hours) * 10.0**i,
            }
        )
        for i, name in enumerate(names)
    ]
    return pd.concat(parts, ignore_index=True)


def assert_around(out: Any, model: str) -> None:
    """The bands contain the forecast, and the noisy series has the wider ones."""
    low, high = out[f"{model}-lo-90"], out[f"{model}-hi-90"]
    assert ((low < out[model]) & (out[model] < high)).all()
    width = (high - low).groupby(out["unique_id"]).mean()
    assert width["b"] > 2.0 * width["a"]


def test_bands_around_forecasts_of_statsforecast() -> None:
    imported("statsforecast")
    from statsforecast import StatsForecast
    from statsforecast.models import SeasonalNaive

    df = series()
    forecaster = StatsForecast(models=[SeasonalNaive(season_length=DAY)], freq="h")
    bands = Bands(coverage=0.9, horizon=DAY)
    bands.replay(forecaster.cross_validation(df=df, h=DAY, n_windows=10, step_size=DAY))
    out = bands.predict(forecaster.forecast(df=df, h=DAY))
    assert_around(out, "SeasonalNaive")
    later = series(21 * DAY)
    assert bands.observe(later[later.ds > df.ds.max()]) == 2 * DAY


def test_bands_around_forecasts_of_mlforecast() -> None:
    imported("mlforecast")
    from mlforecast import MLForecast
    from sklearn.linear_model import LinearRegression

    df = series()
    forecaster = MLForecast(models=[LinearRegression()], freq="h", lags=[1, DAY])
    bands = Bands(coverage=0.9, horizon=DAY)
    bands.replay(forecaster.cross_validation(df=df, h=DAY, n_windows=10, step_size=DAY))
    out = bands.predict(forecaster.fit(df).predict(DAY))
    assert_around(out, "LinearRegression")


def test_bands_around_polars_frames_of_statsforecast() -> None:
    imported("statsforecast")
    pl = imported("polars")
    from statsforecast import StatsForecast
    from statsforecast.models import SeasonalNaive

    df = pl.from_pandas(series())
    forecaster = StatsForecast(models=[SeasonalNaive(season_length=DAY)], freq="1h")
    bands = Bands(coverage=0.9, horizon=DAY)
    bands.replay(forecaster.cross_validation(df=df, h=DAY, n_windows=10, step_size=DAY))
    out = bands.predict(forecaster.forecast(df=df, h=DAY))
    assert isinstance(out, pl.DataFrame)
    assert_around(out.to_pandas(), "SeasonalNaive")


def test_bands_around_forecasts_of_darts() -> None:
    imported("darts")
    from darts import TimeSeries
    from darts.models import NaiveSeasonal

    df = series(names=("a",))
    y = TimeSeries.from_dataframe(df, time_col="ds", value_cols="y")
    bands = Bands(coverage=0.9, horizon=DAY, by=None, model="yhat")
    for end in range(10 * DAY, 20 * DAY, DAY):
        forecast = NaiveSeasonal(K=DAY).fit(y[:end]).predict(DAY)
        frame = pd.DataFrame({"ds": forecast.time_index, "yhat": forecast.values()[:, 0]})
        out = bands.predict(frame)
        bands.observe(df[end : end + DAY])
    assert bands.rounds == 10 * DAY
    assert 2.0 < (out["hi-90"] - out["lo-90"]).mean() < 9.0  # 4.7 for Gaussian errors


def test_bands_around_forecasts_of_sktime() -> None:
    imported("sktime")
    from sktime.forecasting.naive import NaiveForecaster

    df = series(names=("a",))
    y = df.set_index("ds")["y"].asfreq("h")
    bands = Bands(coverage=0.9, horizon=DAY, by=None)
    for end in range(10 * DAY, 20 * DAY, DAY):
        forecast = NaiveForecaster(sp=DAY).fit(y[:end]).predict(fh=np.arange(1, DAY + 1))
        out = bands.predict(forecast.rename("yhat").rename_axis("ds").reset_index())
        bands.observe(df[end : end + DAY])
    assert bands.rounds == 10 * DAY
    assert 2.0 < (out["hi-90"] - out["lo-90"]).mean() < 9.0
