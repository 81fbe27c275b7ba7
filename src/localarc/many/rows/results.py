"""The columns that calibration adds: one value per row, in the order in which rows came."""

from __future__ import annotations

from typing import Any

import numpy as np

from localarc.curves import miscoverage
from localarc.curves.scores import within
from localarc.many.columns import Columns
from localarc.many.panel.late import ASK, Answers, LateEvents
from localarc.many.panel.table import arrow
from localarc.many.rows.events import Events
from localarc.many.rows.rules import RULES, Verdicts
from localarc.validation import FloatArray


class Results:
    """Columns of results, NaN where a row has none: bad rows, and the loss of an ask."""

    def __init__(self, columns: Columns, events: Events, verdicts: Verdicts) -> None:
        self._events, self._verdicts = events, verdicts
        self._columns = {name: np.full(len(events), np.nan) for name in columns.added}

    def fill(self, late: LateEvents, answers: Answers) -> None:
        """Set the results of the good rows."""
        good = self._verdicts == 0
        own = answers.thresholds[len(late.thresholds) :]
        learns = late.learns
        thresholds = np.where(learns, answers.thresholds[late.asked], own)
        found = {"next_threshold": answers.after, "threshold": thresholds, "loss": answers.losses}
        if "covered" in self._columns:
            covered = within(self._events.values[good], thresholds)
            found["covered"] = np.where(learns, covered, np.nan)
        if "size" in self._columns:
            found["size"] = _sizes(self._events.take(good), own)
        for name in self._columns:
            self._columns[name][self._events.places[good]] = found[name]

    def table(self, rejects: bool) -> Any:
        """The columns as an Arrow table; missing values are null."""
        pa = arrow()
        columns = {}
        for name, values in self._columns.items():
            column = pa.array(values, mask=np.isnan(values))
            columns[name] = column.cast(pa.bool_()) if name == "covered" else column
        if rejects:
            columns["rejected"] = pa.array(self._rejected(), pa.string())
        return pa.table(columns)

    def arrays(self, rejects: bool) -> dict[str, Any]:
        """The columns as NumPy arrays; missing values are NaN, and None where NaN cannot be."""
        columns: dict[str, Any] = dict(self._columns)
        if "covered" in columns:
            covered, known = columns["covered"], ~np.isnan(columns["covered"])
            columns["covered"] = np.where(known, covered == 1.0, None)
        if rejects:
            columns["rejected"] = self._rejected()
        return columns

    def _rejected(self) -> Any:
        """The rule that each row violates, None for good rows."""
        names = np.array([rule.name or None for rule in RULES], object)
        rules = np.empty(len(self._verdicts), object)
        rules[self._events.places] = names[self._verdicts]
        return rules


def _sizes(events: Events, thresholds: FloatArray) -> FloatArray:
    """The width of the interval of each row that asks."""
    sizes, asks = np.full(len(events), np.nan), (events.acts & ASK) != 0
    assert events.widths is not None
    curves = miscoverage(np.zeros(int(asks.sum())), widths=events.widths[asks])
    sizes[asks] = curves.sizes_at(thresholds[asks])
    return sizes
