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

PACKAGES = {"localarc": "#aa3377", "MAPIE": "#cc3311", "crepes": "#6b705c", "river": "#33bbee"}
"""For figures that compare packages; what localarc does by default is AutoLARC."""

_BLUES = ("#0b3c6f", "#0077bb", "#3fa0d8", "#7cc3ea", "#b0dcf5")
"""Variants of L-ARC, such as length scales: one hue, from dark to light."""

CATEGORIES = ("#332288", "#117733", "#ddaa33")
"""For what is no method, such as topics: none of these is the colour of a method."""

_LENGTH = "L-ARC l="
_OTHERS = ("#cc3311", "#33bbee", "#ee3377", "#7a5195", "#6b705c")


def colours(names: Iterable[str]) -> dict[str, str]:
    """Return a colour for each method.

    AutoLARC, L-ARC, ARC and Mondrian have fixed colours, also as "AutoLARC (last)"; so have
    localarc, MAPIE, crepes and river, also as "MAPIE ACI". The name of any other method determines
    its colour, unless it is already taken in the same figure. If there are more of these than
    colours, all of them are grey: no colour means two methods.

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
    names = list(dict.fromkeys(names))
    others = [name for name in names if not _fixed(name) and not name.startswith(_LENGTH)]
    grey = others if len(others) > len(_OTHERS) else []
    chosen = dict.fromkeys(grey, FAINT)
    for name in sorted(names, key=lambda name: not _fixed(name)):
        ring = _ring(name)
        free = [colour for colour in ring if colour not in chosen.values()]
        chosen.setdefault(name, (free or ring)[0])
    return {name: chosen[name] for name in names}


def _fixed(name: str) -> str | None:
    """Return the colour that a name has in every figure."""
    return METHODS.get(name.partition(" (")[0]) or PACKAGES.get(name.partition(" ")[0])


def _ring(name: str) -> list[str]:
    """Return the colours that a name can have, in order of preference."""
    family, first = _OTHERS, zlib.crc32(name.encode())
    if name.startswith(_LENGTH):
        family, first = _BLUES, _shade(name.removeprefix(_LENGTH))
    first %= len(family)
    fixed = _fixed(name)
    return [*([fixed] if fixed else []), *family[first:], *family[:first]]


def _shade(length_scale: str) -> int:
    """Return a lighter shade for a shorter length scale; a factor of two is one shade."""
    try:
        wanted = round(2.0 - math.log2(float(length_scale)))
    except ValueError:
        return 0
    return min(max(wanted, 0), len(_BLUES) - 1)
