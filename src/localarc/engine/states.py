"""States from outside: compiled loops look at no bounds, so what they are handed must fit."""

from collections.abc import Mapping
from typing import Any


def check_shapes(arrays: Mapping[str, Any], **shapes: tuple[int, ...]) -> None:
    """Raise unless every array named has exactly that shape."""
    for name, shape in shapes.items():
        found = arrays[name].shape
        require(found == shape, f"its {name} have the shape {found} instead of {shape}")


def require(sound: bool, otherwise: str) -> None:
    """Raise unless the state is sound."""
    if not sound:
        raise ValueError(f"the state is damaged, {otherwise}: go back to an earlier copy.")
