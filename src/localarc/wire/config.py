"""What a stream is told when it is created."""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias, get_args, get_type_hints

import msgspec
from msgspec import Meta

from localarc.validation import LARGEST
from localarc.wire.fields import MOST_FEATURES, MOST_SCORES, Group, Message, Number


class KernelConfig(Message):
    """How far one mistake is felt; `shape` is for rational-quadratic alone."""

    kind: Literal[
        "rbf", "laplace", "matern32", "matern52", "cauchy", "triangular", "rational-quadratic"
    ] = "rbf"
    length_scale: Number | Annotated[list[Number], Meta(min_length=1, max_length=MOST_FEATURES)] = (
        1.0
    )
    scale: Number = 1.0
    shape: Number | None = None


class RateConfig(Message):
    """The step of round t: `eta / sqrt(t)`, `eta * t^(-exponent)` or `eta`."""

    kind: Literal["inverse-sqrt", "power", "constant"] = "inverse-sqrt"
    eta: Number = 1.0
    exponent: Number | None = None


class Auto(Message, tag="auto", tag_field="kind"):
    """Constant memory: a lattice for rbf with one or two features, else a dictionary."""


class Lattice(Message, tag="lattice", tag_field="kind"):
    """Constant memory with a proven accuracy, for rbf with up to three features."""

    tolerance: Number = 1e-15
    max_bytes: Annotated[int, Meta(ge=2**16, le=2**28)] = 2**26


class Dictionary(Message, tag="dictionary", tag_field="kind"):
    """Bounded memory with a measured accuracy, for any kernel and number of features."""

    tolerance: Number = 1e-4
    max_size: Annotated[int, Meta(ge=1, le=8192)] = 1024


class KeepLast(Message, tag="keep-last", tag_field="kind"):
    """The latest m rounds, the paper's memory-limited variant."""

    m: Annotated[int, Meta(ge=1, le=100_000)] = 1000


class KeepAll(Message, tag="keep-all", tag_field="kind"):
    """Every round, exactly: memory, snapshots and time per round grow for ever."""


MemoryConfig: TypeAlias = Auto | Lattice | Dictionary | KeepLast | KeepAll


class LabelSets(Message, tag="labels", tag_field="kind"):
    """`scores` holds one number per label; the set is the labels whose score is low enough.

    "score" takes them as they are, lower being better; "probability" scores a label by minus its
    probability, "cumulative" by that of all labels at least as likely.
    """

    labels: Annotated[list[Group], Meta(min_length=1, max_length=MOST_SCORES)] | None = None
    score: Literal["score", "probability", "cumulative"] = "score"

    def __post_init__(self) -> None:
        """Two labels that read the same could not be told apart in a set."""
        labels = self.labels or []
        if len(set(labels)) < len(labels):
            raise ValueError("labels must differ from each other, give each its own name")


class Intervals(Message, tag="interval", tag_field="kind"):
    """`scores` holds one prediction, or a lower and an upper quantile to be widened."""


class StreamConfig(Message):
    """What a stream is told once. Without a kernel it is ARC: one threshold for all inputs."""

    alpha: Number
    kernel: KernelConfig | None = None
    features: Annotated[int, Meta(ge=0, le=MOST_FEATURES)] = 0
    rate: Number | RateConfig = 1.0
    regularization: Number = 1e-4
    loss_bound: Number = 1.0
    score_range: tuple[Number, Number] | None = None
    initial_threshold: Number = 0.0
    memory: MemoryConfig = msgspec.field(default_factory=Auto)
    clip: Number | None = None
    set: LabelSets | Intervals | None = None
    timeout: Annotated[float, Meta(gt=0, le=LARGEST)] | None = None
    """Seconds after which a loss is no longer awaited; None waits for ever."""
    default_loss: Annotated[float, Meta(ge=0, le=LARGEST)] | None = None
    """What is learnt for a loss that never came; None learns nothing."""
    retain: Annotated[int, Meta(ge=0, le=100_000)] = 4096
    """How many answered predictions are remembered, so that repeated requests get their answer."""


class StreamCreated(Message):
    """The stream, and its config with every default filled in."""

    stream: str
    config: StreamConfig


def _values(kind: type[Message], field: str) -> tuple[str, ...]:
    return get_args(get_type_hints(kind)[field])


NAMES: dict[str, tuple[str, ...]] = {
    "$": StreamConfig.__struct_fields__,
    "$.kernel": KernelConfig.__struct_fields__,
    "$.kernel.kind": _values(KernelConfig, "kind"),
    "$.rate": RateConfig.__struct_fields__,
    "$.rate.kind": _values(RateConfig, "kind"),
    "$.memory.kind": tuple(str(each.__struct_config__.tag) for each in get_args(MemoryConfig)),
    "$.set.kind": tuple(str(each.__struct_config__.tag) for each in (LabelSets, Intervals)),
    "$.set.score": _values(LabelSets, "score"),
}
"""By place in a config, the fields or values that are known there, for who names another one."""
