"""Kernels, rates and memories: from a config to the library's objects, and back."""

from __future__ import annotations

from functools import partial
from typing import Any

import msgspec

from localarc import memory, rates, serialization
from localarc.kernels import KERNELS, Kernel, Stationary
from localarc.memory import Memory
from localarc.rates import Rate
from localarc_client.wire.config import LarcConfig
from localarc_client.wire.config_parts import (
    DictionaryMemory,
    KeepAllMemory,
    KeepLastMemory,
    KernelConfig,
    LarcMemory,
    LatticeMemory,
    RateConfig,
)

_MEMORIES: dict[type[LarcMemory], Any] = {
    LatticeMemory: memory.Lattice,
    DictionaryMemory: memory.Dictionary,
    KeepLastMemory: partial(memory.KeepLast, archive=False),
    KeepAllMemory: memory.KeepAll,
}


def kernel_of(config: KernelConfig) -> Stationary:
    """The kernel of a config; its denominator counts, where there is one."""
    shape = {} if config.shape is None else {"shape": config.shape}
    if config.denominator is None:
        return KERNELS[config.kind](config.length_scale, config.scale, **shape)
    return KERNELS[config.kind](**shape).replace(config.denominator, config.scale)


def kernel_config(kernel: Kernel) -> KernelConfig:
    """The config of a kernel, with a denominator if the length scale does not determine it."""
    name = next((name for name, kind in KERNELS.items() if kind is type(kernel)), None)
    if name is None or not isinstance(kernel, Stationary):
        raise ValueError(
            f"a stream cannot have the kernel {kernel!r}: it can be {', '.join(KERNELS)}."
        )
    fields = serialization.fields_to_json(kernel) | {"kind": name}
    fields["length_scale"] = msgspec.to_builtins(kernel.length_scale)
    exact = msgspec.convert(fields, KernelConfig)
    short = msgspec.structs.replace(exact, denominator=None)
    return short if kernel_of(short) == kernel else exact


def rate_of(config: float | RateConfig) -> Rate:
    """The rate of a config."""
    if not isinstance(config, RateConfig):
        return rates.as_rate(config)
    if config.kind == "power":
        return rates.Power(config.eta, 0.5 if config.exponent is None else config.exponent)
    return (rates.Constant if config.kind == "constant" else rates.InverseSqrt)(config.eta)


def rate_config(rate: Rate) -> float | RateConfig:
    """The config of a rate."""
    match rate:
        case rates.InverseSqrt(eta):
            return eta
        case rates.Power(eta, exponent):
            return RateConfig("power", eta, exponent)
        case rates.Constant(eta):
            return RateConfig("constant", eta)
    raise ValueError(f"a stream cannot have the rate {rate!r}: functions are not stored.")


def usual_memory(config: LarcConfig) -> LarcMemory:
    """The memory of a stream that names none: constant, and on a lattice where that is small."""
    on_lattice = config.kernel.kind == "rbf" and config.features <= 2
    return LatticeMemory() if on_lattice else DictionaryMemory()


def memory_of(config: LarcConfig) -> Memory:
    """The memory of a config."""
    kept = config.memory or usual_memory(config)
    made: Memory = _MEMORIES[type(kept)](**msgspec.structs.asdict(kept))
    return made


def memory_config(kept: Memory) -> LarcMemory:
    """The config of a memory."""
    for kind, made in _MEMORIES.items():
        if isinstance(kept, getattr(made, "func", made)):
            return kind(**{name: getattr(kept, name) for name in kind.__struct_fields__})
    raise ValueError(f"a stream cannot have the memory {kept!r}.")
