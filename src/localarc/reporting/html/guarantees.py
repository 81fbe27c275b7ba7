"""Guarantees: the bounds of a certificate, with the assumptions that are met or fail."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from html import escape
from typing import TYPE_CHECKING

from localarc.guarantees import Bound, Certificate
from localarc.measures.text import number
from localarc.reporting.assessment import (
    AnyCertificate,
    Assessment,
    coordinate,
    feature_names,
)
from localarc.reporting.format import describe_score_range, format_bound, omitted_groups
from localarc.reporting.html.markup import heading, paragraph, table
from localarc.streams import Stream

if TYPE_CHECKING:
    from localarc.betting import NodeCertificate, Place

_MAX_GROUPS = 50
_MAX_PLACES = 5
_MIN_WEIGHT = 200.0  # rounds: with fewer, a bound only excludes gross failures
_EXPLANATIONS = {
    "observed": "computed from this run, for any data",
    "theorem A": "from the range of the threshold",
    "theorem B": "from the growth of the threshold function",
    "theorem E": "from the bets on everyone, on groups and on places, for any base",
    "paper": "the bound in the paper, for comparison",
}


def guarantees(stream: Stream, assessment: Assessment) -> str:
    """Return the section on the distance of the risk of one method from its target."""
    certificate = assessment.certificate
    below, above = certificate.alpha, certificate.loss_bound - certificate.alpha
    largest = {"both": max(below, above), "above": above, "below": below}
    rows = "".join(_row(bound, largest[bound.side]) for bound in certificate.bounds)
    head = "".join(f"<th>{cell}</th>" for cell in ("bound", "risk - target", "assumes"))
    return (
        heading(assessment.run.name, 3)
        + paragraph(f"{_consistency(certificate)} {describe_score_range(assessment)}")
        + f'<div class="tables"><table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>'
        + "</div>"
        + _per_group(certificate)
        + _notes(certificate)
        + _per_place(stream, assessment)
    )


def _consistency(certificate: AnyCertificate) -> str:
    """Return the result of the consistency check."""
    if certificate.consistent:
        return "Consistency check passed: the losses account for the thresholds."
    return (
        "CONSISTENCY CHECK FAILED: the losses do not account for the thresholds. Updates were lost "
        "or repeated, and the bounds below are not valid."
    )


def _row(bound: Bound, largest: float) -> str:
    """Return the row of a bound; `largest` is the largest distance any risk can have."""
    explanation = next(
        (text for key, text in _EXPLANATIONS.items() if bound.name.startswith(key)), ""
    )
    name = f"{escape(bound.name)}<br><small>{explanation}</small>"
    assumes = escape("; ".join(bound.assumes))
    if bound.holds and bound.value >= largest:
        note = f"trivial: it is never further away than {largest:g}"
        value = f"{format_bound(bound)}<br><small>{note}</small>"
        return f"<tr><td>{name}</td><td>{value}</td><td>{assumes}</td></tr>"
    if bound.holds:
        return (
            f'<tr><td>{name}</td><td class="good">{format_bound(bound)}</td><td>{assumes}</td></tr>'
        )
    fails = escape("; ".join(bound.unmet))
    return (
        f'<tr><td>{name}</td><td class="bad">no guarantee</td>'
        f'<td>{assumes}<br><span class="bad">not met: {fails}</span></td></tr>'
    )


def _per_group(certificate: AnyCertificate) -> str:
    """Return the bounds per group, if the method promises something to each."""
    if not certificate.groups:
        return ""
    parts: Mapping[Hashable, Certificate | NodeCertificate] = certificate.groups
    groups = sorted(parts.items(), key=lambda item: -item[1].risk)
    rows = [
        [str(group), f"{part.rounds:,.0f}", f"{part.risk:.4f}", format_bound(part.bound)]
        for group, part in groups[:_MAX_GROUPS]
    ]
    left = len(groups) - len(rows)
    note = paragraph(f"{omitted_groups(left)}.", "soft") if left else ""
    return table(["group", "rounds", "risk", "bound of the group"], rows) + note


def _notes(certificate: AnyCertificate) -> str:
    """Return what happened where a table of nodes was full."""
    if isinstance(certificate, Certificate):
        return ""
    return "".join(paragraph(f"{note}.".capitalize(), "bad") for note in certificate.notes)


def _per_place(stream: Stream, assessment: Assessment) -> str:
    """Return the places of AutoLARC with the highest risk, and the bounds there."""
    if isinstance(assessment.certificate, Certificate) or not stream.X.shape[1]:
        return ""
    from localarc.calibrators.auto.guarded import GuardedCalibrator

    calibrator = assessment.run.calibrator
    assert isinstance(calibrator, GuardedCalibrator)
    places = calibrator.places(_MAX_PLACES, _MIN_WEIGHT)
    if not places:
        return ""
    names = feature_names(stream)
    rows = [
        [_around(place, names), f"{place.weight:,.0f}", f"{place.risk:.4f}", _at_most(place)]
        for place in places
    ]
    explanation = f"Places with at least {_MIN_WEIGHT:.0f} rounds, those with the highest risk:"
    return paragraph(explanation) + table(["place", "rounds", "risk", "guaranteed"], rows)


def _around(place: Place, names: Sequence[str]) -> str:
    """Return the range of each feature in which a place lies."""
    return ", ".join(
        f"{name} = {coordinate(centre)} ± {coordinate(width)}"
        for name, centre, width in zip(names, place.centre, place.width, strict=True)
        if centre is not None and width is not None
    )


def _at_most(place: Place) -> str:
    """Return the largest risk that theorem E allows at a place."""
    return f"at most {number(place.alpha + place.above.value)}" if place.above.holds else "nothing"
