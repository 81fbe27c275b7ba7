"""Configs: from the API's to the stored one and back, and from the stored one to a calibrator."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import msgspec
import numpy as np

from localarc import ARC, LARC, kernels, memory, rates
from localarc.kernels import Stationary
from localarc.rates import Rate
from localarc.service.storage import format as stored
from localarc.service.storage.format import Config
from localarc.wire.config import KernelConfig, StreamConfig

MAX_BYTES = 2**28
"""Size limit of a stream's local part: a snapshot is one value in the database."""

_KERNELS: dict[str, Callable[..., Stationary]] = {
    "rbf": kernels.RBF,
    "laplace": kernels.Laplace,
    "matern32": kernels.Matern32,
    "matern52": kernels.Matern52,
    "cauchy": kernels.Cauchy,
    "triangular": kernels.Triangular,
    "rational-quadratic": kernels.RationalQuadratic,
}


# ---- the API's config and the stored one -----------------------------------------------------


def to_stored(config: StreamConfig) -> Config:
    """The config as it is stored: a kernel's length scale becomes its denominator."""
    fields: dict[str, Any] = msgspec.to_builtins(config)
    if config.kernel is not None:
        lengths = config.kernel.length_scale
        if isinstance(lengths, list) and len(lengths) != config.features:
            raise ValueError(
                f"length_scale must be one number or one per feature, got {len(lengths)} for "
                f"{config.features} feature(s)."
            )
        kernel = _KERNELS[config.kernel.kind](length_scale=lengths)
        del fields["kernel"]["length_scale"]
        fields["kernel"]["denominator"] = msgspec.to_builtins(kernel.denominator)
    return msgspec.convert(fields, Config)


def to_wire(config: Config) -> StreamConfig:
    """The config as the API shows it."""
    fields: dict[str, Any] = msgspec.to_builtins(config)
    if config.kernel is not None:
        del fields["kernel"]["denominator"]
        length_scale = _kernel(config.kernel).length_scale
        fields["kernel"]["length_scale"] = msgspec.to_builtins(length_scale)
    return msgspec.convert(fields, StreamConfig)


def same_config(existing: Config, config: StreamConfig) -> bool:
    """Whether a client sent the config of a stream, as it was created or as the API shows it."""
    return to_stored(config) == existing or config == to_wire(existing)


# ---- calibrators -----------------------------------------------------------------------------


def build_calibrator(config: Config) -> ARC | LARC:
    """The calibrator that a config describes, before its first round; the status warns for it."""
    return _build(config).silence()


def _build(config: Config) -> ARC | LARC:
    _check(config)
    rate = _rate(config.rate)
    common = {
        "loss_bound": config.loss_bound,
        "score_range": config.score_range,
        "initial_threshold": config.initial_threshold,
    }
    if config.kernel is None:
        return ARC(config.alpha, rate, **common)  # type: ignore[arg-type]
    kernel = _kernel(config.kernel)
    strategy = _memory(config.memory, kernel, config.features)
    return LARC(
        config.alpha,
        kernel,
        rate,
        config.regularization,
        memory=strategy,
        clip=config.clip,
        **common,  # type: ignore[arg-type]
    )


def validate_and_compile(config: StreamConfig) -> None:
    """Raise ValueError if a config is invalid, and compile what its calibrator needs."""
    _compile(to_stored(config))


def _compile(config: Config) -> None:
    """Build a calibrator and run two rounds."""
    calibrator = build_calibrator(config)
    x = np.zeros(config.features)
    for _ in range(2):  # the first round allocates the local part, the second takes the fast path
        calibrator.threshold(x)
        calibrator.update(x, config.loss_bound)
    calibrator.threshold(x[None])
    calibrator.certificate()


def precompile(configs: Iterable[Config]) -> None:
    """Compile what is in use and what is likely to come, so that no request waits for it."""
    usual = (
        to_stored(StreamConfig(alpha=0.1, kernel=KernelConfig(), features=features))
        for features in (1, 2, 3)
    )
    shapes: dict[object, Config] = {}
    for config in (*usual, *configs):
        if config.kernel is not None:
            shape = config.kernel.kind, config.kernel.shape, config.features, config.memory.kind
            shapes.setdefault(shape, config)
    for config in shapes.values():
        _compile(config)


def check_room(config: Config, rounds: int) -> None:
    """Raise if one more round would not fit into a snapshot."""
    if config.memory.kind == "keep-all" and _bytes_of(rounds + 1, config.features) > MAX_BYTES:
        raise ValueError(
            f"the stream keeps all of its {rounds} rounds and has reached its size limit: create "
            "a new stream with constant memory, such as a lattice or a dictionary."
        )


def _bytes_of(rounds: int, features: int) -> int:
    return 8 * rounds * (features + 3)


def _check(config: Config) -> None:
    if config.kernel is None:
        if config.clip is not None or config.memory.kind != "auto":
            raise ValueError(
                "memory and clip configure the local part, which requires a kernel: omit them, or "
                "add a kernel."
            )
    elif not config.features:
        raise ValueError(
            "features must be the length of x, at least 1 for a stream with a kernel, got 0."
        )
    if config.memory.m is not None:
        most = MAX_BYTES // _bytes_of(1, config.features)
        if config.memory.m > most:
            raise ValueError(
                f"keep-last can hold at most {most} rounds of {config.features} feature(s), "
                f"{MAX_BYTES} bytes, got m = {config.memory.m}. Use a smaller m, or a dictionary."
            )
    if config.default_loss is not None:
        if config.timeout is None:
            raise ValueError("default_loss applies after the timeout: set timeout as well.")
        if config.default_loss > config.loss_bound:
            raise ValueError(
                f"default_loss must be at most the loss bound {config.loss_bound}, got "
                f"{config.default_loss}."
            )


def _kernel(config: stored.Kernel) -> Stationary:
    shape = {}
    if config.shape is not None:
        if config.kind != "rational-quadratic":
            raise ValueError(
                f"shape applies to rational-quadratic only: omit it for {config.kind}."
            )
        shape["shape"] = config.shape
    return _KERNELS[config.kind](**shape).replace(config.denominator, config.scale)


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
