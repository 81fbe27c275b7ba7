"""Signatures that only exist at run time: those of msgspec structs, named tuples and kernels.

The reference is made from the sources, without importing them. Classes whose constructor is made
by a base class have none there; this extension of griffe asks the class itself.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from importlib import import_module
from typing import Any

import griffe


class RuntimeSignatures(griffe.Extension):  # type: ignore[misc]
    """Give classes with documented parameters, but without `__init__`, the one that they have."""

    def on_package(self, *, pkg: griffe.Module, **_: Any) -> None:
        """Complete every class of a package that was read."""
        for cls in _classes(pkg):
            if _lists_parameters(cls) and not _has_constructor(cls):
                cls.set_member("__init__", _constructor(cls))


def _classes(parent: griffe.Module | griffe.Class) -> Iterator[griffe.Class]:
    for member in parent.members.values():
        if isinstance(member, griffe.Class):
            yield member
        elif isinstance(member, griffe.Module):
            yield from _classes(member)


def _lists_parameters(cls: griffe.Class) -> bool:
    return cls.docstring is not None and "Parameters\n---" in cls.docstring.value


def _has_constructor(cls: griffe.Class) -> bool:
    """Whether griffe knows it: it is written out, or follows from the fields of a dataclass."""
    decorators = [str(decorator.value) for decorator in cls.decorators]
    dataclass = any("dataclass" in text and "init=False" not in text for text in decorators)
    return dataclass or "__init__" in cls.members


def _constructor(cls: griffe.Class) -> griffe.Function:
    value = getattr(import_module(cls.module.path), cls.name)
    listed = inspect.signature(value).parameters.values()
    parameters = [griffe.Parameter("self", kind=griffe.ParameterKind.positional_or_keyword)]
    parameters += [_parameter(part) for part in listed]
    return griffe.Function("__init__", parameters=griffe.Parameters(*parameters))


def _parameter(part: inspect.Parameter) -> griffe.Parameter:
    default = None if part.default is part.empty else repr(part.default)
    kind = griffe.ParameterKind(part.kind.description)
    return griffe.Parameter(part.name, kind=kind, default=default)
