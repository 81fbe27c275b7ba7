"""Settings as plain JSON values, and back."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from localarc.control import kernels, memory, rates
from localarc.control.kernels import Custom, Kernel, Radial
from localarc.control.rates import Rate, Schedule
from localarc.control.settings import Settings, checked_settings
from localarc.control.state import StateError

_PARTS: list[type] = [
    *kernels.Stationary.__subclasses__(),
    *(kernels.Sum, kernels.Product),
    *(rates.InverseSqrt, rates.Power, rates.Constant),
    *(memory.KeepAll, memory.KeepLast, memory.Lattice, memory.Dictionary, memory.Auto),
]
_KINDS = {part.__name__: part for part in _PARTS}


def describe(value: Any) -> Any:
    """A value as JSON: parts by kind and fields, functions by name only."""
    if isinstance(value, Custom | Radial | Schedule):
        function = value.function
        return {"function": getattr(function, "__qualname__", type(function).__name__)}
    if isinstance(value, Settings):
        return {f.name: describe(getattr(value, f.name)) for f in dataclasses.fields(value)}
    if type(value).__name__ in _KINDS:
        fields = {f.name: describe(getattr(value, f.name)) for f in dataclasses.fields(value)}
        return {"kind": type(value).__name__} | fields
    if value is None or isinstance(value, int | float | str):
        return value
    if isinstance(value, tuple):
        return [describe(part) for part in value]
    raise StateError(f"{value!r} cannot be saved. Use the parts that localarc ships.")


def rebuild(
    description: Mapping[str, Any], kernel: Kernel | None = None, rate: Rate | None = None
) -> Settings:
    """The settings that were described; functions have to be handed in again."""
    values = dict(description)
    values["kernel"] = kernel or _part("kernel", values["kernel"])
    values["rate"] = rate or _part("rate", values["rate"])
    values["memory"] = _part("memory", values["memory"])
    return checked_settings(**values)


def _part(name: str, description: Any) -> Any:
    if not isinstance(description, Mapping):
        return description
    if "function" in description:
        raise StateError(
            f"the state was saved with the function {description['function']!r} in its {name}, and "
            f"functions are not stored. Pass the same one: load(path, {name}=...)."
        )
    fields = {key: _part(name, value) for key, value in description.items() if key != "kind"}
    if description["kind"] not in _KINDS:
        raise StateError(
            f"the state has a {name} of kind {description['kind']!r}, which this localarc does not "
            "know. Install a newer release."
        )
    return _KINDS[description["kind"]](**fields)
