"""The promise: the certificate in words, with the assumptions that it rests on or that fail."""

from __future__ import annotations

from html import escape

from localarc.guarantees import Bound, Certificate
from localarc.reporting.assessment import Assessment
from localarc.reporting.format import number, promised, score_words
from localarc.reporting.html.markup import heading, paragraph, table

_MOST_GROUPS = 50
_WORDS = {
    "observed": "from how far the threshold went in this run, whatever the data were",
    "theorem A": "from how far the threshold can go",
    "theorem B": "from how fast the threshold function can grow",
    "paper": "the bound published with the method, for comparison",
}


def promise(each: Assessment) -> str:
    """What can be said about the distance of the risk from its target."""
    certificate = each.certificate
    furthest = max(certificate.alpha, each.run.calibrator.loss_bound - certificate.alpha)
    rows = "".join(_row(bound, furthest) for bound in _bounds(certificate))
    head = "".join(f"<th>{cell}</th>" for cell in ("bound", "|risk - target| ≤", "rests on"))
    return (
        heading(each.run.name, 3)
        + paragraph(f"{_identity(certificate)} {score_words(each)}")
        + f'<div class="tables"><table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>'
        + "</div>"
        + _by_group(certificate)
    )


def _identity(certificate: Certificate) -> str:
    if certificate.identity_holds:
        return "The identity that ties the record's losses to the trace of thresholds holds."
    return (
        "THE IDENTITY THAT TIES LOSSES TO THRESHOLDS IS BROKEN: updates were lost or doubled, and "
        "nothing below can be relied on."
    )


def _bounds(certificate: Certificate) -> tuple[Bound, ...]:
    return certificate.observed, certificate.theorem_a, certificate.theorem_b, certificate.paper


def _row(bound: Bound, furthest: float) -> str:
    """A bound, its value and what it rests on; `furthest` is how far any risk can be off."""
    words = next((text for key, text in _WORDS.items() if bound.name.startswith(key)), "")
    name = f"{escape(bound.name)}<br><small>{words}</small>"
    rests = escape("; ".join(bound.assumes))
    if bound.holds and bound.value >= furthest:
        says = f"{number(bound.value)}<br><small>no risk is further off than {furthest:g}</small>"
        return f"<tr><td>{name}</td><td>{says}</td><td>{rests}</td></tr>"
    if bound.holds:
        return (
            f'<tr><td>{name}</td><td class="good">{number(bound.value)}</td><td>{rests}</td></tr>'
        )
    fails = escape("; ".join(bound.unmet))
    return (
        f'<tr><td>{name}</td><td class="bad">no promise</td>'
        f'<td>{rests}<br><span class="bad">fails: {fails}</span></td></tr>'
    )


def _by_group(certificate: Certificate) -> str:
    """Each group has a promise of its own where each has its own calibrator."""
    if not certificate.groups:
        return ""
    groups = sorted(certificate.groups.items(), key=lambda item: -item[1].risk)
    rows = [
        [str(group), f"{part.rounds:,}", f"{part.risk:.4f}", promised(part.bound)]
        for group, part in groups[:_MOST_GROUPS]
    ]
    left = len(groups) - len(rows)
    note = paragraph(f"{left} groups of lower risk are left out.", "soft") if left else ""
    return table(["group", "rounds", "risk", "bound of its own"], rows) + note
