"""Read-only responses: the status of streams and of the service."""

from __future__ import annotations

from typing import Literal

import msgspec

from localarc_client.wire.config import StreamConfig
from localarc_client.wire.fields import Response
from localarc_client.wire.health import Health
from localarc_client.wire.infinite import Extended, mark
from localarc_client.wire.quarantine import QuarantinedStream

__all__ = [
    "AcknowledgeResponse",
    "Alive",
    "BoundStatus",
    "CertificateStatus",
    "FeatureRange",
    "GroupRisk",
    "History",
    "HistoryPoint",
    "ImportResponse",
    "Ready",
    "StatusCounts",
    "StreamList",
    "StreamListItem",
    "StreamSummary",
    "ThresholdMap",
    "VerdictStatus",
]


class VerdictStatus(Response):
    """Whether a stream meets its target.

    Attributes
    ----------
    state : str
        "kept", "cautious" (the risk is below the target by more than chance), "not kept", "too
        early" (too few rounds to tell) or "inconsistent" (the consistency check failed).
    text : str
        One sentence, which leads with the worst group if it is above the target by more than
        chance, else with the risk.

    Examples
    --------
    >>> VerdictStatus("not kept", "City misses 46 %, target 10 %.").state
    'not kept'
    """

    state: Literal["kept", "cautious", "not kept", "too early", "inconsistent"]
    text: str


class StreamListItem(Response):
    """One stream in the list of all streams.

    Attributes
    ----------
    stream : str
        Name of the stream.
    seq, rounds, risk, target, pending, expired, late, memory_bytes, consistent, verdict, warnings
        As in `StreamSummary`.
    health : Health
        As in `StreamSummary`.
    labels : dict of str to str
        As in a config.

    Examples
    --------
    >>> verdict = VerdictStatus("too early", "Too early to tell.")
    >>> health = Health("ok", 0.0, 0, "Fine.", 1, 1.0, 1.0, 0.0, 0.1, 0.02, 1000)
    >>> StreamListItem("demand", 3, 1, 1.0, 0.1, 1, 0, 0, 29344, True, verdict, [], health).pending
    1
    """

    stream: str
    seq: int
    rounds: int
    risk: float | None
    target: float
    pending: int
    expired: int
    late: int
    memory_bytes: int
    consistent: bool
    verdict: VerdictStatus
    warnings: list[str]
    health: Health
    labels: dict[str, str] = msgspec.field(default_factory=dict)


class StatusCounts(Response):
    """How many streams have each status.

    Attributes
    ----------
    broken, drifting, stale, recovered, ok : int
        Number of streams whose `health` has this status. A stream whose consistency check fails
        counts as broken.

    Examples
    --------
    >>> StatusCounts(broken=1, ok=2).drifting
    0
    """

    broken: int = 0
    drifting: int = 0
    stale: int = 0
    recovered: int = 0
    ok: int = 0


class StreamList(Response):
    """Streams, all of them or a page of those that match.

    Attributes
    ----------
    streams : list of StreamListItem
        One item per stream, in the order that was requested.
    found : int
        Number of streams that match, on all pages.
    first : int
        Position of the first item among these, from 0.
    statuses : StatusCounts
        How many streams with the text in their names, and the labels, have each status.
    previous, next : str or None
        The `cursor` of the page before and after this one; None where there is none.
    quarantined : list of QuarantinedStream
        Streams that are not served, because their stored data is damaged, sorted by name.

    Examples
    --------
    >>> StreamList([]).next is None
    True
    """

    streams: list[StreamListItem]
    quarantined: list[QuarantinedStream] = msgspec.field(default_factory=list)
    found: int = 0
    first: int = 0
    statuses: StatusCounts = msgspec.field(default_factory=StatusCounts)
    previous: str | None = None
    next: str | None = None


class BoundStatus(Response):
    """A bound `|risk - target| <= value`, or one side of it.

    Attributes
    ----------
    name : str
        Name of the bound.
    value : float or None
        Its value, in units of the loss; None if it is infinite.
    holds : bool
        Whether it holds: false if an assumption is not met.
    assumes : list of str
        Its assumptions.
    unmet : list of str
        Those that are not met.
    side : str
        "both"; "above" if only `risk - target <= value` is guaranteed, "below" if only
        `target - risk <= value` is.

    Examples
    --------
    >>> BoundStatus("theorem A", 0.05, True, ["scores lie in the range"], []).value
    0.05
    """

    name: str
    value: float | None
    holds: bool
    assumes: list[str]
    unmet: list[str]
    side: Literal["both", "above", "below"] = "both"

    @property
    def one_sided(self) -> bool:
        """Whether one side only is guaranteed."""
        return self.side != "both"

    def __str__(self) -> str:
        if not self.holds or self.value is None:
            return f"{self.name}: no guarantee"
        if self.side == "both":
            return f"{self.name}: within {self.value:.4g} of the target"
        return f"{self.name}: at most {self.value:.4g} {self.side} the target"


class CertificateStatus(Response):
    """The consistency check, and bounds on the difference between risk and target.

    Attributes
    ----------
    consistent : bool
        Whether the consistency check passes: the accumulated steps of the threshold equal the
        accumulated excess of the losses that the service counted.
    consistency_gap : float
        Difference between the two sides of this identity, in units of the loss.
    replay_differs : int
        Number of thresholds that differed, in any bit, when the stored events were replayed.
    max_pending : int
        Largest number of other predictions that were pending when a prediction was made; the
        bounds allow for it.
    bound : BoundStatus
        The best bound that holds in advance; for method "auto", theorem E's bound so far.
    tightest : BoundStatus or None
        The tightest of all bounds that hold, if one does.
    bounds : list of BoundStatus
        All bounds, the tightest first.
    max_delay : float
        Longest time between a prediction and its loss, in seconds, since the service counts it.
    lateness_known : bool
        Whether the service counted `max_pending` in all rounds. It did not in those of an imported
        state: that there were no more is then one of the assumptions of methods "arc" and "larc".
        The others count by ticket, which a state contains.

    Examples
    --------
    >>> bound = BoundStatus("observed", 0.05, True, [], [])
    >>> CertificateStatus(True, 0.0, 0, 1, bound, bound, [bound]).consistent
    True
    """

    consistent: bool
    consistency_gap: float
    replay_differs: int
    max_pending: int
    bound: BoundStatus
    tightest: BoundStatus | None
    bounds: list[BoundStatus]
    max_delay: float = 0.0
    lateness_known: bool = False


class GroupRisk(Response):
    """The risk of one group.

    Attributes
    ----------
    group : str
        Name of the group.
    rounds : int
        Number of losses in the group.
    risk : float
        Mean of these losses.
    above, below : float or None
        How far the risk of the group can be above and below the target; None where nothing is
        guaranteed. Methods "auto" and "mondrian" guarantee it for each group.
    max_pending : int or None
        Largest number of other predictions of the group that were pending when one was made; its
        guarantee allows for it. Only method "mondrian" counts it.

    Examples
    --------
    >>> GroupRisk("weekend", rounds=20, risk=0.1).risk
    0.1
    """

    group: str
    rounds: int
    risk: float
    above: float | None = None
    below: float | None = None
    max_pending: int | None = None


class FeatureRange(Response):
    """Range and mean of one feature over all predictions, in units of the feature.

    Attributes
    ----------
    low, high, mean : float
        Smallest and largest value, and the mean.

    Examples
    --------
    >>> FeatureRange(low=0.0, high=1.0, mean=0.4).mean
    0.4
    """

    low: float
    high: float
    mean: float


class StreamSummary(Response):
    """Status of a stream.

    Attributes
    ----------
    stream : str
        Name of the stream.
    config : AutoConfig, LarcConfig, ArcConfig, MondrianConfig or GateConfig
        Its configuration, with every default filled in.
    created : float
        Time of its creation, in seconds since 1970.
    seq : int
        Position of its latest change.
    predictions : int
        Number of predictions made.
    rounds : int
        Number of losses learned from.
    risk : float or None
        Mean of these losses; None before the first one.
    target : float
        Target risk, the config's `alpha`.
    consistent : bool
        Whether the consistency check passes; a stream that fails it rejects writes.
    verdict : VerdictStatus
        Whether the target is met, overall and in every group.
    warnings : list of str
        What goes wrong without an error, each with the number to change and a value to try.
    certificate : CertificateStatus
        The consistency check, and bounds on the difference between risk and target.
    groups : list of GroupRisk
        Risk of each group that has a loss, sorted by name.
    pending : int
        Number of predictions that wait for feedback.
    oldest_pending : float or None
        When the oldest of them was made, in seconds since 1970.
    expired : int
        Number of predictions that expired.
    late : int
        Number of losses that arrived after the loss of a newer prediction.
    uninformed : int
        Number of losses of predictions that were made before anything was known. They are not shown
        to the monitors, and with method "auto" are no part of `risk` and of the promise.
    memory : str
        What the calibrator remembers of places: the memory of the local part of L-ARC, or the
        table of nodes of method "auto"; "none" for one threshold per stream or group.
    memory_bytes : int
        Its size, in bytes.
    features : list of FeatureRange
        One item per feature; empty before the first prediction.
    health : Health
        The worst of all rounds and of each group: `health.group` says which it is.
    overall : Health
        The health of all rounds.
    groups_health : list of Health
        The health of each group that has a loss, the worst first.
    groups_left_out : int
        How many groups `groups_health` does not list.

    Examples
    --------
    >>> StreamSummary.__struct_fields__[:3]
    ('stream', 'config', 'created')
    """

    stream: str
    config: StreamConfig
    created: float
    seq: int
    predictions: int
    rounds: int
    risk: float | None
    target: float
    consistent: bool
    verdict: VerdictStatus
    warnings: list[str]
    certificate: CertificateStatus
    groups: list[GroupRisk]
    pending: int
    oldest_pending: float | None
    expired: int
    late: int
    memory: str
    memory_bytes: int
    features: list[FeatureRange]
    health: Health
    overall: Health
    groups_health: list[Health]
    groups_left_out: int
    uninformed: int = 0


class HistoryPoint(Response, array_like=True):
    """One point of the history: the stream after some round; in JSON an array, in this order.

    Attributes
    ----------
    rounds : int
        Number of losses learned from at this point.
    at : float
        Time of the last of them, in seconds since 1970.
    risk : float
        Mean of these losses.
    threshold : float
        Threshold of the prediction whose loss arrived, in units of the score.
    size : float or None
        Size of the prediction set, if scores were sent: a number of labels, or a width.
    bound : float or None
        Best bound on `|risk - target|` that holds in advance, if there is one.
    observed : float or None
        Bound on `|risk - target|` that the thresholds so far prove, if there is one.
    pending, late, expired : int
        As in `StreamSummary`, at this point.

    Examples
    --------
    >>> HistoryPoint(1, 0.0, 1.0, 0.5, None, None, 0.9, 0, 0, 0).observed
    0.9
    """

    rounds: int
    at: float
    risk: float
    threshold: Extended
    size: Extended | None
    bound: float | None
    observed: float | None
    pending: int
    late: int
    expired: int

    def __post_init__(self) -> None:
        """JSON has no infinity."""
        mark(self, "threshold", "size")


class History(Response):
    """The history of a stream, downsampled to about a thousand points.

    Attributes
    ----------
    stream : str
        Name of the stream.
    seq : int
        Position of its latest change.
    target : float
        Target risk, the config's `alpha`.
    stride : int
        There is one point per `stride` rounds, a power of two.
    points : list of HistoryPoint
        The points, oldest first.

    Examples
    --------
    >>> History("demand", seq=0, target=0.1, stride=1, points=[]).points
    []
    """

    stream: str
    seq: int
    target: float
    stride: int
    points: list[HistoryPoint]


class ThresholdMap(Response):
    """The current threshold as a function of one or two features; the others are at their means.

    Attributes
    ----------
    stream : str
        Name of the stream.
    seq : int
        Position of its latest change.
    rounds : int
        Number of losses learned from.
    first : int
        Index of the first feature, from 0.
    second : int or None
        Index of the second feature, if there is one.
    first_values, second_values : list of float
        Values of the two features, in units of the feature, from the smallest to the largest one
        seen. `second_values` is empty without a second feature.
    others : list of float
        Mean of every feature.
    thresholds : list of list of float
        One row per second value, or a single row; one column per first value.

    Examples
    --------
    >>> ThresholdMap("s", 2, 1, 0, None, [0.0, 1.0], [], [0.5], [[0.4, 0.6]]).thresholds
    [[0.4, 0.6]]
    """

    stream: str
    seq: int
    rounds: int
    first: int
    second: int | None
    first_values: list[float]
    second_values: list[float]
    others: list[float]
    thresholds: list[list[float]]


class ImportResponse(Response):
    """Confirmation that a state was imported.

    Attributes
    ----------
    seq : int
        Position of the import in the stream.
    rounds : int
        Number of losses that the imported state has learned from.

    Examples
    --------
    >>> ImportResponse(seq=3, rounds=2).rounds
    2
    """

    seq: int
    rounds: int


class AcknowledgeResponse(Response):
    """Confirmation that the evidence about a stream and its groups starts anew.

    Attributes
    ----------
    seq : int
        Position of the acknowledgement in the stream.
    health : Health
        The health of all rounds after it.

    Examples
    --------
    >>> health = Health("ok", 0.0, 90, "No feedback yet.", 0, None, None, None, 0.1, 0.02, 1000)
    >>> AcknowledgeResponse(10, health).health.status
    'ok'
    """

    seq: int
    health: Health


class Alive(Response):
    """The process is alive.

    Attributes
    ----------
    alive : bool
        Always true.

    Examples
    --------
    >>> Alive(True)
    Alive(alive=True)
    """

    alive: bool


class Ready(Response):
    """Whether the service accepts requests.

    Attributes
    ----------
    ready : bool
        Whether it does.
    detail : str
        If not, why.
    streams : int
        Number of streams.
    read_only : int
        Number of streams that reject writes: inconsistent, or not storable.
    quarantined : int
        Number of streams that are not served because their stored data is damaged.

    Examples
    --------
    >>> Ready(False, "replaying.", streams=0, read_only=0).detail
    'replaying.'
    """

    ready: bool
    detail: str
    streams: int
    read_only: int
    quarantined: int = 0
