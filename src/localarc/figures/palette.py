"""The palette: a colour means the same method in every figure, also to the colour-blind."""

from __future__ import annotations

import math
import zlib
from collections.abc import Iterable

INK = "#1d2027"
"""Text and the target line."""

FAINT = "#9aa1ad"
"""Spines, ticks and whatever stays in the background."""

METHODS = {"L-ARC": "#0077bb", "ARC": "#ee7733", "Mondrian": "#009988"}
"""Paul Tol's vibrant scheme, which stays apart in every kind of colour blindness."""

_BLUES = ("#0b3c6f", "#0077bb", "#3fa0d8", "#7cc3ea", "#b0dcf5")
"""Variants of L-ARC, such as length scales: one colour, from dark to light."""

_OTHERS = ("#cc3311", "#33bbee", "#ee3377", "#7a5195", "#6b705c")


def colours(names: Iterable[str]) -> dict[str, str]:
    """A colour for each method: ours are fixed, any other keeps the one that its name gives.

    Only where two unknown names of one figure want the same colour does the later one move on.

    >>> colours(["ARC", "mine"])["ARC"] == colours(["ARC"])["ARC"]
    True
    """
    chosen: dict[str, str] = {}
    for name in names:
        if name in METHODS:
            chosen[name] = METHODS[name]
            continue
        ring = _ring(name)
        free = [colour for colour in ring if colour not in chosen.values()]
        chosen[name] = (free or ring)[0]
    return chosen


def _ring(name: str) -> list[str]:
    """The colours that a name may have, the one it wants first."""
    family, first = _OTHERS, zlib.crc32(name.encode())
    if name.startswith("L-ARC l="):
        family, first = _BLUES, _shade(name.removeprefix("L-ARC l="))
    first %= len(family)
    return [*family[first:], *family[:first]]


def _shade(length_scale: str) -> int:
    """Light for short length scales, dark for long ones; a factor of two is one shade."""
    try:
        wanted = round(2.0 - math.log2(float(length_scale)))
    except ValueError:
        return 0
    return min(max(wanted, 0), len(_BLUES) - 1)
