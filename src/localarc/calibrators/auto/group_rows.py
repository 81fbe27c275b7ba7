"""The groups of many rounds at once: each combination is resolved once."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import repeat
from typing import Any

import numpy as np
from numpy.typing import NDArray

from localarc.calibrators.auto.groups import GroupNames, Groups, Resolved, combination
from localarc.validation import FloatArray


def resolve_rows(
    names: GroupNames, points: FloatArray, groups: Sequence[Groups] | None
) -> tuple[Resolved, list[tuple[Any, ...]]]:
    """(n, g) keys and weights, 0 where a round has fewer; and what to remember of them.

    Features that are missing in `points` are groups as well. Nothing is remembered yet: pass the
    second part to `names.add`.
    """
    gaps = np.isnan(points)
    if groups is None and not gaps.any():
        return (np.zeros((len(points), 0), np.int64), np.zeros((len(points), 0))), []
    each = repeat(None, len(points)) if groups is None else groups
    codes, found, given = _codes(names, each, _missing(gaps))
    width = max((len(keys) for keys, _ in found), default=0)
    keys, weights = np.zeros((len(found), width), np.int64), np.zeros((len(found), width))
    for i, (its_keys, its_weights) in enumerate(found):
        keys[i, : len(its_keys)], weights[i, : len(its_keys)] = its_keys, its_weights
    return (keys[codes], weights[codes]), given


def _missing(gaps: NDArray[np.bool_]) -> Iterable[tuple[int, ...]]:
    """The missing features of each row."""
    if not gaps.any():
        return repeat((), len(gaps))
    patterns, codes = np.unique(gaps, axis=0, return_inverse=True)
    features = [tuple(np.flatnonzero(pattern).tolist()) for pattern in patterns]
    return [features[code] for code in codes.ravel().tolist()]


def _codes(
    names: GroupNames, groups: Iterable[Any], missing: Iterable[tuple[int, ...]]
) -> tuple[list[int], list[Resolved], list[tuple[Any, ...]]]:
    """For each row the number of its combination; and the combinations, resolved and as given."""
    numbers: dict[Any, int] = {}
    codes, found, given = list[int](), list[Resolved](), list[tuple[Any, ...]]()
    for labels, gaps in zip(groups, missing, strict=True):
        mark = combination(labels, gaps)
        try:
            code = numbers.setdefault(mark, len(found))
        except TypeError:  # not hashable: invalid, or a weight that is an array
            code = len(found)
        if code == len(found):
            found.append(_resolved(names, labels, gaps, len(codes)))
            given.append((labels, gaps))
        codes.append(code)
    return codes, found, given


def _resolved(names: GroupNames, labels: Any, gaps: tuple[int, ...], row: int) -> Resolved:
    try:
        return names.resolve(labels, gaps)
    except (TypeError, ValueError) as error:
        error.add_note(f"in row {row}, counted from 0; nothing was learned.")
        raise
