"""Infinite numbers: floats in Python, the texts "inf" and "-inf" in JSON, which has none."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import msgspec

if TYPE_CHECKING:
    Extended: TypeAlias = float
else:
    Extended = float | Literal["inf", "-inf"]
"""The type of a field that may be infinite; it always holds a float."""


class Infinite(float):
    """An infinite number. It is of a type of its own, so that encoders ask how to write it."""


def mark(message: msgspec.Struct, *fields: str) -> None:
    """Turn what infinite fields hold, texts or plain floats, into `Infinite`."""
    for field in fields:
        value = getattr(message, field)
        if value in _INFINITE:
            msgspec.structs.force_setattr(message, field, Infinite(value))


_INFINITE = {float("inf"), float("-inf"), "inf", "-inf"}


def as_text(value: Any) -> str:
    """How encoders write an infinite number: pass it to them as `enc_hook`."""
    if isinstance(value, Infinite):
        return "inf" if value > 0.0 else "-inf"
    raise NotImplementedError(f"cannot encode {type(value).__name__}")
