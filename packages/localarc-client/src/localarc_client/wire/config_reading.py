"""Reading a config: the method that is meant, and errors that name what would be valid."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import msgspec
from msgspec import inspect

from localarc_client.wire.config import METHODS, StreamConfig


def read_config(plain: object) -> StreamConfig:
    """The config that a mapping describes; without `method` it is larc with a kernel, else auto.

    Raises msgspec.ValidationError if a value is invalid, or a field does not apply to the method.

    >>> read_config({"alpha": 0.1, "features": 2}).method
    'auto'
    """
    if isinstance(plain, Mapping) and "method" not in plain:
        plain = {"method": "auto" if plain.get("kernel") is None else "larc", **plain}
    try:
        config: StreamConfig = msgspec.convert(plain, StreamConfig)
    except msgspec.ValidationError as error:
        raise msgspec.ValidationError(_explained(str(error), plain)) from error
    return config


def decode_config(body: bytes | msgspec.Raw) -> StreamConfig:
    """The config in a JSON document."""
    return read_config(msgspec.json.decode(body))


def _explained(error: str, plain: Any) -> str:
    """The error, with what would be valid in that place."""
    place = re.search(r" - at `\$\.?([^`]*)`$", error)
    method = str(plain.get("method")) if isinstance(plain, Mapping) else ""
    if place is None and error.startswith("Object contains unknown field"):
        field = error.split("`")[1]
        fitting = [name for name, kind in METHODS.items() if field in kind.__struct_fields__]
        if fitting:
            return (
                f"{field} applies to method {_either(fitting)}, not to {method}: omit it, or set "
                "method"
            )
    if error == "Object missing required field `kernel`":
        return "method larc requires a kernel: add one, or use method auto"
    if not error.startswith(("Invalid", "Object contains unknown field")):
        return error
    kind: Any = METHODS.get(method, StreamConfig) if place else StreamConfig
    names = _valid_names(inspect.type_info(kind), place[1].split(".") if place else [])
    return f"{error}: expected one of {', '.join(names)}" if names else error


def _valid_names(kind: inspect.Type, path: list[str]) -> list[str]:
    """The values, the kinds of objects, or the fields that are valid at a path."""
    kinds = kind.types if isinstance(kind, inspect.UnionType) else (kind,)
    structs = [each for each in kinds if isinstance(each, inspect.StructType)]
    if path and path[0] in [struct.tag_field for struct in structs]:
        return [str(struct.tag) for struct in structs]
    fields = {field.encode_name: field.type for struct in structs for field in struct.fields}
    if path:
        return _valid_names(fields[path[0]], path[1:]) if path[0] in fields else []
    values = [each.values for each in kinds if isinstance(each, inspect.LiteralType)]
    tags = dict.fromkeys(str(each.tag_field) for each in structs if each.tag_field)
    return [str(value) for some in values for value in some] or [*tags, *fields]


def _either(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} or {names[-1]}"
