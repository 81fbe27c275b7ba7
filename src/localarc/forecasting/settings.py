"""The settings of bands, checked once."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from localarc import validation
from localarc.validation import FloatArray

_COVERAGE = "It is the share of outcomes inside the band, e.g. 0.9, or several: [0.5, 0.8, 0.95]."
_LARGEST_HORIZON = 2**14


@dataclass(frozen=True)
class BandsSettings:
    """What stays the same during a run."""

    coverage: tuple[float, ...]
    horizon: int
    by: str | None
    time: str
    target: str
    model: str | None
    quantiles: tuple[str, str] | None
    joint: bool
    initial_threshold: float | None

    @property
    def alphas(self) -> FloatArray:
        """The target of each level: the share of misses."""
        return np.array([1.0 - level for level in self.coverage])

    @property
    def start(self) -> float:
        """The threshold before anything is known: infinite unless one is stated."""
        return math.inf if self.initial_threshold is None else self.initial_threshold

    @property
    def keys(self) -> tuple[str, ...]:
        """The columns that say what a row is about."""
        return (self.time,) if self.by is None else (self.by, self.time)

    def to_json(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return asdict(self)

    def describe(self) -> str:
        """The settings that differ from the defaults, as they are written in a call."""
        levels = self.coverage[0] if len(self.coverage) == 1 else list(self.coverage)
        shown = [f"coverage={levels}", f"horizon={self.horizon}"]
        for name, default in _DEFAULTS.items():
            if getattr(self, name) != default:
                shown.append(f"{name}={getattr(self, name)!r}")
        return ", ".join(shown)


_DEFAULTS: dict[str, Any] = {
    "by": "unique_id",
    "time": "ds",
    "target": "y",
    "model": None,
    "quantiles": None,
    "joint": False,
    "initial_threshold": None,
}


def checked_settings(
    coverage: float | Sequence[float],
    horizon: int,
    by: str | None,
    time: str,
    target: str,
    model: str | None,
    quantiles: tuple[str, str] | None,
    joint: bool,
    initial_threshold: float | None,
) -> BandsSettings:
    """The settings, if they make sense."""
    columns = {"time": time, "target": target}
    columns |= {"by": by} if by is not None else {}
    columns |= {"model": model} if model is not None else {}
    for name, column in columns.items():
        if not isinstance(column, str) or not column:
            raise TypeError(f"{name} must be the name of a column, got {column!r}.")
    if model is not None and quantiles is not None:
        raise ValueError("pass model, a column of point forecasts, or quantiles, but not both.")
    return BandsSettings(
        coverage=_levels(coverage),
        horizon=validation.integer("horizon", horizon, 1, _HORIZON, _LARGEST_HORIZON),
        by=by,
        time=time,
        target=target,
        model=model,
        quantiles=None if quantiles is None else _pair(quantiles),
        joint=validation.flag("joint", joint, "It says whether bands cover whole paths."),
        initial_threshold=(
            None
            if initial_threshold is None
            else validation.finite("initial_threshold", initial_threshold, _START)
        ),
    )


_START = "It is the threshold before the first outcome; None for unbounded bands."
_HORIZON = "It is the largest number of steps ahead, e.g. 24 for a day of hours."


def _levels(coverage: Any) -> tuple[float, ...]:
    values = np.atleast_1d(validation.floats("coverage", coverage)).tolist()
    levels = sorted(validation.finite("coverage", value, _COVERAGE) for value in values)
    if not levels or not all(0.0 < level < 1.0 for level in levels):
        raise ValueError(f"coverage must lie strictly between 0 and 1, got {coverage}. {_COVERAGE}")
    if len(set(levels)) < len(levels):
        raise ValueError(f"coverage must not repeat a level, got {coverage}. {_COVERAGE}")
    return tuple(levels)


def _pair(quantiles: Any) -> tuple[str, str]:
    hint = 'Pass the columns of the lower and the upper quantile, e.g. ("q05", "q95").'
    if isinstance(quantiles, str) or len(quantiles) != 2:
        raise ValueError(f"quantiles must be two columns, got {quantiles!r}. {hint}")
    low, high = quantiles
    if not isinstance(low, str) or not isinstance(high, str) or low == high:
        raise ValueError(f"quantiles must be two columns, got {quantiles!r}. {hint}")
    return low, high


def settings_from_json(content: dict[str, Any]) -> BandsSettings:
    """The settings that `to_json` described."""
    pair = content["quantiles"]
    content = {"initial_threshold": 0.0} | content  # once, it was always that
    return checked_settings(**{**content, "quantiles": None if pair is None else tuple(pair)})
