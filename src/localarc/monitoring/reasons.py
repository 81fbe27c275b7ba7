"""Why a stream is in its state: one sentence with figures."""

from __future__ import annotations

from localarc.monitoring.status import Moment, Status

_UNITS = ((86_400.0, "days"), (3_600.0, "hours"), (60.0, "minutes"), (1.0, "seconds"))


def risk(status: Status, level: float, total: int, recovered: Moment | None) -> str:
    """What the figures of a status say; each kind of alarm has half of the level."""
    start = "the last acknowledgement" if recovered is None else "the recovery"
    limit = f"{status.target + status.tolerance:.4g}"
    above = f"above {limit}"
    if status.risk is None or status.recent_risk is None:
        now = f"No feedback since {start}"
    else:
        now = (
            f"it is {status.risk:.3g} over all {status.rounds:,} rounds since {start} and "
            f"{status.recent_risk:.3g} over the last {status.recent_rounds:,}"
        )
    if status.state == "recovered":
        return (
            f"The risk was {above}; that of a stretch of rounds up to round "
            f"{status.since_round:,} was below ({_percent(level)} confidence). "
            f"{now[0].upper()}{now[1:]}."
        )
    if status.risk is None:
        return f"{now}."
    if status.state == "broken":
        which = f"the first {status.since_round - (total - status.rounds):,} rounds"
        if recovered is not None:
            which += " since the recovery"
    elif status.state == "drifting":
        which = f"a stretch of rounds up to round {status.since_round:,}"
    else:
        return f"The risk is not {above} by more than chance: {now}."
    return f"The risk of {which} was {above} ({_percent(0.5 * level)} confidence); {now}."


def _percent(level: float) -> str:
    """The confidence of a statement with an error of this level."""
    return f"{100.0 * (1.0 - level):g} %"


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
