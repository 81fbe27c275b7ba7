"""The palette: a colour means the same method in every figure, also to the colour-blind."""

from __future__ import annotations

import zlib
from collections.abc import Iterable

INK = "#1d2027"
"""Text and the target line."""

FAINT = "#9aa1ad"
"""Spines, ticks and whatever stays in the background."""

METHODS = {"L-ARC": "#0077bb", "ARC": "#ee7733", "Mondrian": "#009988"}
"""Paul Tol's vibrant scheme, which stays apart in every kind of colour blindness."""

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
        first = zlib.crc32(name.encode()) % len(_OTHERS)
        ring = [*_OTHERS[first:], *_OTHERS[:first]]
        free = [colour for colour in ring if colour not in chosen.values()]
        chosen[name] = (free or ring)[0]
    return chosen
