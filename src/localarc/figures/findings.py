"""What a figure found, in the words of its title."""

from __future__ import annotations

from collections.abc import Mapping

from localarc.figures.frame import short

_LISTED = 3


def by_method(values: Mapping[str, float], digits: str = ".3f") -> str:
    """Return the number of each method, or the lowest and the highest of many.

    >>> by_method({"ARC": 0.25, "AutoLARC": 0.1})
    'ARC 0.250, AutoLARC 0.100'
    >>> by_method({"a": 3.0, "b": 1.0, "c": 2.0, "d": 4.0}, ".2g")
    'b 1 to d 4'
    """
    numbers = {name: f"{value:{digits}}" for name, value in values.items()}
    if len(values) <= _LISTED:
        return ", ".join(f"{short(name)} {number}" for name, number in numbers.items())
    low, high = min(values, key=values.__getitem__), max(values, key=values.__getitem__)
    return f"{short(low)} {numbers[low]} to {short(high)} {numbers[high]}"
