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
        f"of all {status.rounds:,} rounds since the last acknowledgement it is {status.risk:.3g}, "
        f"of the last {status.recent_rounds:,} {status.recent_risk:.3g}"
    )
    if status.state == "broken":
        alarm = status.since_round - (total - status.rounds)
        which = f"the first {alarm:,} rounds"
    elif status.state == "drifting":
        which = f"a stretch of rounds up to round {status.since_round:,}"
    else:
        return f"The risk is not {above} by more than chance: {now}."
    return f"The risk of {which} was {above} ({100.0 * (1.0 - level):g} % confidence); {now}."


def stale(silence: float, median: float) -> str:
    """Feedback is overdue."""
    return f"No feedback for {_duration(silence)}; the usual interval is {_duration(median)}."


def _duration(seconds: float) -> str:
    """A length of time in its largest unit."""
    for unit, name in _UNITS:
        if seconds >= 2.0 * unit:
            return f"{seconds / unit:.3g} {name}"
    return f"{seconds:.2g} seconds"
