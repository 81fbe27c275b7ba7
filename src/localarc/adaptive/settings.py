"""The fixed configuration of a calibrator: target, kernel, rate, memory and limits."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from localarc import serialization, validation
from localarc.kernels import Kernel
from localarc.kernels.custom import Function, as_kernel
from localarc.memory import Memory
from localarc.memory.auto import as_memory
from localarc.rates import Rate, as_rate


@dataclass(frozen=True)
class Settings:
    """The fixed configuration of a calibrator; what it learns is a constant and an expansion."""

    alpha: float
    kernel: Kernel | None
    rate: Rate
    regularization: float
    loss_bound: float
    score_range: tuple[float, float] | None
    initial_threshold: float
    memory: Memory
    clip: float | None
    radius: float | None
    floor: float | None = None

    @property
    def start(self) -> float:
        """c_1: the initial threshold, lifted to the floor."""
        return (
            self.initial_threshold
            if self.floor is None
            else max(self.initial_threshold, self.floor)
        )

    @property
    def limits(self) -> tuple[float, float, float, float]:
        """The target, the floor of c, and the range of scores, infinite where none is stated."""
        low, high = self.score_range or (-math.inf, math.inf)
        return self.alpha, -math.inf if self.floor is None else self.floor, low, high

    def to_json(self) -> dict[str, Any]:
        """The settings as JSON, for `from_json`."""
        return serialization.fields_to_json(self)

    @staticmethod
    def from_json(
        description: Mapping[str, Any], kernel: Kernel | None = None, rate: Rate | None = None
    ) -> Settings:
        """The settings that `to_json` described; parts with functions in them are passed again."""
        values = dict(description)
        values["kernel"] = serialization.resolve("kernel", values["kernel"], kernel)
        values["rate"] = serialization.resolve("rate", values["rate"], rate)
        values["memory"] = serialization.from_json(values["memory"])
        return checked_settings(**values)

    def describe(self, memory: Memory | None = None) -> str:
        """The settings as keyword arguments, with the memory in use where it is known."""
        parts: dict[str, Any] = {"alpha": self.alpha, "rate": self.rate}
        if self.kernel is not None:
            parts["kernel"] = self.kernel
            parts |= {"regularization": self.regularization, "memory": memory or self.memory}
        limits = {"clip": self.clip, "radius": self.radius, "score_range": self.score_range}
        limits["floor"] = self.floor
        parts |= {name: value for name, value in limits.items() if value is not None}
        if self.loss_bound != 1.0:
            parts["loss_bound"] = self.loss_bound
        if self.initial_threshold != 0.0:
            parts["initial_threshold"] = self.initial_threshold
        return ", ".join(f"{name}={value!r}" for name, value in parts.items())


_FLOOR = "It is the lowest threshold that is of use, e.g. the lowest possible score."


def checked_settings(
    alpha: float,
    kernel: Kernel | Function | None,
    rate: Rate | float | Callable[[int], float],
    regularization: float,
    loss_bound: float,
    score_range: tuple[float, float] | None,
    initial_threshold: float,
    memory: Memory | str,
    clip: float | None,
    radius: float | None,
    floor: float | None,
) -> Settings:
    """Settings that fit together; raises with the reason if they do not."""
    bound = validation.positive(
        "loss_bound", loss_bound, "It is the largest possible loss, e.g. 1.0."
    )
    settings = Settings(
        alpha=validation.target(alpha, bound),
        kernel=as_kernel(kernel),
        rate=as_rate(rate),
        regularization=validation.not_negative(
            "regularization", regularization, "It is the paper's lambda, e.g. 1e-4."
        ),
        loss_bound=bound,
        score_range=None if score_range is None else validation.ascending_pair(score_range),
        initial_threshold=validation.finite(
            "initial_threshold", initial_threshold, "It is c_1, 0 in the paper."
        ),
        memory=as_memory(memory),
        clip=_limit("clip", clip, "It bounds the local part of a threshold."),
        radius=_limit("radius", radius, "It bounds the norm of the local part."),
        floor=None if floor is None else validation.finite("floor", floor, _FLOOR),
    )
    _check_limits(settings)
    _check_memory(settings)
    first = settings.rate(1) * settings.regularization
    if first >= 1:
        raise ValueError(
            f"rate(1) * regularization must be below 1, got {first}: the first step would erase "
            "or reverse the local part. Lower the rate or the regularization."
        )
    return settings


def _check_limits(settings: Settings) -> None:
    if settings.limits[1] > settings.limits[3]:
        raise ValueError(
            f"floor must not exceed the highest score {settings.limits[3]}, got "
            f"{settings.floor}: every set would be full. {_FLOOR}"
        )
    limited = settings.clip is not None or settings.radius is not None
    if settings.kernel is None and limited:
        raise ValueError(
            "clip and radius limit the local part, and without a kernel there is none. "
            "Leave them out, or give a kernel."
        )


def _check_memory(settings: Settings) -> None:
    if settings.kernel is not None:
        settings.memory.check_kernel(settings.kernel)
    if settings.radius is not None and not settings.memory.exact:
        raise ValueError(
            f"radius must be None with {settings.memory!r}, got {settings.radius}: the norm of the "
            "local part is not known unless every term is kept. Use clip instead."
        )


def _limit(name: str, value: Any, hint: str) -> float | None:
    return (
        None
        if value is None
        else validation.positive(name, value, hint + " Use None for no limit.")
    )
