"""Why a stream is in its state: one sentence with figures."""

from __future__ import annotations

from localarc.monitoring.status import Status

_UNITS = ((86_400.0, "days"), (3_600.0, "hours"), (60.0, "minutes"), (1.0, "seconds"))


def risk(status: Status, level: float, total: int) -> str:
    """What the figures of a status say; an alarm of its kind has this level."""
    if status.risk is None or status.recent_risk is None:
        return "No feedback since the last acknowledgement."
    above = f"above {status.target + status.tolerance:.4g}"
    now = (
        f"{status.risk:.3g} over all {status.rounds:,} rounds since the last acknowledgement and "
        f"{status.recent_risk:.3g} over the last {status.recent_rounds:,}"
    )
    if status.state == "broken":
        which = f"the first {status.since_round - (total - status.rounds):,} rounds"
    elif status.state == "drifting":
        which = f"a stretch of rounds up to round {status.since_round:,}"
    else:
        return f"The risk is not {above} by more than chance: it is {now}."
    confidence = f"{100.0 * (1.0 - level):g} % confidence"
    return f"The risk of {which} was {above} ({confidence}); it is {now}."


def stale(silence: float, median: float) -> str:
    """Feedback is overdue."""
    return f"No feedback for {_duration(silence)}; the usual interval is {_duration(median)}."


def _duration(seconds: float) -> str:
    """A length of time in its largest unit."""
    for unit, name in _UNITS:
        if seconds >= 2.0 * unit:
            count = seconds / unit
            return f"{count:,.0f} {name}" if count >= 100.0 else f"{count:.3g} {name}"
    return f"{seconds:.2g} seconds"
