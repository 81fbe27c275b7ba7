"""Why a stream is in its state: one sentence with figures."""

from __future__ import annotations

from localarc.monitoring.settings import Settings

_UNITS = ((86_400.0, "days"), (3_600.0, "hours"), (60.0, "minutes"), (1.0, "seconds"))


def ok(settings: Settings, rounds: int, risk: float, recent: tuple[int, float]) -> str:
    """Neither all nor recent rounds speak against the promise."""
    return (
        f"The risk of {rounds:,} rounds is {risk:.3g}, that of the last {recent[0]:,} is "
        f"{recent[1]:.3g}; neither is above {limit(settings)} by more than chance."
    )


def drifting(settings: Settings, since_round: int, recent: tuple[int, float]) -> str:
    """Rounds up to an alarm had too high a risk."""
    return (
        f"The risk was above {limit(settings)} in rounds up to round {since_round:,} "
        f"({confidence(settings)}); over the last {recent[0]:,} rounds it is {recent[1]:.3g}."
    )


def broken(settings: Settings, alarm: int, rounds: int, risk: float, at_least: float) -> str:
    """All rounds up to an alarm together had too high a risk."""
    return (
        f"The risk of the first {alarm:,} rounds since the last acknowledgement was above "
        f"{limit(settings)} ({confidence(settings)}); of all {rounds:,} it is {risk:.3g}, "
        f"at least {at_least:.3g}."
    )


def stale(silence: float, median: float) -> str:
    """Feedback is overdue."""
    return f"No feedback for {duration(silence)}; the usual interval is {duration(median)}."


def limit(settings: Settings) -> str:
    """The limit and its parts."""
    return f"{settings.limit:.4g} (target {settings.target:g} + tolerance {settings.tolerance:g})"


def confidence(settings: Settings) -> str:
    """The confidence of one kind of alarm."""
    return f"{100.0 * (1.0 - 0.5 * settings.level):g} % confidence"


def duration(seconds: float) -> str:
    """A length of time in its largest unit."""
    for unit, name in _UNITS:
        if seconds >= 2.0 * unit:
            return f"{seconds / unit:.3g} {name}"
    return f"{seconds:.2g} seconds"
