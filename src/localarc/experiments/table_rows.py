"""Trials: rows of many trials become one, with means and standard errors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from localarc.experiments.experiment import Outcome, Row


def together(outcomes: Sequence[Outcome], names: Sequence[str]) -> dict[tuple[Any, ...], list[Row]]:
    """The rows of all trials that have the same values under these names."""
    found: dict[tuple[Any, ...], list[Row]] = {}
    for outcome in outcomes:
        for row in outcome.rows:
            found.setdefault(tuple(row[name] for name in names), []).append(row)
    return found


def means(rows: Sequence[Row], measured: Sequence[str]) -> Row:
    """The mean of each measurement and its standard error, None where there was one trial.

    >>> means([{"size": 1.0}, {"size": 3.0}], ["size"])
    {'size': 2.0, 'size_error': 1.0}
    """
    found: Row = {}
    for name in measured:
        values = np.array([row[name] for row in rows], dtype=np.float64)
        error = float(values.std(ddof=1) / np.sqrt(len(values))) if len(values) > 1 else None
        found |= {name: float(values.mean()), f"{name}_error": error}
    return found
