"""Parts of a stream's config: its kernel, rate, memory and prediction sets."""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias

from msgspec import Meta

from localarc_client.wire.fields import MAX_FEATURES, MAX_SCORES, GroupName, Number, Request

NumberPerFeature: TypeAlias = Annotated[list[Number], Meta(min_length=1, max_length=MAX_FEATURES)]


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
    denominator : float or list of float, optional
        The l of the paper's `exp(-d^2 / l)`, a squared length; with it, the length scale follows
        from it. It keeps a kernel exact whose length scale, rounded to a float, would be another.

    Examples
    --------
    >>> KernelConfig(length_scale=[0.5, 2.0]).kind
    'rbf'
    """

    kind: Literal[
        "rbf", "laplace", "matern32", "matern52", "cauchy", "triangular", "rational-quadratic"
    ] = "rbf"
    length_scale: Number | NumberPerFeature = 1.0
    scale: Number = 1.0
    shape: Number | None = None
    denominator: Number | NumberPerFeature | None = None

    def __post_init__(self) -> None:
        """Reject a shape that has no meaning."""
        if self.shape is not None and self.kind != "rational-quadratic":
            raise ValueError(f"shape applies to rational-quadratic only: omit it for {self.kind}")


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

    def __post_init__(self) -> None:
        """Reject an exponent that has no meaning."""
        if self.exponent is not None and self.kind != "power":
            raise ValueError(f"exponent applies to the power rate only: omit it for {self.kind}")


class Part(Request, tag_field="kind"):
    """A part of a config that is one of several kinds."""

    @property
    def kind(self) -> str:
        """The name of the kind, as it is sent."""
        return str(self.__struct_config__.tag)


class LatticeMemory(Part, tag="lattice"):
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


class DictionaryMemory(Part, tag="dictionary"):
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


class KeepLastMemory(Part, tag="keep-last"):
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


class KeepAllMemory(Part, tag="keep-all"):
    """Every round, exactly: memory, snapshots and time per round grow without limit.

    Examples
    --------
    >>> KeepAllMemory().kind
    'keep-all'
    """


class NodesMemory(Part, tag="nodes"):
    """The table of nodes of AutoLARC and of a gate: places and groups, of bounded size.

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


LarcMemory: TypeAlias = LatticeMemory | DictionaryMemory | KeepLastMemory | KeepAllMemory
"""What the local part of L-ARC may store."""


class LabelSetConfig(Part, tag="labels"):
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


class IntervalConfig(Part, tag="interval"):
    """Prediction intervals: `scores` has one prediction, or a lower and an upper quantile.

    Examples
    --------
    >>> IntervalConfig().kind
    'interval'
    """


SetConfig: TypeAlias = LabelSetConfig | IntervalConfig
"""The kind of prediction set that a stream returns."""
