"""Why a stream has its status: one sentence with figures."""

from __future__ import annotations

from localarc.monitoring.health import Health, Moment

_UNITS = ((86_400.0, "days"), (3_600.0, "hours"), (60.0, "minutes"), (1.0, "seconds"))


def risk(health: Health, level: float, total: int, recovered: Moment | None) -> str:
    """What the figures say; each kind of alarm has half of the level."""
    start = "the last acknowledgement" if recovered is None else "the recovery"
    limit = f"{health.target + health.tolerance:.4g}"
    above = f"above {limit}"
    if health.risk is None or health.recent_risk is None:
        now = f"No feedback since {start}"
    else:
        now = (
            f"it is {health.risk:.3g} over all {health.rounds:,} rounds since {start} and "
            f"{health.recent_risk:.3g} over the last {health.recent_rounds:,}"
        )
    if health.status == "recovered":
        return (
            f"The risk was {above}; that of a stretch of rounds up to round "
            f"{health.since_round:,} was below ({_percent(level)} confidence). "
            f"{now[0].upper()}{now[1:]}."
        )
    if health.risk is None:
        return f"{now}."
    if health.status == "broken":
        which = f"the first {health.since_round - (total - health.rounds):,} rounds"
        if recovered is not None:
            which += " since the recovery"
    elif health.status == "drifting":
        which = f"a stretch of rounds up to round {health.since_round:,}"
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
