"""The config of a stream for a calibrator that is there already: `build_calibrator`'s inverse."""

from __future__ import annotations

import dataclasses
from typing import Any

import msgspec

from localarc import memory, rates, serialization
from localarc.adaptive.settings import Settings
from localarc.calibrators.auto.settings import AutoSettings
from localarc.kernels import KERNELS, Kernel
from localarc.memory import Memory
from localarc.rates import Rate
from localarc_client.wire.config import NodesMemory, StreamConfig
from localarc_service.storage import format as stored
from localarc_service.storage.format import Config
from localarc_service.streams.calibrators import build_calibrator, to_stored, to_wire


def config_of(
    settings: Settings | AutoSettings, features: int, names: list[str] | None = None
) -> Config:
    """The config of streams whose calibrators have these settings, for so many features.

    The automatic memory of L-ARC becomes the one that it chose. Raises ValueError, with what it is,
    if a stream cannot have one of the settings.
    """
    if isinstance(settings, AutoSettings):
        config = _auto(settings, features, names)
    else:
        settings = _with_chosen_memory(settings, features)
        config = _adaptive(settings, features, names)
    calibrator: Any = build_calibrator(config)
    made = calibrator.settings.to_json()
    for name, value in settings.to_json().items():
        if made.get(name, value) != value:  # the service has a limit of its own for pending ones
            raise ValueError(f"a stream cannot have {name} = {value}: it would be {made[name]}.")
    try:
        to_wire(config)
    except msgspec.ValidationError as error:
        raise ValueError(f"a stream cannot have these settings: {error}.") from error
    return config


def _auto(settings: AutoSettings, features: int, names: list[str] | None) -> Config:
    same = "limits", "promise", "evenness", "loss_bound", "unit", "initial_threshold"
    return to_stored(
        StreamConfig(
            settings.alpha,
            method="auto",
            features=features,
            feature_names=names,
            memory=NodesMemory(settings.max_bytes),
            **{name: getattr(settings, name) for name in same},
        )
    )


def _adaptive(settings: Settings, features: int, names: list[str] | None) -> Config:
    same = "loss_bound", "score_range", "initial_threshold", "clip", "floor"
    config = to_stored(
        StreamConfig(
            settings.alpha,
            method="arc" if settings.kernel is None else "larc",
            features=features,
            feature_names=names,
            **{name: getattr(settings, name) for name in same},
        )
    )
    parts: dict[str, Any] = {"rate": _rate(settings.rate)}
    if settings.kernel is not None:
        parts |= {"kernel": _kernel(settings.kernel), "memory": _memory(settings.memory)}
        parts["regularization"] = settings.regularization
    return msgspec.structs.replace(config, **parts)


def _with_chosen_memory(settings: Settings, features: int) -> Settings:
    if settings.kernel is None or not isinstance(settings.memory, memory.Auto):
        return settings
    return dataclasses.replace(settings, memory=settings.memory.chosen(settings.kernel, features))


def _kernel(kernel: Kernel) -> stored.Kernel:
    name = next((name for name, kind in KERNELS.items() if kind is type(kernel)), None)
    if name is None:
        raise ValueError(
            f"a stream cannot have the kernel {kernel!r}: it can be {', '.join(KERNELS)}."
        )
    fields = serialization.fields_to_json(kernel)
    return stored.Kernel(name, fields["denominator"], fields["scale"], fields.get("shape"))


def _rate(rate: Rate) -> float | stored.Rate:
    match rate:
        case rates.InverseSqrt(eta):
            return eta
        case rates.Power(eta, exponent):
            return stored.Rate("power", eta, exponent)
        case rates.Constant(eta):
            return stored.Rate("constant", eta, None)
    raise ValueError(f"a stream cannot have the rate {rate!r}: functions are not stored.")


def _memory(kept: Memory) -> stored.Memory:
    match kept:
        case memory.Lattice(tolerance, max_bytes):
            return stored.Memory("lattice", tolerance=tolerance, max_bytes=max_bytes)
        case memory.Dictionary(tolerance, max_size):
            return stored.Memory("dictionary", tolerance=tolerance, max_size=max_size)
        case memory.KeepLast(m):
            return stored.Memory("keep-last", m=m)
        case memory.KeepAll():
            return stored.Memory("keep-all")
    raise ValueError(f"a stream cannot have the memory {kept!r}.")
