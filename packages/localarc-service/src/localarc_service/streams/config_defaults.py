"""Defaults that depend on other fields: filled in before a config is stored, so that a new default
changes no stream."""

from __future__ import annotations

import msgspec

from localarc_client.wire.config import AutoConfig, LarcConfig, StreamConfig
from localarc_service.streams.methods.parts import kernel_config, kernel_of, usual_memory


def completed(config: StreamConfig) -> StreamConfig:
    """The config with every default filled in; one that is complete stays as it is."""
    config = msgspec.structs.replace(config, tolerance=tolerance_of(config))
    if not isinstance(config, LarcConfig):
        return config
    kernel, exact = config.kernel, config.kernel.denominator is not None
    return msgspec.structs.replace(
        config,
        kernel=kernel_config(kernel_of(kernel)) if exact else kernel,
        memory=config.memory or usual_memory(config),
    )


def tolerance_of(config: StreamConfig) -> float:
    """How far above its target a risk is tolerated."""
    if config.tolerance is not None:
        return config.tolerance
    return min(0.02 * config.loss_bound, (config.loss_bound - config.alpha) / 2)


def is_same(existing: StreamConfig, config: StreamConfig) -> bool:
    """Whether a client sent the config of a stream, as it was created or as the API shows it.

    Streams of method auto that were created without a start had 0, once. And the length scale of a
    kernel whose denominator was stored may have been rounded.
    """
    if (
        isinstance(config, AutoConfig)
        and isinstance(existing, AutoConfig)
        and (config.initial_threshold, existing.initial_threshold) == (None, 0.0)
    ):
        config = msgspec.structs.replace(config, initial_threshold=0.0)
    return _with_exact_kernel(completed(config)) == _with_exact_kernel(existing)


def _with_exact_kernel(config: StreamConfig) -> StreamConfig:
    """The config with the numbers that its kernel computes with, and no others."""
    if not isinstance(config, LarcConfig):
        return config
    kernel = kernel_of(config.kernel)
    numbers = {"denominator": kernel.denominator, "shape": getattr(kernel, "shape", None)}
    exact = msgspec.structs.replace(config.kernel, length_scale=1.0, **numbers)
    return msgspec.structs.replace(config, kernel=exact)
