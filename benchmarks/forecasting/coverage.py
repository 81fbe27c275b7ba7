"""Coverage by step, hour and weekday, and width beside a rolling quantile per step."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from benchmarks.auto.measured import Measured, at_most, plain
from benchmarks.forecasting import streams
from benchmarks.forecasting.streams import HORIZON
from localarc.forecasting import Bands
from localarc.validation import FloatArray

ALPHA = 0.1
WINDOW = 500  # forecasts of one step that the rolling quantile uses
FIRST = WINDOW + HORIZON  # the first hour that is measured
CLOSE, WIDER = 0.02, 1.15


def measure_elec2() -> list[Measured]:
    return measure("Elec2", streams.elec2())


def measure_wind() -> list[Measured]:
    return measure("wind speed at three airports", streams.weather("wind_speed"))


def measure_temperature() -> list[Measured]:
    return measure("temperature at three airports", streams.weather("temp"))


def measure(name: str, history: Any) -> list[Measured]:
    bands = Bands(coverage=1.0 - ALPHA, horizon=HORIZON)
    table = bands.replay(history)
    score = (table.y - table.yhat).abs()
    table = table.assign(
        score=score, ours=table["hi-90"] - table.yhat, theirs=rolling(table, score)
    )
    judged = table[table.theirs.notna() & table.y.notna()]
    ours, theirs = _judge(judged, "ours"), _judge(judged, "theirs")
    found = bands.certificate()
    ratio = ours["width"] / theirs["width"]
    return [
        plain(name, "forecasts", len(judged), f"{len(judged):,}"),
        at_most(
            name, "|misses - target|", abs(ours["misses"] - ALPHA), CLOSE, _both("misses", ours)
        ),
        *(
            at_most(
                name, f"furthest {part} from the target", ours[part][2], CLOSE, _range(ours[part])
            )
            for part in ("series", "step", "hour", "weekday")
        ),
        at_most(name, "width / rolling quantile's", ratio, WIDER),
        plain(name, "width", ours["width"]),
        Measured(name, "rolling quantile per step, 500 hours", _words(theirs)),
        Measured(
            name,
            "theorem E, all forecasts",
            f"{found.above.value:.3f} above, {found.below.value:.3f} below",
        ),
        Measured(name, "joint bands, 24 steps at once", joint(history)),
    ]


def joint(history: Any) -> str:
    table = Bands(coverage=1.0 - ALPHA, horizon=HORIZON, joint=True).replay(history)
    known = table.groupby(["unique_id", "cutoff"]).y.transform(lambda y: y.notna().all())
    table = table[known & (table.cutoff >= _first(table))]
    outside = ~table.y.between(table["lo-90"], table["hi-90"])
    paths = outside.groupby([table.unique_id, table.cutoff]).any()
    width = (table["hi-90"] - table["lo-90"]).mean()
    return f"misses {paths.mean():.4f} of {len(paths):,} paths, width {width:.4g}"


def rolling(table: Any, scores: Any) -> Any:
    """The conformal quantile of the last scores of the same series and step known by then."""
    found = pd.Series(np.nan, index=table.index)
    for index in table.groupby("unique_id").groups.values():
        wide = scores[index].to_numpy().reshape(-1, HORIZON)
        found[index] = np.column_stack([_rolling(wide[:, h], h) for h in range(HORIZON)]).ravel()
    return found


def _rolling(scores: FloatArray, step: int) -> FloatArray:
    level = min(1.0, (1.0 - ALPHA) * (WINDOW + 1) / WINDOW)
    windows = np.lib.stride_tricks.sliding_window_view(scores, WINDOW)
    quantiles = (
        np.nanquantile(windows, level, axis=1)
        if np.isnan(scores).any()
        else np.quantile(windows, level, axis=1)
    )
    found = np.full(len(scores), np.nan)
    found[FIRST:] = quantiles[FIRST - step - WINDOW : len(scores) - step - WINDOW]
    return found


def _first(table: Any) -> Any:
    return table.cutoff.min() + pd.Timedelta(hours=FIRST)


def _judge(table: Any, column: str) -> dict[str, Any]:
    missed = table.score > table[column]
    parts = {
        "series": table.unique_id,
        "step": (table.ds - table.cutoff) // pd.Timedelta(hours=1),
        "hour": table.ds.dt.hour,
        "weekday": table.ds.dt.day_of_week,
    }
    found = {name: _spread(missed.groupby(part).mean()) for name, part in parts.items()}
    return found | {"misses": missed.mean(), "width": 2.0 * table[column].mean()}


def _spread(risks: Any) -> tuple[float, float, float]:
    return float(risks.min()), float(risks.max()), float((risks - ALPHA).abs().max())


def _both(what: str, found: dict[str, Any]) -> str:
    return f"{abs(found[what] - ALPHA):.4f} ({what} {found[what]:.4f})"


def _range(spread: tuple[float, float, float]) -> str:
    return f"{spread[2]:.4f} (misses {spread[0]:.3f} to {spread[1]:.3f})"


def _words(found: dict[str, Any]) -> str:
    parts = ", ".join(f"by {p} {found[p][0]:.3f} to {found[p][1]:.3f}" for p in ("hour", "weekday"))
    return f"misses {found['misses']:.4f}, width {found['width']:.4g}; {parts}"
