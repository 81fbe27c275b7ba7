"""The state format: small, versioned, without pickle, sealed by a checksum.

    magic (8 bytes) | header length (4 bytes) | header (JSON) | arrays, one after another | SHA-256

The header names the kind of object, the format's version, what the object needs to be built again,
and for every array its type and shape. Numbers are little-endian.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
from collections.abc import Hashable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from localarc.memory import Arrays

MAGIC = b"LOCALARC"
VERSION = 2  # 1 did not say by what rule a lattice was laid out
_TYPES: dict[str, np.dtype[Any]] = {
    "f8": np.dtype("<f8"),
    "i8": np.dtype("<i8"),
    "u1": np.dtype("<u1"),
}


class StateError(ValueError):
    """A state that cannot be read."""


def encode(kind: str, content: Mapping[str, Any], arrays: Arrays) -> bytes:
    """Bytes that `decode` turns back into the same kind, content and arrays."""
    stored = {name: np.asarray(arrays[name], order="C") for name in sorted(arrays)}
    layout = {name: [array.dtype.str[1:], list(array.shape)] for name, array in stored.items()}
    header = {"version": VERSION, "kind": kind, "content": content, "arrays": layout}
    text = json.dumps(header, sort_keys=True, allow_nan=False).encode()
    parts = [MAGIC, len(text).to_bytes(4, "little"), text]
    parts += [array.astype(_TYPES[array.dtype.str[1:]]).tobytes() for array in stored.values()]
    body = b"".join(parts)
    return body + hashlib.sha256(body).digest()


def decode(data: bytes, source: str = "state") -> tuple[str, dict[str, Any], Arrays]:
    """Kind, content and arrays of an encoded state, or one clear error."""
    if data[:8] != MAGIC:
        raise StateError(f"{source} is not a localarc state. Give a file written by save().")
    body, seal = data[:-32], data[-32:]
    if len(data) < 44 or hashlib.sha256(body).digest() != seal:
        raise StateError(
            f"{source} is damaged: it was cut short or edited after it was written. "
            "Go back to an earlier copy."
        )
    start = 12 + int.from_bytes(body[8:12], "little")
    try:
        header = json.loads(body[12:start])
        version, kind, content, layout = (
            header[key] for key in ("version", "kind", "content", "arrays")
        )
    except (ValueError, KeyError, TypeError) as error:
        raise StateError(f"{source} is not a localarc state: its header is foreign.") from error
    if version != VERSION:
        raise StateError(
            f"{source} has format version {version}, this localarc reads {VERSION}. "
            "Install the release of localarc that wrote it."
        )
    return kind, content, _unpack(layout, body[start:])


def _unpack(layout: Mapping[str, Any], data: bytes) -> Arrays:
    arrays = {}
    at = 0
    for name, (code, shape) in sorted(layout.items()):
        count = int(np.prod(shape, dtype=np.int64))
        arrays[name] = np.frombuffer(data, _TYPES[code], count, at).reshape(shape)
        at += arrays[name].nbytes
    return arrays


def read(path: str | os.PathLike[str]) -> bytes:
    """The bytes of a saved state."""
    try:
        return Path(path).read_bytes()
    except FileNotFoundError as error:
        raise StateError(f"{path} does not exist. Give a file written by save().") from error
    except OSError as error:
        raise StateError(f"{path} cannot be read: {error.strerror}.") from error


def plain(group: Hashable) -> Any:
    """A group as JSON; tuples become objects, so that they come back as tuples."""
    if isinstance(group, tuple):
        return {"tuple": [plain(part) for part in group]}
    number = isinstance(group, float) and not math.isfinite(group)
    if group is None or (isinstance(group, str | bool | int | float) and not number):
        return group
    raise StateError(
        f"group {group!r} cannot be saved. Use text, numbers or tuples of them as groups."
    )


def group(value: Any) -> Hashable:
    """The group that `plain` turned into JSON."""
    return tuple(group(part) for part in value["tuple"]) if isinstance(value, dict) else value
