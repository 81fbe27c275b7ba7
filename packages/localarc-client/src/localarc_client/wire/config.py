"""The config of a stream, sent once when the stream is created: one class per method.

A class has the fields that apply to its method, and no others. What a service stores is the config
with its defaults filled in, so that these classes are part of the stored format, too.
"""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal, TypeAlias, get_args

import msgspec
from msgspec import Meta

from localarc_client.wire.config_parts import (
    KernelConfig,
    LarcMemory,
    NodesMemory,
    RateConfig,
    SetConfig,
)
from localarc_client.wire.fields import (
    LARGEST,
    MAX_FEATURES,
    DefaultLoss,
    GroupName,
    Labels,
    Number,
    Request,
    Response,
    Retention,
    Timeout,
)


class CommonConfig(Request, tag_field="method"):
    """What the configs of all methods have.

    Parameters
    ----------
    alpha : float
        Target risk: the long-run average loss you accept, between 0 and `loss_bound`.
    features : int, default 0
        Number of features of an input.
    timeout : float, optional
        Seconds after which a pending prediction expires; without it, predictions never expire.
    default_loss : float, optional
        Loss that is used for an expired prediction; without it, an expired prediction has no
        effect on the threshold.
    retain : int, default 4096
        Number of answered predictions to remember, so that repeated requests get the same response.
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
    >>> issubclass(GateConfig, CommonConfig)
    True
    """

    alpha: Number
    features: Annotated[int, Meta(ge=0, le=MAX_FEATURES)] = 0
    timeout: Timeout | None = None
    default_loss: DefaultLoss | None = None
    retain: Annotated[int, Meta(ge=0, le=100_000)] = 4096
    feature_names: Annotated[list[GroupName], Meta(max_length=MAX_FEATURES)] | None = None
    tolerance: Annotated[float, Meta(ge=0, le=LARGEST)] | None = None
    window: Annotated[int, Meta(ge=10, le=1_000_000)] = 1000
    stale_after: Annotated[float, Meta(ge=0, le=LARGEST)] = 900.0
    labels: Labels = msgspec.field(default_factory=dict)
    retention: Retention | None = None

    @property
    def method(self) -> str:
        """The name of the method, as it is sent."""
        return str(self.__struct_config__.tag)

    def _check(self, loss_bound: float) -> None:
        """Raise ValueError if fields contradict each other."""
        names, loss = self.feature_names, self.default_loss
        if names is not None and not len(names) == len(set(names)) == self.features:
            raise ValueError(
                f"feature_names must be {self.features} different name(s), one per feature, got "
                f"{names}."
            )
        if loss is not None and self.timeout is None:
            raise ValueError("default_loss applies after the timeout: set timeout as well.")
        if loss is not None and loss > loss_bound:
            raise ValueError(
                f"default_loss must be at most the loss bound {loss_bound}, got {loss}."
            )
        if self.tolerance is not None and self.alpha < loss_bound <= self.alpha + self.tolerance:
            raise ValueError(
                f"alpha + tolerance must be below the loss bound {loss_bound}, got {self.alpha} + "
                f"{self.tolerance}: no risk could exceed it. Use a smaller tolerance."
            )


class SetsConfig(CommonConfig, kw_only=True):
    """What the configs of methods have that make prediction sets.

    Parameters
    ----------
    set : LabelSetConfig or IntervalConfig, optional
        The kind of prediction set to return when a prediction comes with `scores`.
    loss_bound : float, default 1.0
        Largest possible loss.
    score_range : tuple of float, optional
        Smallest and largest possible score; the bounds that hold in advance require it.

    Notes
    -----
    Other parameters are those of `CommonConfig`.

    Examples
    --------
    >>> issubclass(AutoConfig, SetsConfig), issubclass(GateConfig, SetsConfig)
    (True, False)
    """

    set: SetConfig | None = None
    loss_bound: Number = 1.0
    score_range: tuple[Number, Number] | None = None

    def __post_init__(self) -> None:
        """Reject fields that contradict each other."""
        self._check(self.loss_bound)


class AutoConfig(SetsConfig, kw_only=True, tag="auto"):
    """AutoLARC, which has nothing to tune and learns from losses with scores.

    Parameters
    ----------
    initial_threshold : float, optional
        Threshold before the first loss, in units of the score. Default: infinite, which is the full
        set, until enough scores are known.
    limits : tuple of two float or None, default (None, None)
        Thresholds that are never crossed, below and above, in units of the score.
    promise : str, default "both"
        "both" keeps the risk near `alpha` from both sides, "at most" from above.
    evenness : float, default 1.0
        How strongly places are evened out; more makes sets larger.
    unit : float, optional
        A typical difference between scores, for losses that come without scores.
    memory : NodesMemory, default NodesMemory()
        The table of nodes.

    Notes
    -----
    Other parameters are those of `SetsConfig` and `CommonConfig`.

    Examples
    --------
    >>> AutoConfig(0.1, features=2).method
    'auto'
    """

    initial_threshold: Number | None = None
    limits: tuple[Number | None, Number | None] = (None, None)
    promise: Literal["both", "at most"] = "both"
    evenness: Number = 1.0
    unit: Number | None = None
    memory: NodesMemory = msgspec.field(default_factory=NodesMemory)


class StepsConfig(SetsConfig, kw_only=True):
    """What the configs of methods have that move a threshold by steps.

    Parameters
    ----------
    rate : float or RateConfig, default 1.0
        Step size, in units of the score; a number eta means `eta / sqrt(t)`.
    initial_threshold : float, default 0.0
        Threshold before the first loss, in units of the score.
    floor : float, optional
        Lowest useful threshold, in units of the score, for streams in which some rounds cannot
        fail; the guarantee is then one-sided.

    Notes
    -----
    Other parameters are those of `SetsConfig` and `CommonConfig`.

    Examples
    --------
    >>> [name for name, kind in METHODS.items() if issubclass(kind, StepsConfig)]
    ['arc', 'larc', 'mondrian']
    """

    rate: Number | RateConfig = 1.0
    initial_threshold: Number = 0.0
    floor: Number | None = None


class ArcConfig(StepsConfig, kw_only=True, tag="arc"):
    """ARC: one threshold. Parameters are those of `StepsConfig`, `SetsConfig` and `CommonConfig`.

    Examples
    --------
    >>> ArcConfig(0.1, rate=0.5).initial_threshold
    0.0
    """


class MondrianConfig(StepsConfig, kw_only=True, tag="mondrian"):
    """One ARC per group, with the parameters of `StepsConfig`, `SetsConfig` and `CommonConfig`.

    Examples
    --------
    >>> MondrianConfig(0.1).method
    'mondrian'
    """


class LarcConfig(StepsConfig, kw_only=True, tag="larc"):
    """L-ARC: a threshold function of the input, which requires at least one feature.

    Parameters
    ----------
    kernel : KernelConfig
        How strongly a loss at one input moves the threshold at another.
    regularization : float, default 1e-4
        lambda in the paper: the local part shrinks by `1 - rate * regularization` in every round.
    memory : LatticeMemory, DictionaryMemory, KeepLastMemory or KeepAllMemory, optional
        What the local part stores. Default: `LatticeMemory()` for "rbf" with one or two features,
        else `DictionaryMemory()`.
    clip : float, optional
        Largest absolute value of the local part of a threshold, in units of the score.

    Notes
    -----
    Other parameters are those of `StepsConfig`, `SetsConfig` and `CommonConfig`.

    Examples
    --------
    >>> LarcConfig(0.1, features=2, kernel=KernelConfig(length_scale=0.5)).regularization
    0.0001
    """

    kernel: KernelConfig
    regularization: Number = 1e-4
    memory: LarcMemory | None = None
    clip: Number | None = None

    def __post_init__(self) -> None:
        """Reject fields that contradict each other, and lengths that are not one per feature."""
        self._check(self.loss_bound)
        if self.features == 0:
            raise ValueError("features must be the length of x, at least 1 with a kernel, got 0.")
        for name in "length_scale", "denominator":
            lengths = getattr(self.kernel, name, None)
            if isinstance(lengths, list) and len(lengths) != self.features:
                raise ValueError(
                    f"{name} must be one number or one per feature, got {len(lengths)} for "
                    f"{self.features} feature(s)."
                )


class GateConfig(CommonConfig, kw_only=True, tag="gate"):
    """A gate, which decides which answers may go out; `alpha` is the share of wrong ones.

    Parameters
    ----------
    memory : NodesMemory, default NodesMemory()
        The table of nodes.

    Notes
    -----
    Other parameters are those of `CommonConfig`.

    Examples
    --------
    >>> GateConfig(0.05).loss_bound
    1.0
    """

    memory: NodesMemory = msgspec.field(default_factory=NodesMemory)
    loss_bound: ClassVar[float] = 1.0
    set: ClassVar[None] = None

    def __post_init__(self) -> None:
        """Reject fields that contradict each other."""
        self._check(self.loss_bound)
        if self.default_loss not in (None, 0.0, 1.0):
            raise ValueError(
                "default_loss of a gate must be 1, an expired answer was wrong, or 0, it was "
                f"right, got {self.default_loss}. Omit it to count such answers neither way."
            )


StreamConfig: TypeAlias = AutoConfig | ArcConfig | LarcConfig | MondrianConfig | GateConfig
"""The config of a stream: that of its method."""

METHODS: dict[str, type[StreamConfig]] = {
    str(kind.__struct_config__.tag): kind for kind in get_args(StreamConfig)
}
"""The config of each method."""


class CreateResponse(Response):
    """A stream and its configuration.

    Attributes
    ----------
    stream : str
        Name of the stream.
    config : AutoConfig, LarcConfig, ArcConfig, MondrianConfig or GateConfig
        Its configuration, with every default filled in.

    Examples
    --------
    >>> CreateResponse("demand", AutoConfig(alpha=0.1)).config.alpha
    0.1
    """

    stream: str
    config: StreamConfig
