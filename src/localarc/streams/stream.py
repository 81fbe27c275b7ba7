"""A stream: the inputs, curves and groups of n rounds."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from localarc import validation
from localarc.curves import Curve, Curves
from localarc.validation import FloatArray, IntArray


class Round(NamedTuple):
    """One round of a stream.

    Parameters
    ----------
    x : array of float, shape (d,)
        Input.
    curve : Curve
        Loss and set size against the threshold.
    group : hashable, optional
        Group; None without groups.

    Examples
    --------
    >>> from localarc.streams import heteroscedastic
    >>> next(iter(heteroscedastic(10, seed=0))).group
    'middle'
    """

    x: FloatArray
    curve: Curve
    group: Hashable = None


@dataclass(frozen=True, eq=False)
class Stream:
    """The inputs, curves and groups of n rounds, in chronological order.

    Iterate over it to get one `Round` at a time, or pass its parts to `replay`.

    Parameters
    ----------
    name : str
        Name, for reports.
    X : array_like of float, shape (n, d)
        Input of each round; d may be 0.
    curves : Curves
        Loss and set size of each round against the threshold.
    groups : tuple of hashable, optional
        Group of each round.
    features : tuple of str, optional
        Names of the features. Default: x1, x2, ... in reports.

    Examples
    --------
    >>> from localarc import ARC, replay
    >>> from localarc.curves import miscoverage
    >>> stream = Stream("demand", [[0.0], [1.0]], miscoverage([0.5, 0.2]))
    >>> len(stream), len(replay(ARC(alpha=0.1), stream.X, stream.curves))
    (2, 2)
    """

    name: str
    X: FloatArray
    curves: Curves
    groups: tuple[Hashable, ...] | None = None
    features: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "X", validation.points(self.X, min_features=0))
        lengths = {len(self.X), len(self.curves), len(self.groups or self.X)}
        if len(lengths) != 1:
            raise ValueError(
                f"X, curves and groups must have the same number of rounds, got {sorted(lengths)}."
            )

    def __len__(self) -> int:
        return len(self.X)

    def take(self, rounds: IntArray | slice) -> Stream:
        """Return some of the rounds.

        Parameters
        ----------
        rounds : array of int, or slice
            Their indices.
        """
        chosen = np.arange(len(self))[rounds]
        groups = self.groups
        groups = None if groups is None else tuple(groups[t] for t in chosen.tolist())
        return replace(self, X=self.X[rounds], curves=self.curves.take(rounds), groups=groups)

    def __iter__(self) -> Iterator[Round]:
        groups = self.groups or [None] * len(self)
        for t, (x, group) in enumerate(zip(self.X, groups, strict=True)):
            yield Round(x, self.curves[t], group)
