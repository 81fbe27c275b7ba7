"""A summary in words: the verdict first, then every level, then what is pending."""

from __future__ import annotations

from collections.abc import Sequence

from localarc.forecasting.certificate import BandsCertificate
from localarc.guarantees.verdict import State

_URGENCY: tuple[State, ...] = ("inconsistent", "not kept", "too early", "cautious", "kept")


def summarize(certificates: Sequence[BandsCertificate], what: str) -> str:
    """The summary of all levels; `what` is a round: "forecasts" or "paths"."""
    worst = min(certificates, key=lambda found: _URGENCY.index(found.verdict.state))
    lines = [worst.verdict.text]
    lines += [_level(found, what) for found in certificates]
    first = certificates[0]
    lines.append(f"{first.pending:,} {what} of {len(first.series):,} series are pending")
    return "\n".join(lines)


def _level(found: BandsCertificate, what: str) -> str:
    name = f"{100.0 * found.coverage:g} %"
    if not found.rounds:
        return f"{name}: no outcome is known"
    most, least = found.alpha + found.above.value, max(0.0, found.alpha - found.below.value)
    text = (
        f"{name}: missed {100.0 * found.risk:.3g} % of {found.rounds:,.0f} {what}; theorem E "
        f"excludes more than {100.0 * most:.3g} % and less than {100.0 * least:.3g} %"
    )
    risks = [step.risk for step in found.steps.values() if step.rounds]
    if risks:
        text += f"; by step {100.0 * min(risks):.3g} to {100.0 * max(risks):.3g} %"
    return text
