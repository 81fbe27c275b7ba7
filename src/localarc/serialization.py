"""The state format: small, versioned, without pickle, protected by a checksum.

    magic (8 bytes) | header length (4 bytes) | header (JSON) | arrays, one after another | SHA-256

The header names the kind of object, the format's version, the number of the algorithm that made
it, what the object needs to be built again, and for every array its type and shape. Numbers are
little-endian.

Kernels, rates and memories are stored by class name and fields, so a renamed class or field needs
a new version, and `_upgrade` a line that reads the old one.
"""

from __future__ import annotations

import contextlib
import dataclasses
import hashlib
import json
import math
import os
from collections.abc import Hashable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from localarc import algorithms, kernels, memory, rates, validation
from localarc.kernels import Custom, Kernel, Radial, Stationary
from localarc.memory.base import Arrays
from localarc.rates import Rate, Schedule

MAGIC = b"LOCALARC"
VERSION = 4
_OLDEST = 2  # version 1 did not say by what rule a lattice was laid out
_TYPES: dict[str, np.dtype[Any]] = {
    "f8": np.dtype("<f8"),
    "i8": np.dtype("<i8"),
    "u1": np.dtype("<u1"),
}


class StateError(ValueError):
    """A state that cannot be read."""


_JSON = json.JSONEncoder(sort_keys=True, allow_nan=False)


@dataclasses.dataclass(frozen=True, slots=True)
class Rendered:
    """A part of a header that is JSON already: what seldom changes need not be written again."""

    text: str

    @classmethod
    def of(cls, value: Any) -> Rendered:
        """The JSON of a value; an object may have values that were rendered before."""
        if not isinstance(value, Mapping):
            return cls(_JSON.encode(value))
        parts = ((name, value[name]) for name in sorted(value))
        texts = (
            f"{_JSON.encode(name)}: "
            f"{part.text if isinstance(part, Rendered) else _JSON.encode(part)}"
            for name, part in parts
        )
        return cls(f"{{{', '.join(texts)}}}")


def encode(kind: str, content: Mapping[str, Any], arrays: Arrays) -> bytes:
    """Bytes that `decode` turns back into the same kind, content and arrays."""
    stored = {name: np.asarray(arrays[name]) for name in sorted(arrays)}
    layout = {name: [array.dtype.str[1:], list(array.shape)] for name, array in stored.items()}
    header = {"version": VERSION, "kind": kind, "content": Rendered.of(content), "arrays": layout}
    header |= _algorithm(kind)
    text = Rendered.of(header).text.encode()
    parts: list[Any] = [MAGIC, len(text).to_bytes(4, "little"), text]
    parts += [_flat(array).data for array in stored.values()]
    checksum = hashlib.sha256()
    for part in parts:
        checksum.update(part)
    return b"".join([*parts, checksum.digest()])


def _algorithm(kind: str) -> dict[str, int]:
    """The algorithm's number, so that later ones know what they continue from.

    The first has none: states from before there were numbers are of it, and stay as they were.
    """
    number = algorithms.number_of(kind)
    return {} if number == 1 else {"algorithm": number}


def _flat(array: Any) -> Any:
    """The numbers of an array one after another, little-endian; a copy only if they are not."""
    return np.ascontiguousarray(array, _TYPES[array.dtype.str[1:]]).reshape(-1)


def decode(data: bytes, source: str = "state") -> tuple[str, dict[str, Any], Arrays]:
    """Kind, content and arrays of an encoded state, or one clear error."""
    header, packed = _parts(data, source)
    kind, content, version = header["kind"], header["content"], header["version"]
    with damaged_unless_read(source):
        if version == 2 and kind == "LARC" and content["settings"]["kernel"] is None:
            kind = "ARC"  # which L-ARC without a kernel was
        return str(kind), _upgrade(content, version), _unpack(header["arrays"], packed)


def algorithm_of(data: bytes) -> int:
    """The number of the algorithm that made a state: what a later one continues from."""
    header, _ = _parts(data, "state")
    hint = "It is the number of an algorithm."
    with damaged_unless_read():
        return validation.integer("algorithm", header.get("algorithm", 1), 1, hint)


def _parts(data: bytes, source: str) -> tuple[dict[str, Any], memoryview]:
    """The header of an encoded state, and the bytes of its arrays."""
    if not isinstance(data, bytes | bytearray | memoryview):
        raise StateError(
            f"{source} must be bytes, as `state()` returns them, got {validation.shown(data)}. "
            "Read a file with `load(path)`."
        )
    if data[:8] != MAGIC:
        raise StateError(f"{source} is not a localarc state. Pass a file written by save().")
    body, seal = memoryview(data)[:-32], data[-32:]
    if len(data) < 44 or hashlib.sha256(body).digest() != seal:
        raise StateError(
            f"{source} is damaged: it was cut short or edited after it was written. "
            "Go back to an earlier copy."
        )
    start = 12 + int.from_bytes(body[8:12], "little")
    try:
        header = json.loads(data[12:start])
        version, *_ = (header[key] for key in ("version", "kind", "content", "arrays"))
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise StateError(f"{source} is not a localarc state: unrecognized header.") from error
    if version not in range(_OLDEST, VERSION + 1):
        raise StateError(
            f"{source} has format version {version!r}, this localarc reads {_OLDEST} to {VERSION}. "
            "Install the release of localarc that wrote it."
        )
    return header, body[start:]


@contextlib.contextmanager
def damaged_unless_read(source: str = "the state") -> Iterator[None]:
    """Turn any failure to read a state into one clear error."""
    try:
        yield
    except StateError:
        raise
    except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError) as error:
        raise StateError(
            f"{source} is damaged, it does not fit together ({error}). Go back to an earlier copy."
        ) from error


def _upgrade(content: Any, version: int) -> Any:
    """What the present version would have stored.

    Version 2 named a kernel's denominator `length_scale`. Version 3 had no floor, no tickets, and
    half the fields of a running constant.
    """
    if version >= VERSION:
        return content
    if version == 2:
        content = _rename_length_scale(content)
    if "trace" in content:
        start = content["settings"]["initial_threshold"]
        content["trace"] = dict.fromkeys(_NEW_FIELDS, 0) | {"start": start} | content["trace"]
        content["settings"] = content["settings"] | {"floor": None}
        content["tickets"] = {"issued": 0, "told": 0, "most": 0}
    return content


_NEW_FIELDS = (
    *("earlier", "lifted", "rate_rise"),
    *("full_fails", "full_since", "empty_passes", "empty_since"),
)


def _rename_length_scale(content: Any) -> Any:
    if isinstance(content, list):
        return [_rename_length_scale(part) for part in content]
    if not isinstance(content, dict):
        return content
    renamed = {name: _rename_length_scale(value) for name, value in content.items()}
    if "kind" in renamed and "length_scale" in renamed:
        renamed["denominator"] = renamed.pop("length_scale")
    return renamed


def _unpack(layout: Mapping[str, Any], data: memoryview) -> Arrays:
    arrays = {}
    at = 0
    for name, (code, shape) in sorted(layout.items()):
        count = math.prod(validation.integer("a length", n, 0, "It counts entries.") for n in shape)
        if count * _TYPES[code].itemsize > len(data) - at:
            raise ValueError(f"{name} is cut short")
        arrays[name] = np.frombuffer(data, _TYPES[code], count, at).reshape(shape)
        at += arrays[name].nbytes
    if at != len(data):
        raise ValueError(f"{len(data) - at} bytes are left over")
    return arrays


def read(path: str | os.PathLike[str]) -> bytes:
    """The bytes of a saved state."""
    try:
        return Path(path).read_bytes()
    except FileNotFoundError as error:
        raise StateError(f"{path} does not exist. Pass a file written by save().") from error
    except OSError as error:
        raise StateError(f"{path} cannot be read: {error.strerror}.") from error


def group_to_json(group: Hashable) -> Any:
    """A group as JSON; tuples become objects, so that they come back as tuples."""
    if isinstance(group, tuple):
        return {"tuple": [group_to_json(part) for part in group]}
    number = isinstance(group, float) and not math.isfinite(group)
    if group is None or (isinstance(group, str | bool | int | float) and not number):
        return group
    raise StateError(
        f"group {group!r} cannot be saved. Use text, numbers or tuples of them as groups."
    )


def group_from_json(value: Any) -> Hashable:
    """The group that `group_to_json` turned into JSON."""
    if isinstance(value, dict) and value.keys() == {"tuple"} and isinstance(value["tuple"], list):
        return tuple(group_from_json(part) for part in value["tuple"])
    if value is not None and not isinstance(value, str | bool | int | float):
        raise StateError(f"the state is damaged: {validation.shown(value)} is no group.")
    return value


# ---- kernels, rates and memories as JSON -----------------------------------------------------

_PARTS: tuple[type, ...] = (
    *kernels.KERNELS.values(),
    *(kernels.Sum, kernels.Product),
    *(rates.InverseSqrt, rates.Power, rates.Constant),
    *(memory.KeepAll, memory.KeepLast, memory.Lattice, memory.Dictionary, memory.Auto),
)
_KINDS = {part.__name__: part for part in _PARTS}


def to_json(value: Any) -> Any:
    """A kernel, rate, memory or plain value as JSON; functions by name only."""
    if isinstance(value, Custom | Radial | Schedule) or type(value) in _PARTS:
        return {"kind": type(value).__name__} | fields_to_json(value)
    if value is None or isinstance(value, int | float | str):
        return value
    if isinstance(value, tuple):
        return [to_json(part) for part in value]
    if callable(value) and not isinstance(value, Kernel | Rate):
        return {"function": getattr(value, "__qualname__", type(value).__name__)}
    raise StateError(f"{value!r} cannot be saved. Only built-in kernels, rates and memories can.")


def fields_to_json(value: Any) -> dict[str, Any]:
    """The fields of a dataclass as JSON."""
    return {f.name: to_json(getattr(value, f.name)) for f in dataclasses.fields(value)}


def from_json(description: Any) -> Any:
    """The value that `to_json` described."""
    if not isinstance(description, Mapping):
        return description
    fields = {key: from_json(value) for key, value in description.items() if key != "kind"}
    part = _KINDS.get(description["kind"])
    if part is None:
        raise StateError(
            f"the state has a part of kind {description['kind']!r}, which this localarc does not "
            "know. Install a newer release."
        )
    if not issubclass(part, Stationary):
        return part(**fields)
    denominator, scale = fields.pop("denominator"), fields.pop("scale")
    return part(**fields).replace(denominator, scale)


def resolve(name: str, description: Any, given: Any) -> Any:
    """The part that was described, or the one given, if their descriptions agree."""
    function = _function_name(description)
    if given is None and function is None:
        return from_json(description)
    if given is None:
        raise StateError(
            f"the state was saved with the function {function!r} in its {name}, and functions are "
            f"not stored. Pass the same one: load(path, {name}=...)."
        )
    if to_json(given) != description:
        raise StateError(
            f"the {name} given is not the one that was saved: {to_json(given)} instead of "
            f"{description}. A saved state must be loaded with the {name} it was saved with."
        )
    return given


def _function_name(description: Any) -> str | None:
    """The name of a function inside a description."""
    if not isinstance(description, Mapping):
        return None
    if "function" in description and isinstance(description["function"], str):
        return description["function"]
    return next((found for v in description.values() if (found := _function_name(v))), None)
