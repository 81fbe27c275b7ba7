"""Format bounds and score ranges, for the report and the console."""

from __future__ import annotations

from localarc.guarantees import Bound, Certificate
from localarc.measures.text import number
from localarc.reporting.assessment import AnyCertificate, Assessment, effective_score_range

_SIGNS = {"both": "±", "above": "+", "below": "-"}


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
