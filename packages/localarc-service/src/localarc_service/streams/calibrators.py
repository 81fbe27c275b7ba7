"""Configs: from the API's to the stored one and back, and from the stored one to a calibrator."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from localarc import ARC, LARC, Mondrian, kernels, memory, rates, validation
from localarc.kernels import KERNELS, Stationary
from localarc.rates import Rate
from localarc_client.wire.config import StreamConfig
from localarc_service.storage import format as stored
from localarc_service.storage.format import Config, Method
from localarc_service.streams.config_checks import check_fields
from localarc_service.streams.methods import AnyCalibrator

NODES_BYTES = 9_000_000
"""Size limit of AutoLARC's table by default. It belongs to the stored format, as `_memory` does."""

GATE_CREDIT, GATE_IDLE, GATE_AUDITABLE = 0.001, 0.003, 1000
"""What a gate is made with; these belong to the stored format, too."""

if TYPE_CHECKING:
    from localarc import AutoLARC, Gate

# ---- the API's config and the stored one -----------------------------------------------------


def to_stored(config: StreamConfig, method: Method | None = None) -> Config:
    """The config as it is stored: with a method, and a kernel's length scale as its denominator.

    A config that names no method gets the given one, from an existing stream.
    """
    fields: dict[str, Any] = msgspec.to_builtins(config)
    usual: Method = "auto" if config.kernel is None else "larc"
    fields["method"] = config.method or method or usual
    if config.initial_threshold is None and fields["method"] != "auto":
        fields["initial_threshold"] = 0.0
    if config.tolerance is None:
        fields["tolerance"] = usual_tolerance(config.alpha, config.loss_bound)
    if config.kernel is not None:
        lengths = config.kernel.length_scale
        if isinstance(lengths, list) and len(lengths) != config.features:
            raise ValueError(
                f"length_scale must be one number or one per feature, got {len(lengths)} for "
                f"{config.features} feature(s)."
            )
        kernel = KERNELS[config.kernel.kind](length_scale=lengths)
        del fields["kernel"]["length_scale"]
        fields["kernel"]["denominator"] = msgspec.to_builtins(kernel.denominator)
    return msgspec.convert(fields, Config)


def usual_tolerance(alpha: float, loss_bound: float) -> float:
    """How far above its target a risk is tolerated, where the config does not say."""
    return min(0.02 * loss_bound, (loss_bound - alpha) / 2)


def to_wire(config: Config) -> StreamConfig:
    """The config as the API shows it."""
    fields: dict[str, Any] = msgspec.to_builtins(config)
    if config.kernel is not None:
        del fields["kernel"]["denominator"]
        length_scale = _kernel(config.kernel).length_scale
        fields["kernel"]["length_scale"] = msgspec.to_builtins(length_scale)
    return msgspec.convert(fields, StreamConfig)


def same_config(existing: Config, config: StreamConfig) -> bool:
    """Whether a client sent the config of a stream, as it was created or as the API shows it.

    Streams of method auto that were created without a start had 0, once.
    """
    if config.initial_threshold is None and existing.initial_threshold == 0.0:
        config = msgspec.structs.replace(config, initial_threshold=0.0)
    return to_stored(config, existing.method) == existing or config == to_wire(existing)


# ---- calibrators -----------------------------------------------------------------------------


def build_calibrator(config: Config) -> AnyCalibrator:
    """The calibrator that a config describes, before its first round; the status warns for it."""
    check_fields(config)
    if config.method == "auto":
        return _auto(config)
    if config.method == "gate":
        return _gate(config)
    if config.method == "mondrian":
        return Mondrian(lambda: _arc(config).silence())
    return (_arc if config.kernel is None else _larc)(config).silence()


def _arc(config: Config) -> ARC:
    return ARC(
        config.alpha,
        _rate(config.rate),
        loss_bound=config.loss_bound,
        score_range=config.score_range,
        initial_threshold=config.initial_threshold or 0.0,
        floor=config.floor,
    )


def _larc(config: Config) -> LARC:
    assert config.kernel is not None  # checked
    kernel = _kernel(config.kernel)
    return LARC(
        config.alpha,
        kernel,
        _rate(config.rate),
        config.regularization,
        loss_bound=config.loss_bound,
        score_range=config.score_range,
        initial_threshold=config.initial_threshold or 0.0,
        memory=_memory(config.memory, kernel, config.features),
        clip=config.clip,
        floor=config.floor,
    )


def _auto(config: Config) -> AutoLARC:
    from localarc import AutoLARC  # imports numba

    if config.score_range is not None:
        validation.ascending_pair(config.score_range)  # the certificate's, not the calibrator's
    return AutoLARC(
        config.alpha,
        limits=config.limits,
        promise=config.promise,
        evenness=config.evenness,
        loss_bound=config.loss_bound,
        unit=config.unit,
        initial_threshold=config.initial_threshold,
        max_bytes=config.memory.max_bytes or NODES_BYTES,
    )


def _gate(config: Config) -> Gate:
    """A gate; what is not in the config belongs to the stored format."""
    from localarc import Gate  # imports numba

    return Gate(
        config.alpha,
        credit=GATE_CREDIT,
        idle=GATE_IDLE,
        auditable=GATE_AUDITABLE,
        max_bytes=config.memory.max_bytes or NODES_BYTES,
    )


def _kernel(config: stored.Kernel) -> Stationary:
    shaped = [name for name, kind in KERNELS.items() if "shape" in kind.__dataclass_fields__]
    if config.shape is not None and config.kind not in shaped:
        raise ValueError(f"shape applies to {', '.join(shaped)} only: omit it for {config.kind}.")
    shape = {} if config.shape is None else {"shape": config.shape}
    return KERNELS[config.kind](**shape).replace(config.denominator, config.scale)


def _rate(config: float | stored.Rate) -> Rate:
    if not isinstance(config, stored.Rate):
        return rates.as_rate(config)
    if config.kind == "power":
        return rates.Power(config.eta, 0.5 if config.exponent is None else config.exponent)
    if config.exponent is not None:
        raise ValueError(f"exponent applies to the power rate only: omit it for {config.kind}.")
    return (rates.Constant if config.kind == "constant" else rates.InverseSqrt)(config.eta)


def _memory(config: stored.Memory, kernel: Stationary, features: int) -> memory.Memory:
    match config:
        case stored.Memory("lattice", tolerance=float(tolerance), max_bytes=int(size)):
            return memory.Lattice(tolerance, size)
        case stored.Memory("dictionary", tolerance=float(tolerance), max_size=int(size)):
            return memory.Dictionary(tolerance, size)
        case stored.Memory("keep-last", m=int(m)):
            return memory.KeepLast(m, archive=False)
        case stored.Memory("keep-all"):
            return memory.KeepAll()
    # These numbers belong to the stored format: a stream resumes with the memory it began with.
    if type(kernel) is kernels.RBF and features <= 2:
        return memory.Lattice(1e-15, 2**26)
    return memory.Dictionary(1e-4, 1024)
