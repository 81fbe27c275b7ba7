"""Settings as plain JSON values, and back."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from localarc import kernels, memory, rates
from localarc.calibrators.settings import Settings, checked_settings
from localarc.kernels import Custom, Kernel, Radial
from localarc.rates import Rate, Schedule
from localarc.serialization import StateError

_PARTS: list[type] = [
    *kernels.Stationary.__subclasses__(),
    *(kernels.Sum, kernels.Product),
    *(rates.InverseSqrt, rates.Power, rates.Constant),
    *(memory.KeepAll, memory.KeepLast, memory.Lattice, memory.Dictionary, memory.Auto),
]
_KINDS = {part.__name__: part for part in _PARTS}


def describe(value: Any) -> Any:
    """A value as JSON: parts by kind and fields, functions by name only."""
    if isinstance(value, Settings):
        return _fields(value)
    if isinstance(value, Custom | Radial | Schedule) or type(value) in _PARTS:
        return {"kind": type(value).__name__} | _fields(value)
    if value is None or isinstance(value, int | float | str):
        return value
    if isinstance(value, tuple):
        return [describe(part) for part in value]
    if callable(value) and not isinstance(value, Kernel | Rate):
        return {"function": getattr(value, "__qualname__", type(value).__name__)}
    raise StateError(f"{value!r} cannot be saved. Use the parts that localarc ships.")


def _fields(value: Any) -> dict[str, Any]:
    return {f.name: describe(getattr(value, f.name)) for f in dataclasses.fields(value)}


def rebuild(
    description: Mapping[str, Any], kernel: Kernel | None = None, rate: Rate | None = None
) -> Settings:
    """The settings that were described; parts with functions in them have to be handed in again."""
    values = dict(description)
    values["kernel"] = _again("kernel", values["kernel"], kernel)
    values["rate"] = _again("rate", values["rate"], rate)
    values["memory"] = _part(values["memory"])
    return checked_settings(**values)


def _again(name: str, description: Any, given: Any) -> Any:
    """The part that was described, or the one given if it is the same as far as can be told."""
    function = _function(description)
    if given is None and function is None:
        return _part(description)
    if given is None:
        raise StateError(
            f"the state was saved with the function {function!r} in its {name}, and functions are "
            f"not stored. Pass the same one: load(path, {name}=...)."
        )
    if describe(given) != description:
        raise StateError(
            f"the {name} given is not the one that was saved: {describe(given)} instead of "
            f"{description}. A state goes on with its own {name}."
        )
    return given


def _function(description: Any) -> str | None:
    """The name of a function inside a description."""
    if not isinstance(description, Mapping):
        return None
    if "function" in description and isinstance(description["function"], str):
        return description["function"]
    return next((found for v in description.values() if (found := _function(v))), None)


def _part(description: Any) -> Any:
    if not isinstance(description, Mapping):
        return description
    fields = {key: _part(value) for key, value in description.items() if key != "kind"}
    if description["kind"] not in _KINDS:
        raise StateError(
            f"the state has a part of kind {description['kind']!r}, which this localarc does not "
            "know. Install a newer release."
        )
    return _KINDS[description["kind"]](**fields)
