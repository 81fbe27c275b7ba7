"""Format numbers, bounds and neighbourhoods, for the report and the console."""

from __future__ import annotations

import math

from localarc.guarantees import Bound, Certificate
from localarc.reporting.assessment import AnyCertificate, Assessment, effective_score_range

_SIGNS = {"both": "±", "above": "+", "below": "-"}


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


def format_bound(bound: Bound) -> str:
    """Return the value of a bound, or "none" if it does not hold."""
    return f"{_SIGNS[bound.side]}{number(bound.value)}" if bound.holds else "none"


def describe_bound(certificate: AnyCertificate) -> str:
    """Return the tightest bound that holds, in a sentence, or why none does."""
    bound = certificate.tightest
    if bound is None:
        return f"No bound holds: {'; '.join(certificate.bound.unmet)}."
    if bound.value >= max(certificate.alpha, certificate.loss_bound - certificate.alpha):
        return "No bound is informative yet: they narrow as rounds add up."
    value = number(bound.value)
    reach = f"at most {value} above" if bound.one_sided else f"within {value} of"
    return f"The risk is {reach} the target ({bound.name}), assuming {'; '.join(bound.assumes)}."


def describe_score_range(assessment: Assessment) -> str:
    """Describe the score range that the bounds assume, or why there is no bound."""
    (low, high), stated = effective_score_range(assessment.run)
    bound = assessment.certificate.bound
    if not bound.holds:
        return f"No bound holds: {'; '.join(bound.unmet)}."
    if not isinstance(assessment.certificate, Certificate):
        return f"For future rounds, theorem E assumes {'; '.join(bound.assumes)}."
    if stated:
        return f"The stated score range is [{low:g}, {high:g}]."
    return (
        f"No score range was stated, so the bounds use the range observed in this run, "
        f"[{low:.4g}, {high:.4g}]. They hold for future rounds only while scores stay within it."
    )


def omitted_groups(count: int) -> str:
    """Return the note below a table that shows the groups of highest risk only."""
    return f"{count} groups with lower risk are omitted"
