"""Rows of results: selecting them, and averaging them over trials."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from localarc_lab.experiments.experiment import Outcome, Row, Setting, Table


def where(rows: Sequence[Row], **values: object) -> list[Row]:
    """Return the rows that have these values.

    Parameters
    ----------
    rows : sequence of Row
        Rows with at least these columns.
    **values
        Column names to values.

    Examples
    --------
    >>> where([{"method": "ARC", "risk": 0.1}, {"method": "L-ARC", "risk": 0.2}], method="ARC")
    [{'method': 'ARC', 'risk': 0.1}]
    """
    return [row for row in rows if all(row[name] == value for name, value in values.items())]


def one(rows: Sequence[Row], **values: object) -> Row:
    """Return the only row that has these values, or raise LookupError.

    Parameters
    ----------
    rows : sequence of Row
        Rows with at least these columns.
    **values
        Column names to values.

    Examples
    --------
    >>> one([{"method": "ARC", "risk": 0.1}, {"method": "L-ARC", "risk": 0.2}], risk=0.2)
    {'method': 'L-ARC', 'risk': 0.2}
    """
    found = where(rows, **values)
    if len(found) != 1:
        raise LookupError(f"expected one row with {values}, got {len(found)}.")
    return found[0]


def methods(rows: Sequence[Row]) -> list[str]:
    """Return the names of the methods, in the order of the rows.

    Parameters
    ----------
    rows : sequence of Row
        Rows with a column `method`.

    Examples
    --------
    >>> methods([{"method": "ARC"}, {"method": "L-ARC"}, {"method": "ARC"}])
    ['ARC', 'L-ARC']
    """
    return list(dict.fromkeys(row["method"] for row in rows))


def held_out(rows: Sequence[Row], method: str) -> str:
    """Return which evaluation shows a method on held-out rounds: its average, or else its last.

    Parameters
    ----------
    rows : sequence of Row
        Rows with the columns `method` and `evaluation`.
    method : str
        Name of the method.

    Examples
    --------
    >>> held_out([{"method": "AutoLARC", "evaluation": "last"}], "AutoLARC")
    'last'
    """
    return "average" if where(rows, method=method, evaluation="average") else "last"


def held_out_name(rows: Sequence[Row], method: str) -> str:
    """Return a method's name where averages are shown, marked if it has none.

    Parameters
    ----------
    rows : sequence of Row
        Rows with the columns `method` and `evaluation`.
    method : str
        Name of the method.

    Examples
    --------
    >>> held_out_name([{"method": "AutoLARC", "evaluation": "last"}], "AutoLARC")
    'AutoLARC (last)'
    """
    return method if held_out(rows, method) == "average" else f"{method} (last)"


def certificates(rows: Sequence[Row]) -> Table:
    """Return a table of what each method's certificate says, from one row per method.

    Parameters
    ----------
    rows : sequence of Row
        Rows with the columns `method`, `cert` and `bound`, one per method.

    Examples
    --------
    >>> certificates([{"method": "ARC", "cert": 0.01, "bound": float("nan")}])[1]
    [['ARC', '0.0100', 'none']]
    """
    body = []
    for row in rows:
        bound = row["bound"]
        known = bound is not None and math.isfinite(bound)
        body.append([row["method"], cert_text(row["cert"]), f"{bound:.3f}" if known else "none"])
    return ["method", "CERT", "bound"], body


def cert_text(cert: float | None) -> str:
    """Return what a certificate observed as text, "none" for a method without one.

    Parameters
    ----------
    cert : float or None
        The observed distance of the risk from the target.

    Examples
    --------
    >>> cert_text(0.01), cert_text(None)
    ('0.0100', 'none')
    """
    return "none" if cert is None or math.isnan(cert) else f"{cert:.4f}"


def with_error(row: Row, column: str, digits: int = 3) -> str:
    """Return a mean with its standard error as text, or the mean alone after a single trial.

    Parameters
    ----------
    row : Row
        A row of `mean_and_error`.
    column : str
        Name of the measurement.
    digits : int, default 3
        Digits after the decimal point.

    Examples
    --------
    >>> with_error({"size": 2.0, "size_error": 1.0}, "size", digits=1)
    '2.0 ± 1.0'
    """
    mean, error = f"{row[column]:.{digits}f}", row[f"{column}_error"]
    return mean if error is None else f"{mean} ± {error:.{digits}f}"


def group_by(rows: Sequence[Row], columns: Sequence[str]) -> dict[tuple[object, ...], list[Row]]:
    """Return the rows that agree in some columns, by their values there, in order of appearance.

    Parameters
    ----------
    rows : sequence of Row
        Rows with at least these columns.
    columns : sequence of str
        Names of the columns.

    Examples
    --------
    >>> group_by([{"method": "ARC", "risk": 0.1}, {"method": "ARC", "risk": 0.2}], ["method"])
    {('ARC',): [{'method': 'ARC', 'risk': 0.1}, {'method': 'ARC', 'risk': 0.2}]}
    """
    groups: dict[tuple[object, ...], list[Row]] = {}
    for row in rows:
        groups.setdefault(tuple(row[column] for column in columns), []).append(row)
    return groups


def mean_and_error(rows: Sequence[Row], columns: Sequence[str]) -> Row:
    """Return the mean of each column and its standard error, None for a single row.

    Parameters
    ----------
    rows : sequence of Row
        One row per trial.
    columns : sequence of str
        Names of the measurements.

    Examples
    --------
    >>> mean_and_error([{"size": 1.0}, {"size": 3.0}], ["size"])
    {'size': 2.0, 'size_error': 1.0}
    """
    found: Row = {}
    for column in columns:
        values = np.array([row[column] for row in rows], dtype=np.float64)
        error = float(values.std(ddof=1) / np.sqrt(len(values))) if len(values) > 1 else None
        found |= {column: float(values.mean()), f"{column}_error": error}
    return found


def mean_over_trials(
    outcomes: Sequence[Outcome[Setting]],
    keys: Sequence[str],
    measured: Sequence[str],
    constant: Sequence[str] = (),
) -> list[Row]:
    """Return one row per combination of keys: means over trials, each with its standard error.

    Parameters
    ----------
    outcomes : sequence of Outcome
        The results of all tasks.
    keys : sequence of str
        Columns that tell rows of one trial apart.
    measured : sequence of str
        Columns to average.
    constant : sequence of str, optional
        Columns that are the same in every trial.

    Examples
    --------
    >>> from localarc_lab.experiments.experiment import Task
    >>> outcomes = [
    ...     Outcome(Task("ARC", None, trial), "", [{"method": "ARC", "size": size}], {}, {})
    ...     for trial, size in enumerate([1.0, 3.0])
    ... ]
    >>> mean_over_trials(outcomes, ["method"], ["size"])
    [{'method': 'ARC', 'trials': 2, 'size': 2.0, 'size_error': 1.0}]
    """
    rows = [row for outcome in outcomes for row in outcome.rows]
    return [
        dict(zip(keys, values, strict=True))
        | {column: group[0][column] for column in constant}
        | {"trials": len(group)}
        | mean_and_error(group, measured)
        for values, group in group_by(rows, keys).items()
    ]
