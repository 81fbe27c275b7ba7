"""Colours: each method has the same colour in every figure, distinct to the colour-blind."""

from __future__ import annotations

import math
import zlib
from collections.abc import Iterable

INK = "#1d2027"
"""Text and the target line."""

FAINT = "#9aa1ad"
"""Spines, ticks and other background elements."""

METHODS = {"AutoLARC": "#aa3377", "L-ARC": "#0077bb", "ARC": "#ee7733", "Mondrian": "#009988"}
"""From Paul Tol's schemes, which are safe for all types of colour blindness."""

_ALIASES = {"localarc": "AutoLARC"}

_BLUES = ("#0b3c6f", "#0077bb", "#3fa0d8", "#7cc3ea", "#b0dcf5")
"""Variants of L-ARC, such as length scales: one hue, from dark to light."""

CATEGORIES = ("#332288", "#117733", "#ddaa33")
"""For what is no method, such as topics: none of these is the colour of a method."""

_OTHERS = ("#cc3311", "#33bbee", "#ee3377", "#7a5195", "#6b705c")


def colours(names: Iterable[str]) -> dict[str, str]:
    """Return a colour for each method.

    AutoLARC, L-ARC, ARC and Mondrian have fixed colours, also as "AutoLARC (last)"; "localarc" is
    AutoLARC. The name of any other method determines its colour, unless an earlier name in the same
    figure already has it.

    Parameters
    ----------
    names : iterable of str
        Names of the methods in a figure.

    Returns
    -------
    dict of str to str
        Hexadecimal colours by name.

    Examples
    --------
    >>> colours(["ARC", "mine"])["ARC"] == colours(["ARC"])["ARC"]
    True
    """
    chosen: dict[str, str] = {}
    for name in names:
        ring = _ring(name)
        free = [colour for colour in ring if colour not in chosen.values()]
        chosen[name] = (free or ring)[0]
    return chosen


def _ring(name: str) -> list[str]:
    """Return the colours that a name can have, in order of preference."""
    family, first = _OTHERS, zlib.crc32(name.encode())
    known = METHODS.get(_ALIASES.get(name, name.partition(" (")[0]))
    if known:
        return [known, *_OTHERS[first % len(_OTHERS) :], *_OTHERS[: first % len(_OTHERS)]]
    if name.startswith("L-ARC l="):
        family, first = _BLUES, _shade(name.removeprefix("L-ARC l="))
    first %= len(family)
    return [*family[first:], *family[:first]]


def _shade(length_scale: str) -> int:
    """Return a lighter shade for a shorter length scale; a factor of two is one shade."""
    try:
        wanted = round(2.0 - math.log2(float(length_scale)))
    except ValueError:
        return 0
    return min(max(wanted, 0), len(_BLUES) - 1)
