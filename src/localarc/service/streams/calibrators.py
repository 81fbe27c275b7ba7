"""A stream's config, turned into its calibrator, or one sentence on what does not fit."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np

from localarc import ARC, LARC, kernels, memory, rates
from localarc.rates import Rate
from localarc.wire import config as wire_config
from localarc.wire.config import KernelConfig, MemoryConfig, RateConfig, StreamConfig

MOST_BYTES = 2**28
"""What the local part of a stream may hold: a snapshot is one value in the log."""

_KERNELS: dict[str, Callable[..., kernels.Kernel]] = {
    "rbf": kernels.RBF,
    "laplace": kernels.Laplace,
    "matern32": kernels.Matern32,
    "matern52": kernels.Matern52,
    "cauchy": kernels.Cauchy,
    "triangular": kernels.Triangular,
    "rational-quadratic": kernels.RationalQuadratic,
}


def new_calibrator(config: StreamConfig) -> LARC:
    """The calibrator that a config asks for, which has learnt nothing yet."""
    _check(config)
    rate = _rate(config.rate)
    common = {
        "loss_bound": config.loss_bound,
        "score_range": config.score_range,
        "initial_threshold": config.initial_threshold,
    }
    if config.kernel is None:
        return ARC(config.alpha, rate, **common)  # type: ignore[arg-type]
    kernel = _kernel(config.kernel, config.features)
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


def rehearse(config: StreamConfig) -> None:
    """Make a calibrator and let it play a round, so that all it needs is compiled and fits."""
    calibrator = new_calibrator(config)
    x = np.zeros(config.features)
    for _ in range(2):  # the first round makes the local part, the second one takes the short way
        calibrator.threshold(x)
        calibrator.update(x, config.loss_bound)
    calibrator.threshold(x[None])
    calibrator.certificate()


def warm_up(configs: Iterable[StreamConfig]) -> None:
    """Rehearse what is in use and what is likely to come, so that no request waits for it."""
    usual = (StreamConfig(0.1, KernelConfig(), features=features) for features in (1, 2, 3))
    shapes: dict[object, StreamConfig] = {}
    for config in (*usual, *configs):
        if config.kernel is not None:
            shape = config.kernel.kind, config.kernel.shape, config.features, type(config.memory)
            shapes.setdefault(shape, config)
    for config in shapes.values():
        rehearse(config)


def check_room(config: StreamConfig, rounds: int) -> None:
    """Whether one more round may be kept: a stream must fit into a snapshot."""
    kept = isinstance(config.memory, wire_config.KeepAllMemory)
    if kept and _bytes_of(rounds + 1, config.features) > MOST_BYTES:
        raise ValueError(
            f"the stream keeps all of its {rounds} rounds, and there is no room for more: go on "
            "with a new stream and constant memory, such as a lattice or a dictionary."
        )


def _bytes_of(rounds: int, features: int) -> int:
    return 8 * rounds * (features + 3)


def _check(config: StreamConfig) -> None:
    if config.kernel is None:
        if config.clip is not None or not isinstance(config.memory, wire_config.AutoMemory):
            raise ValueError(
                "memory and clip are about the local part, and without a kernel there is none: "
                "leave them out, or give a kernel."
            )
    elif not config.features:
        raise ValueError(
            "features must say how many numbers x holds, at least 1 with a kernel, got 0."
        )
    if isinstance(config.memory, wire_config.KeepLastMemory):
        most = MOST_BYTES // _bytes_of(1, config.features)
        if config.memory.m > most:
            raise ValueError(
                f"keep-last may keep {most} rounds of {config.features} feature(s), {MOST_BYTES} "
                f"bytes, got m = {config.memory.m}. Take a smaller m, or a dictionary."
            )
    if config.default_loss is not None:
        if config.timeout is None:
            raise ValueError("default_loss is learnt after the timeout: give a timeout with it.")
        if config.default_loss > config.loss_bound:
            raise ValueError(
                f"default_loss must be at most the loss bound {config.loss_bound}, got "
                f"{config.default_loss}."
            )


def _kernel(config: KernelConfig, features: int) -> kernels.Kernel:
    lengths = config.length_scale
    if isinstance(lengths, list) and len(lengths) != features:
        raise ValueError(
            f"length_scale must be one number or one per feature, got {len(lengths)} for "
            f"{features} feature(s)."
        )
    parts: dict[str, object] = {
        "length_scale": tuple(lengths) if isinstance(lengths, list) else lengths,
        "scale": config.scale,
    }
    if config.shape is not None:
        if config.kind != "rational-quadratic":
            raise ValueError(f"shape is for rational-quadratic: leave it out for {config.kind}.")
        parts["shape"] = config.shape
    return _KERNELS[config.kind](**parts)


def _rate(config: float | RateConfig) -> Rate:
    if not isinstance(config, RateConfig):
        return rates.as_rate(config)
    if config.kind == "power":
        return rates.Power(config.eta, 0.5 if config.exponent is None else config.exponent)
    if config.exponent is not None:
        raise ValueError(f"exponent is for the power rate: leave it out for {config.kind}.")
    return (rates.Constant if config.kind == "constant" else rates.InverseSqrt)(config.eta)


def _memory(config: MemoryConfig, kernel: kernels.Kernel, features: int) -> memory.Memory:
    if isinstance(config, wire_config.AutoMemory):
        few = type(kernel) is kernels.RBF and features <= 2
        return _memory(
            wire_config.LatticeMemory() if few else wire_config.DictionaryMemory(), kernel, features
        )
    if isinstance(config, wire_config.LatticeMemory):
        return memory.Lattice(config.tolerance, config.max_bytes)
    if isinstance(config, wire_config.DictionaryMemory):
        return memory.Dictionary(config.tolerance, config.max_size)
    if isinstance(config, wire_config.KeepLastMemory):
        return memory.KeepLast(config.m, archive=False)
    return memory.KeepAll()
