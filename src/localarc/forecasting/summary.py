"""A summary in words: the verdict first, then every level, then what is pending."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from localarc.forecasting.certificate import BandsCertificate, Share
from localarc.guarantees.chance import is_too_early
from localarc.guarantees.verdict import State

_URGENCY: tuple[State, ...] = ("inconsistent", "not kept", "too early", "cautious", "kept")
_ROUNDING = 1e-9


def summarize(certificates: Sequence[BandsCertificate], what: str) -> str:
    """The summary of all levels; `what` is a round: "forecasts" or "paths"."""
    worst = min(certificates, key=lambda found: _URGENCY.index(found.verdict.state))
    lines = [worst.verdict.text]
    lines += [_level(found, what) for found in certificates]
    first = certificates[0]
    if first.uninformed:
        lines.append(
            f"{first.uninformed:,} {what} went out before enough outcomes were known: unbounded, "
            "not part of the promise"
        )
    lines.append(f"{first.pending:,} {what} of {len(first.series):,} series are pending")
    return "\n".join(lines)


def _level(found: BandsCertificate, what: str) -> str:
    name = f"{100.0 * found.coverage:g} %"
    if not found.rounds:
        return f"{name}: no outcome is known"
    text = f"{name}: missed {100.0 * found.risk:.3g} % of {found.rounds:,.0f} {what}"
    if found.times < found.rounds:
        text += f" (about {found.times:,.0f} independent)"
    text += f"; theorem E excludes {' and '.join(_excluded(found)) or 'nothing'}"
    share = found.times / found.rounds  # of rounds that are about outcomes of their own
    series = found.series if len(found.series) > 1 else {}
    parts = (
        _range("step", _shares(found.steps, share * len(found.steps)), found.alpha),
        _range("series", _shares(series, share), found.alpha),
        _range("hour", found.hours, found.alpha),
        _range("weekday", found.weekdays, found.alpha),
    )
    return "\n".join([text, *filter(None, parts)])


def _excluded(found: BandsCertificate) -> Iterator[str]:
    """The shares of misses that are impossible, where a bound says something."""
    most, least = found.alpha + found.above.value, found.alpha - found.below.value
    if found.above.holds and most < 1.0 - _ROUNDING:
        yield f"more than {100.0 * most:.3g} %"
    if found.below.holds and least > _ROUNDING:
        yield f"less than {100.0 * least:.3g} %"


def _shares(by: Mapping[Any, Any], share: float) -> dict[Any, Share]:
    """Those with rounds, a share of which is independent."""
    return {
        name: Share(part.rounds, part.risk, share * part.rounds)
        for name, part in by.items()
        if part.rounds
    }


def _range(kind: str, seen: Mapping[Any, Share], alpha: float) -> str:
    """The lowest and the highest of those with enough rounds, and how many have too few."""
    if not seen:
        return ""
    enough = {
        name: part.risk for name, part in seen.items() if not is_too_early(part.times, alpha, 1.0)
    }
    few = f"{len(seen) - len(enough):,} of {len(seen):,} with too few"
    if not enough:
        return f"  by {kind}: {few} to tell"
    worst = max(enough, key=lambda name: enough[name])
    return (
        f"  by {kind}: {100.0 * min(enough.values()):.3g} to {100.0 * enough[worst]:.3g} % "
        f"({worst}){f', {few}' if len(enough) < len(seen) else ''}"
    )
