"""Wording: numbers, bounds and places as people read them, in the report and at a terminal."""

from __future__ import annotations

import math
from collections.abc import Sequence

from localarc.guarantees import Bound
from localarc.metrics import Neighbourhood
from localarc.reporting.assessment import Assessment, used_range


def number(value: float) -> str:
    """Four digits, and a dash for what is not known."""
    return f"{value:.4g}" if math.isfinite(value) else "-"


def plus_minus(value: float, error: float) -> str:
    """A value with its standard error, where that is known.

    >>> plus_minus(0.12345, 0.01), plus_minus(0.12345, math.nan)
    ('0.123 ± 0.010', '0.123')
    """
    return f"{value:.3f} ± {error:.3f}" if math.isfinite(error) else f"{value:.3f}"


def promised(bound: Bound) -> str:
    """The value of a bound that holds."""
    return f"±{number(bound.value)}" if bound.holds else "none"


def place_words(place: Neighbourhood, names: Sequence[str]) -> str:
    """The middle of a neighbourhood, by feature."""
    return ", ".join(f"{name} = {x:.3g}" for name, x in zip(names, place.centre, strict=True))


def score_words(each: Assessment) -> str:
    """Which score range the bounds rest on."""
    (low, high), stated = used_range(each.run)
    bound = each.certificate.bound
    if not bound.holds:
        return f"No bound can be given: {'; '.join(bound.unmet)}."
    if stated:
        return f"Scores were stated to lie in [{low:g}, {high:g}]."
    return (
        f"No score range was stated, so the bounds use the one seen in this run, [{low:.4g}, "
        f"{high:.4g}]: for rounds to come they hold only while scores stay in it."
    )
