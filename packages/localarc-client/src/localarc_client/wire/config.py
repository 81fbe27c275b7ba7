"""The configuration of a stream, sent once when the stream is created."""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias, get_args, get_type_hints

import msgspec
from msgspec import Meta

from localarc_client.wire.fields import (
    LARGEST,
    MAX_FEATURES,
    MAX_SCORES,
    DefaultLoss,
    GroupName,
    Labels,
    Number,
    Request,
    Response,
    Retention,
    Timeout,
)


class KernelConfig(Request):
    """Kernel: how strongly a loss at one input moves the threshold at another.

    Parameters
    ----------
    kind : str, default "rbf"
        Formula, as in scikit-learn, of the distance d and the length scale s: "rbf"
        `exp(-d^2 / (2 s^2))`, "laplace" `exp(-d / s)`, "matern32", "matern52", "cauchy"
        `1 / (1 + d^2 / s^2)`, "triangular" (zero from distance s on) or "rational-quadratic"
        `(1 + d^2 / (2 shape s^2))^-shape`.
    length_scale : float or list of float, default 1.0
        Length scale in the units of the features, a positive length; a list has one per feature.
    scale : float, default 1.0
        Value of the kernel at distance zero.
    shape : float, optional
        Only for "rational-quadratic", where it defaults to 1.0.

    Examples
    --------
    >>> KernelConfig(length_scale=[0.5, 2.0]).kind
    'rbf'
    """

    kind: Literal[
        "rbf", "laplace", "matern32", "matern52", "cauchy", "triangular", "rational-quadratic"
    ] = "rbf"
    length_scale: Number | Annotated[list[Number], Meta(min_length=1, max_length=MAX_FEATURES)] = (
        1.0
    )
    scale: Number = 1.0
    shape: Number | None = None


class RateConfig(Request):
    """Step size of round t.

    Parameters
    ----------
    kind : str, default "inverse-sqrt"
        "inverse-sqrt" is `eta / sqrt(t)`, "power" `eta * t**(-exponent)`, "constant" `eta`.
    eta : float, default 1.0
        Step size of the first round, in units of the score.
    exponent : float, optional
        Only for "power", where it defaults to 0.5.

    Examples
    --------
    >>> RateConfig("power", eta=2.0, exponent=0.6).eta
    2.0
    """

    kind: Literal["inverse-sqrt", "power", "constant"] = "inverse-sqrt"
    eta: Number = 1.0
    exponent: Number | None = None


class AutoMemory(Request, tag="auto", tag_field="kind"):
    """Constant memory: a lattice for "rbf" with one or two features, else a dictionary.

    For method "auto" it is `NodesMemory()`.

    Examples
    --------
    >>> StreamConfig(alpha=0.1).memory
    AutoMemory()
    """


class LatticeMemory(Request, tag="lattice", tag_field="kind"):
    """Constant memory with a proven accuracy, for "rbf" with up to three features.

    Parameters
    ----------
    tolerance : float, default 1e-15
        Largest difference between the kernel used and the Gaussian, relative to its scale.
    max_bytes : int, default 2**26
        Limit of the memory, in bytes; beyond it, feedback is rejected.

    Examples
    --------
    >>> LatticeMemory(tolerance=1e-8).max_bytes
    67108864
    """

    tolerance: Number = 1e-15
    max_bytes: Annotated[int, Meta(ge=2**16, le=2**28)] = 2**26


class DictionaryMemory(Request, tag="dictionary", tag_field="kind"):
    """Bounded memory with a measured accuracy, for any kernel and number of features.

    Parameters
    ----------
    tolerance : float, default 1e-4
        Error of the local part over a whole run, in units of the score; measured, not proven.
    max_size : int, default 1024
        Largest number of stored points; beyond it the error grows instead of the memory.

    Examples
    --------
    >>> DictionaryMemory(max_size=256).tolerance
    0.0001
    """

    tolerance: Number = 1e-4
    max_size: Annotated[int, Meta(ge=1, le=8192)] = 1024


class KeepLastMemory(Request, tag="keep-last", tag_field="kind"):
    """The last m rounds, the paper's memory-limited variant.

    Parameters
    ----------
    m : int, default 1000
        Number of rounds that are kept.

    Examples
    --------
    >>> KeepLastMemory(500).m
    500
    """

    m: Annotated[int, Meta(ge=1, le=100_000)] = 1000


class KeepAllMemory(Request, tag="keep-all", tag_field="kind"):
    """Every round, exactly: memory, snapshots and time per round grow without limit.

    Examples
    --------
    >>> StreamConfig(0.1, KernelConfig(), features=1, memory=KeepAllMemory()).memory
    KeepAllMemory()
    """


class NodesMemory(Request, tag="nodes", tag_field="kind"):
    """The table of nodes of method "auto": places and groups, of bounded size.

    Parameters
    ----------
    max_bytes : int, default 9_000_000
        Limit of the table, in bytes; a full table drops idle nodes, and makes no others.

    Examples
    --------
    >>> NodesMemory(2**20).max_bytes
    1048576
    """

    max_bytes: Annotated[int, Meta(ge=2**16, le=2**26)] = 9_000_000


MemoryConfig: TypeAlias = (
    AutoMemory | LatticeMemory | DictionaryMemory | KeepLastMemory | KeepAllMemory | NodesMemory
)


class LabelSetConfig(Request, tag="labels", tag_field="kind"):
    """Prediction sets of labels: `scores` has one number per label.

    Parameters
    ----------
    labels : list of str, optional
        Names of the labels, in the order of `scores`. Without names, labels are positions from 0.
    score : str, default "score"
        What `scores` contains: "score" for scores, where lower is better; "probability" for
        probabilities, where the score of a label is minus its probability; "cumulative" for
        probabilities, where it is the total probability of all labels that are at least as likely.

    Examples
    --------
    >>> LabelSetConfig(["cat", "dog"], score="probability").labels
    ['cat', 'dog']
    """

    labels: Annotated[list[GroupName], Meta(min_length=1, max_length=MAX_SCORES)] | None = None
    score: Literal["score", "probability", "cumulative"] = "score"

    def __post_init__(self) -> None:
        """Reject equal names: a set could not tell such labels apart."""
        labels = self.labels or []
        if len(set(labels)) < len(labels):
            raise ValueError("labels must be unique: give each label its own name")


class IntervalConfig(Request, tag="interval", tag_field="kind"):
    """Prediction intervals: `scores` has one prediction, or a lower and an upper quantile.

    Examples
    --------
    >>> StreamConfig(alpha=0.1, set=IntervalConfig()).set
    IntervalConfig()
    """


class StreamConfig(Request):
    """Configuration of a stream. With `alpha` and `features` alone it is AutoLARC.

    Parameters
    ----------
    alpha : float
        Target risk: the long-run average loss you accept, between 0 and `loss_bound`.
    kernel : KernelConfig, optional
        With a kernel the calibrator is L-ARC, a threshold function of the input.
    features : int, default 0
        Number of features of an input; at least 1 with a kernel.
    rate : float or RateConfig, default 1.0
        Step size, in units of the score; a number eta means `eta / sqrt(t)`. Not for "auto".
    regularization : float, default 1e-4
        lambda in the paper: the local part shrinks by `1 - rate * regularization` in every round;
        only for "larc".
    loss_bound : float, default 1.0
        Largest possible loss.
    score_range : tuple of float, optional
        Smallest and largest possible score; the bounds that hold in advance require it.
    initial_threshold : float, optional
        Threshold before the first loss, in units of the score. Default: 0; for method "auto"
        infinite, which is the full set, until enough scores are known.
    memory : AutoMemory, LatticeMemory, DictionaryMemory, KeepLastMemory, KeepAllMemory, NodesMemory
        What the local part stores; requires a kernel, or method "auto" or "gate" for `NodesMemory`.
        Default: `AutoMemory()`.
    clip : float, optional
        Largest absolute value of the local part of a threshold, in units of the score; requires a
        kernel.
    set : LabelSetConfig or IntervalConfig, optional
        The kind of prediction set to return when a prediction comes with `scores`.
    timeout : float, optional
        Seconds after which a pending prediction expires; without it, predictions never expire.
    default_loss : float, optional
        Loss that is used for an expired prediction; without it, an expired prediction has no
        effect on the threshold.
    retain : int, default 4096
        Number of answered predictions to remember, so that repeated requests get the same response.
    method : str, optional
        "auto" for AutoLARC, which has nothing to tune and learns from losses with scores; "larc"
        for L-ARC, which requires a kernel; "arc" for one threshold; "mondrian" for one threshold
        per group; "gate" to decide which answers may go out, with `alpha` for the share of wrong
        ones. Default: "larc" with a kernel, else "auto".
    floor : float, optional
        Lowest useful threshold, in units of the score, for streams in which some rounds cannot
        fail; the guarantee is then one-sided. For "auto", see `limits`.
    limits : tuple of two float or None, default (None, None)
        Only for "auto": thresholds that are never crossed, below and above, in units of the score.
    promise : str, default "both"
        Only for "auto": "both" keeps the risk near `alpha` from both sides, "at most" from above.
    evenness : float, default 1.0
        Only for "auto": how strongly places are evened out; more makes sets larger.
    unit : float, optional
        Only for "auto": a typical difference between scores, for losses that come without scores.
    feature_names : list of str, optional
        Names of the features, in the order of `x`, for people who look at the stream.
    tolerance : float, optional
        How far the risk may be above `alpha` before the stream counts as drifting or broken, in
        units of the loss. Default: 2 % of `loss_bound`, at most half of what is above `alpha`.
    window : int, default 1000
        How many of the latest losses show whether the stream drifts.
    stale_after : float, default 900.0
        Seconds without a loss before the stream can be stale; ten times the usual interval is
        required as well.
    labels : dict of str to str, default {}
        What people say about the stream, such as `{"team": "pricing"}`; at most 16. The list of
        streams can be filtered by them.
    retention : float, optional
        Seconds, at least 60, after which stored events and answered predictions are removed, at
        most a tenth of it later; without it, `retain` and the size of the log limit them.

    Examples
    --------
    >>> config = StreamConfig(alpha=0.1, kernel=KernelConfig(length_scale=0.5), features=2)
    >>> config.memory
    AutoMemory()
    """

    alpha: Number
    kernel: KernelConfig | None = None
    features: Annotated[int, Meta(ge=0, le=MAX_FEATURES)] = 0
    rate: Number | RateConfig = 1.0
    regularization: Number = 1e-4
    loss_bound: Number = 1.0
    score_range: tuple[Number, Number] | None = None
    initial_threshold: Number | None = None
    memory: MemoryConfig = msgspec.field(default_factory=AutoMemory)
    clip: Number | None = None
    set: LabelSetConfig | IntervalConfig | None = None
    timeout: Timeout | None = None
    default_loss: DefaultLoss | None = None
    retain: Annotated[int, Meta(ge=0, le=100_000)] = 4096
    method: Literal["arc", "larc", "mondrian", "auto", "gate"] | None = None
    floor: Number | None = None
    limits: tuple[Number | None, Number | None] = (None, None)
    promise: Literal["both", "at most"] = "both"
    evenness: Number = 1.0
    unit: Number | None = None
    feature_names: Annotated[list[GroupName], Meta(max_length=MAX_FEATURES)] | None = None
    tolerance: Annotated[float, Meta(ge=0, le=LARGEST)] | None = None
    window: Annotated[int, Meta(ge=10, le=1_000_000)] = 1000
    stale_after: Annotated[float, Meta(ge=0, le=LARGEST)] = 900.0
    labels: Labels = msgspec.field(default_factory=dict)
    retention: Retention | None = None


class CreateResponse(Response):
    """A stream and its configuration.

    Attributes
    ----------
    stream : str
        Name of the stream.
    config : StreamConfig
        Its configuration, with every default filled in.

    Examples
    --------
    >>> CreateResponse("demand", StreamConfig(alpha=0.1)).config.alpha
    0.1
    """

    stream: str
    config: StreamConfig


def _literal_values(kind: type[Request], field: str) -> tuple[str, ...]:
    return get_args(get_type_hints(kind)[field])


_METHODS: tuple[str, ...] = get_args(get_args(get_type_hints(StreamConfig)["method"])[0])

VALID_NAMES: dict[str, tuple[str, ...]] = {
    "$": StreamConfig.__struct_fields__,
    "$.kernel": KernelConfig.__struct_fields__,
    "$.kernel.kind": _literal_values(KernelConfig, "kind"),
    "$.rate": RateConfig.__struct_fields__,
    "$.rate.kind": _literal_values(RateConfig, "kind"),
    "$.memory.kind": tuple(str(kind.__struct_config__.tag) for kind in get_args(MemoryConfig)),
    "$.set.kind": tuple(
        str(kind.__struct_config__.tag) for kind in (LabelSetConfig, IntervalConfig)
    ),
    "$.set.score": _literal_values(LabelSetConfig, "score"),
    "$.method": _METHODS,
    "$.promise": _literal_values(StreamConfig, "promise"),
}
"""Valid fields or values by path in a config; error messages list them."""
