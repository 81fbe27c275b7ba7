"""Health: whether a stream keeps its promise now, for whoever is on call."""

from __future__ import annotations

from typing import Literal, TypeAlias

from localarc_client.wire.fields import Response

Status: TypeAlias = Literal["ok", "drifting", "broken", "recovered", "stale"]


class Health(Response):
    """Whether the risk of a stream, or of one of its groups, is near its target.

    The evidence is anytime-valid: you can check it after every round without raising the
    false-alarm rate.

    Attributes
    ----------
    status : str
        "broken": the risk since the last acknowledgement or recovery is above `target + tolerance`,
        by more than chance. "recovered": it was broken, and the risk of a stretch of rounds up to
        `since_round` was below, by more than chance; it stays until it is acknowledged.
        "drifting": the risk of the latest rounds is above. "stale": no loss arrived for ten times
        the usual interval, and for the config's `stale_after` at least. Else "ok".
    since : float or None
        When the status changed to this one, in seconds since 1970; None before the first loss.
    since_round : int
        Number of losses at that time.
    why : str
        The reason, in a sentence with numbers.
    rounds : int
        Number of losses since the last acknowledgement or recovery.
    risk : float or None
        Mean of these losses; None without any.
    recent_risk : float or None
        Mean of the latest losses, about `window` of them.
    at_least : float or None
        Lower confidence limit of the risk over these losses.
    target, tolerance : float
        Target risk, and how far above it a risk is tolerated.
    window : int
        How many rounds count as the latest ones.
    group : str or None
        The group that this is about; None for all rounds of the stream.

    Examples
    --------
    >>> why = "The latest 1,000 losses have a mean of at least 0.13, above 0.12."
    >>> Health("drifting", 0.0, 2500, why, 3000, 0.11, 0.15, 0.1, 0.1, 0.02, 1000).status
    'drifting'
    """

    status: Status
    since: float | None
    since_round: int
    why: str
    rounds: int
    risk: float | None
    recent_risk: float | None
    at_least: float | None
    target: float
    tolerance: float
    window: int
    group: str | None = None
