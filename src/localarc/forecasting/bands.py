"""Bands: intervals around forecasts whose outcomes become known later, in any order."""

from __future__ import annotations

import copy
import datetime
from collections.abc import Callable, Hashable, Sequence
from typing import Any, Self, TypeVar

import numpy as np

from localarc import serialization, validation
from localarc.calibrators.exclusive import Exclusive
from localarc.calibrators.storable import Storable
from localarc.forecasting import batches
from localarc.forecasting.batches import Forecasts, band_columns, read_forecasts
from localarc.forecasting.certificate import BandsCertificate, certify
from localarc.forecasting.history import moments, outcomes
from localarc.forecasting.joint import JointBands
from localarc.forecasting.separate import SeparateBands
from localarc.forecasting.series import UNKNOWN, SeriesNames
from localarc.forecasting.settings import BandsSettings, checked_settings, settings_from_json
from localarc.forecasting.summary import summarize
from localarc.serialization import StateError
from localarc.tables import columns
from localarc.tables.frames import require_frame
from localarc.validation import FloatArray, IntArray

Frame = TypeVar("Frame")
T = TypeVar("T")


class Bands(Storable, Exclusive):
    """Bands around forecasts, in which a stated share of outcomes lies, learned as outcomes come.

    Forecasts arrive in long frames, one row per series and time, as the Nixtla libraries use them;
    any frame that narwhals reads will do. Every series and step has bettors of its own, which keep
    its share of misses near the target for any data (theorem E). What series, steps, hours
    and weekdays have in common is learned together.

    Parameters
    ----------
    coverage : float or sequence of float, default 0.9
        The share of outcomes inside the band. Several levels give bands inside each other.
    horizon : int, default 24
        The largest number of steps ahead.
    by : str or None, default "unique_id"
        The column that names the series; None if there is one series only.
    time : str, default "ds"
        The column of times, or of integers that count them.
    target : str, default "y"
        The column of outcomes in what `observe` receives.
    model : str or None, default None
        The column of point forecasts; by default `yhat`, or the only column of numbers. The columns
        that are added start with its name, as in the Nixtla libraries, unless it is `yhat`.
    quantiles : (str, str) or None, default None
        Two columns, of a lower and an upper quantile, to be widened or narrowed instead of a point.
    joint : bool, default False
        Whether the whole path of a series shall lie inside with that frequency, rather than each of
        its steps.
    initial_threshold : float or None, default None
        How far bands reach before the first outcome. None: they are unbounded, until outcomes of
        `1/(1 - coverage) - 1` times are known, at most 16. Such forecasts are counted apart, see
        `certificate().uninformed`, and are not part of the promise.

    Examples
    --------
    >>> import numpy as np, pandas as pd
    >>> rng = np.random.default_rng(0)
    >>> bands = Bands(coverage=0.9, horizon=2)
    >>> for day in range(200):
    ...     out = bands.predict(pd.DataFrame({"unique_id": "a", "ds": [day, day + 1], "yhat": 0.0}))
    ...     y = pd.DataFrame({"unique_id": ["a"], "ds": [day], "y": [rng.normal()]})
    ...     settled = bands.observe(y)
    >>> list(out.columns)
    ['unique_id', 'ds', 'yhat', 'lo-90', 'hi-90']
    >>> bool(1.2 < out["hi-90"].iloc[0] < 2.2)
    True
    >>> bands
    Bands(coverage=0.9, horizon=2, series=1, rounds=399)

    References
    ----------
    Romano, Patterson and Candes, *Conformalized quantile regression*, NeurIPS 2019.
    Podkopaev, Xu and Lee, *Adaptive conformal inference by betting*, ICML 2024.
    """

    settings: BandsSettings

    def __init__(
        self,
        coverage: float | Sequence[float] = 0.9,
        horizon: int = 24,
        by: str | None = "unique_id",
        *,
        time: str = "ds",
        target: str = "y",
        model: str | None = None,
        quantiles: tuple[str, str] | None = None,
        joint: bool = False,
        initial_threshold: float | None = None,
    ) -> None:
        self._start(
            checked_settings(
                coverage=coverage,
                horizon=horizon,
                by=by,
                time=time,
                target=target,
                model=model,
                quantiles=quantiles,
                joint=joint,
                initial_threshold=initial_threshold,
            )
        )

    def _start(self, settings: BandsSettings) -> None:
        self.settings = settings
        kind = JointBands if settings.joint else SeparateBands
        self._bands: SeparateBands = kind(settings.alphas, settings.horizon, settings.start)
        self._series = SeriesNames()
        self._temporal: bool | None = None  # whether times are times, or integers
        self._zoned: bool | None = None  # whether they have a time zone

    # ---- forecasts and outcomes --------------------------------------------------------------

    def predict(self, forecasts: Frame) -> Frame:
        """The forecasts with their bands, which are open until their outcomes are observed.

        Parameters
        ----------
        forecasts : data frame
            One row for each series and step, all made at the same time, in any order. The steps of
            a series are counted in the order of their times.

        Returns
        -------
        data frame
            The same frame, with columns `lo-90` and `hi-90` for a level of 0.9.
        """
        frame = require_frame(forecasts, "forecasts")
        found = read_forecasts(frame, "forecasts", self.settings)
        thresholds = self._whole(lambda: self._ask(found))
        native: Frame = columns.with_columns(frame, band_columns(found, thresholds, self.settings))
        return native

    def observe(self, actuals: Frame) -> int:
        """Learn from outcomes, in any order, whenever they become known.

        Parameters
        ----------
        actuals : data frame
            The series, the time and the outcome `y` of each row. Rows without an outcome, and those
            for which no forecast is open, change nothing.

        Returns
        -------
        int
            How many open forecasts have got their outcome.
        """
        frame, settings = require_frame(actuals, "actuals"), self.settings
        columns.require(frame, "actuals", *settings.keys, settings.target)
        y = columns.numbers(frame, settings.target, gaps=True)
        times = columns.times(frame, settings.time)
        labels = columns.labels(frame, settings.by)

        def call() -> int:
            self._check_times(times)
            series = self._series.find(labels)
            known = ~np.isnan(y) & (series != UNKNOWN)
            _check_distinct(series[known], times.values[known])
            return _learn(self._bands, series[known], times.values[known], y[known])

        return self._whole(call)

    def replay(self, history: Frame) -> Frame:
        """Predict and observe past forecasts in the order in which it would have happened.

        Use it to start with bands that are calibrated, or to see how they would have done.

        Parameters
        ----------
        history : data frame
            Forecasts as in `predict`, with a column `cutoff`, the last time that was known when
            the forecast was made, and the outcome `y`, missing where it is not known. The
            `cross_validation` methods of the Nixtla libraries return such frames.

        Returns
        -------
        data frame
            The same frame, with the bands that each forecast would have got.
        """
        frame, settings = require_frame(history, "history"), self.settings
        columns.require(frame, "history", batches.CUTOFF, settings.target)
        found = read_forecasts(frame, "history", settings)
        y = columns.numbers(frame, settings.target, gaps=True)
        cutoff = columns.times(frame, batches.CUTOFF)
        thresholds = self._whole(lambda: self._play(found, cutoff, y))
        native: Frame = columns.with_columns(frame, band_columns(found, thresholds, settings))
        return native

    def expire(self, before: datetime.datetime | np.datetime64 | int) -> int:
        """Stop waiting for the outcomes of all times before this one.

        Parameters
        ----------
        before : datetime, datetime64 or int
            A time, as in the column of times.

        Returns
        -------
        int
            How many open forecasts were closed.
        """

        def call() -> int:
            rows = self._bands.rows.before(_instant(before, self._temporal, self._zoned))
            if len(rows):
                self._bands.forget(rows)
                self._bands.rows.remove(rows)
            return len(rows)

        return self._whole(call)

    def _whole(self, call: Callable[[], T]) -> T:
        """Make a call that changes everything or nothing; raise if another thread is inside."""
        with self._exclusive():
            return self._bands.undo.unless_done(call)

    def _ask(self, found: Forecasts) -> FloatArray:
        """The thresholds of forecasts, which are open from now on."""
        self._check_times(found.times)
        names = self._series.with_new(found.labels)
        everything = np.arange(len(found.labels))
        batch = found.batch(everything, names.find(found.labels), self.settings.horizon)
        known = {"_series": self._series, "_temporal": self._temporal, "_zoned": self._zoned}
        self._bands.undo.note(vars(self).update, known)
        self._bands.reserve(len(names))
        self._series = names
        self._temporal, self._zoned = found.times.temporal, found.times.zoned
        return self._bands.ask(batch)

    def _play(self, found: Forecasts, cutoff: columns.Times, y: FloatArray) -> FloatArray:
        """The thresholds of past forecasts, learned by a copy that replaces what was there."""
        self._check_times(found.times, cutoff)
        names, horizon = self._series.with_new(found.labels), self.settings.horizon
        series, time = names.find(found.labels), found.times.values
        steps = moments(cutoff.values, outcomes(series, time, y), time)
        plan = [(known, made, found.batch(made, series[made], horizon)) for known, made in steps]
        bands = copy.deepcopy(self._bands)
        bands.reserve(len(names))
        thresholds = np.empty((len(y), len(self.settings.coverage)))
        for known, made, batch in plan:
            _learn(bands, series[known], time[known], y[known])
            thresholds[made] = bands.ask(batch)
        kind = found.times.temporal, found.times.zoned
        self._bands, self._series, (self._temporal, self._zoned) = bands, names, kind
        return thresholds

    def _check_times(self, *read: columns.Times) -> None:
        """Raise unless times are of one kind, the same as in earlier forecasts."""
        temporal, zoned = self._temporal, self._zoned
        for times in read:
            temporal = times.temporal if temporal is None else temporal
            zoned = times.zoned if zoned is None else zoned
            if (times.temporal, times.zoned) != (temporal, zoned):
                raise TypeError(
                    f"{self.settings.time} must contain "
                    f"{columns.kind_of_times(temporal, zoned)} as before, got "
                    f"{columns.kind_of_times(times.temporal, times.zoned)}. In pandas, "
                    "dt.tz_localize gives times a zone or takes it away."
                )

    # ---- what was learned --------------------------------------------------------------------

    @property
    def pending(self) -> int:
        """The number of forecasts whose outcome is still to come."""
        return len(self._bands.rows)

    @property
    def rounds(self) -> int:
        """The number of forecasts whose outcome was learned; of paths, if bands are joint."""
        rounds = self._bands.rounds
        return int(rounds.bettors.cells["visits"][:].sum()) + rounds.uninformed

    @property
    def nbytes(self) -> int:
        """The size of what is kept of open forecasts, without the index by series and time."""
        return self._bands.nbytes

    @property
    def series(self) -> tuple[Hashable, ...]:
        """The names of all series so far."""
        return tuple(self._series.names)

    def certificate(self, coverage: float | None = None) -> BandsCertificate:
        """What was achieved and is guaranteed at one level.

        Parameters
        ----------
        coverage : float or None, default None
            The level; by default the largest.
        """
        levels = self.settings.coverage
        level = levels[-1] if coverage is None else coverage
        if not isinstance(level, float) or level not in levels:
            raise ValueError(f"coverage must be one of {list(levels)}, got {coverage}.")
        at = levels.index(level)
        return self._whole(lambda: certify(self._bands.rounds, at, self._series.names))

    def summary(self) -> str:
        """How the bands do: the verdict first, then every level with its bounds.

        Each level lists misses by step, series, hour and weekday: the lowest and the highest, and
        where that is.
        """
        found = [self.certificate(level) for level in self.settings.coverage]
        return summarize(found, "paths" if self.settings.joint else "forecasts")

    def __repr__(self) -> str:
        seen = f"series={len(self._series)}, rounds={self.rounds}"
        return f"Bands({self.settings.describe()}, {seen})"

    # ---- state -------------------------------------------------------------------------------

    def state(self) -> bytes:
        """Everything, with all open forecasts, for storage."""
        return self._whole(self._encoded)

    def _encoded(self) -> bytes:
        content = {
            "settings": self.settings.to_json(),
            "temporal": self._temporal,
            "zoned": self._zoned,
            "series": [serialization.group_to_json(name) for name in self._series.names],
        }
        return serialization.encode("Bands", content, self._bands.state(len(self._series)))

    @classmethod
    def from_state(cls, data: bytes) -> Self:
        """The bands whose `state` this was, with all open forecasts.

        Parameters
        ----------
        data : bytes
            What `state` returned.
        """
        kind, content, arrays = serialization.decode(data)
        if kind != "Bands":
            raise StateError(f"the state is of kind {kind}, not Bands. Load it with {kind}.load.")
        new = cls.__new__(cls)
        with serialization.damaged_unless_read():
            new._start(settings_from_json(content["settings"]))
            names = [serialization.group_from_json(name) for name in content["series"]]
            new._series, new._temporal = SeriesNames(names), content["temporal"]
            new._zoned = content.get("zoned")  # unknown in states of 0.2
            new._bands.restore(dict(arrays), len(names))
        return new


def _learn(bands: SeparateBands, series: IntArray, time: IntArray, y: FloatArray) -> int:
    """Outcomes by time, so that what is known at one time is learned from together."""
    rows, position = bands.rows.matching(series, time)
    if not len(rows):
        return 0
    open_rows, outcomes = bands.rows.pool, y[position]
    scores = np.maximum(open_rows["low"][rows] - outcomes, outcomes - open_rows["high"][rows])
    issued = bands.rounds.numbers(open_rows["round"][rows])
    order = np.lexsort((open_rows["step"][rows], issued, time[position]))
    rows, scores, when = rows[order], scores[order], time[position][order]
    for group in np.split(np.arange(len(rows)), np.flatnonzero(np.diff(when)) + 1):
        bands.tell(rows[group], scores[group])
    bands.rows.remove(rows)
    return len(rows)


def _check_distinct(series: IntArray, time: IntArray) -> None:
    """Raise if a series has two outcomes for one time."""
    order = np.lexsort((time, series))
    same = (np.diff(series[order]) == 0) & (np.diff(time[order]) == 0)
    if same.any():
        raise ValueError(
            "the actuals have two rows for the same series and time. Keep one of them."
        )


def _instant(value: Any, temporal: bool | None, zoned: bool | None) -> int:
    """A time as `columns.times` turns it into an integer."""
    hint = "Pass a time like those of the forecasts."
    if temporal is False:
        return validation.integer("before", value, -(2**62), hint)
    if isinstance(value, datetime.datetime) and zoned not in (None, value.tzinfo is not None):
        raise TypeError(f"before must {'' if zoned else 'not '}have a time zone. {hint}")
    if isinstance(value, datetime.datetime) and value.tzinfo is not None:
        value = value.astimezone(datetime.UTC).replace(tzinfo=None)
    if not isinstance(value, datetime.date | np.datetime64):
        raise TypeError(f"before must be a time, got {validation.shown(value)}. {hint}")
    return int(np.asarray(value, "datetime64[us]").astype(np.int64))
