"""Measured numbers as text, for tables, reports and the console."""

from __future__ import annotations

import math


def number(value: float) -> str:
    """Return a number with four digits, whole from 10,000 on, or a dash if it is unknown.

    Parameters
    ----------
    value : float
        The number.

    Returns
    -------
    str
        Its text.

    Examples
    --------
    >>> number(0.123456), number(18060.4), number(math.nan)
    ('0.1235', '18,060', '-')
    """
    if not math.isfinite(value):
        return "-"
    return f"{value:,.0f}" if 1e4 <= abs(value) < 1e9 else f"{value:.4g}"


def mean_size(size: float, unbounded: int) -> str:
    """Return a mean set size, with the number of sets that it leaves out.

    Parameters
    ----------
    size : float
        The mean size of the bounded sets.
    unbounded : int
        The number of the others.

    Returns
    -------
    str
        Its text.

    Examples
    --------
    >>> mean_size(3.25, 0), mean_size(3.25, 9)
    ('3.25', '3.25 (and 9 unbounded)')
    """
    return f"{number(size)} (and {unbounded:,} unbounded)" if unbounded else number(size)


def plus_minus(value: float, error: float) -> str:
    """Return a value with its standard error, if that is known.

    Parameters
    ----------
    value, error : float
        The value and its standard error.

    Returns
    -------
    str
        Their text.

    Examples
    --------
    >>> plus_minus(0.12345, 0.01), plus_minus(0.12345, math.nan)
    ('0.123 ± 0.010', '0.123')
    """
    return f"{value:.3f} ± {error:.3f}" if math.isfinite(error) else f"{value:.3f}"
