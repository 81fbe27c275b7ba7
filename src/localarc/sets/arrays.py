"""The sets of many predictions, in arrays."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from localarc.tables import frames
from localarc.validation import FloatArray, IntArray


@dataclass(frozen=True, eq=False, repr=False)
class Intervals:
    """n intervals; `lower, upper = intervals` unpacks them.

    Parameters
    ----------
    lower, upper : array or series of shape (n,), or (n, L) for L coverage levels
        The ends. An interval whose lower end is above its upper end is empty.

    Examples
    --------
    >>> found = Intervals(np.array([0.0, 1.0]), np.array([2.0, 5.0]))
    >>> lower, upper = found
    >>> upper - lower, found.sizes, found.covers([1.0, 6.0])
    (array([2., 4.]), array([2., 4.]), array([ True, False]))
    """

    lower: FloatArray
    upper: FloatArray

    def __iter__(self) -> Iterator[FloatArray]:
        yield self.lower
        yield self.upper

    def __len__(self) -> int:
        return len(self.lower)

    @property
    def sizes(self) -> FloatArray:
        """The widths; 0 for an empty interval."""
        widths: FloatArray = np.asarray(self.upper) - np.asarray(self.lower)
        return np.maximum(0.0, widths)

    def covers(self, y: ArrayLike) -> NDArray[np.bool_]:
        """Whether each interval contains the outcome of its row.

        Parameters
        ----------
        y : array of shape (n,)
            The outcomes.
        """
        lower, upper = np.asarray(self.lower), np.asarray(self.upper)
        at = np.asarray(y, float).reshape(-1, *[1] * (lower.ndim - 1))
        return np.asarray((lower <= at) & (at <= upper))

    def to_frame(self) -> object:
        """A frame of the library that the predictions came in, with their index.

        Returns
        -------
        frame
            The columns lower and upper, one row per interval; arrays have no frame.
        """
        rows = frames.rows_of(self.lower, self.upper)
        if rows is None or np.ndim(self.lower) != 1:
            raise TypeError("the predictions were no series: use `lower, upper = intervals`.")
        return rows.frame({"lower": np.asarray(self.lower), "upper": np.asarray(self.upper)})

    def __repr__(self) -> str:
        return f"Intervals({len(self)} rows, mean width {_mean(self.sizes)})"


@dataclass(frozen=True, eq=False, repr=False)
class LabelMatrix:
    """n sets of labels as a boolean matrix; `np.asarray(sets)` is the matrix.

    Parameters
    ----------
    members : array of bool, shape (n, K), or (n, K, L) for L coverage levels
        Which labels are in each set.
    classes : array of shape (K,)
        The labels, in the order of the columns.
    as_frame : function or None, default None
        Makes a frame of the matrix, if the rows came in one; see `to_frame`.

    Examples
    --------
    >>> found = LabelMatrix(np.array([[True, False], [True, True]]), np.array(["ant", "bee"]))
    >>> found.labels, found.sizes, found.covers(["bee", "bee"])
    ([('ant',), ('ant', 'bee')], array([1, 2]), array([False,  True]))
    """

    members: NDArray[np.bool_]
    classes: NDArray[np.generic]
    as_frame: Callable[[NDArray[np.bool_]], object] | None = None

    def to_frame(self) -> object:
        """A frame with the index of the rows and one boolean column per label (and level).

        Returns
        -------
        frame
            In the rows' own type, such as pandas or polars; arrays have no frame.
        """
        if self.as_frame is None:
            raise TypeError("the rows were no frame: use np.asarray(sets), and sets.classes.")
        return self.as_frame(self.members)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        if copy is None:  # which NumPy 1 does not know
            return np.asarray(self.members, dtype)
        return np.array(self.members, dtype, copy=copy)

    def __len__(self) -> int:
        return len(self.members)

    @property
    def labels(self) -> list[tuple[Hashable, ...]] | list[list[tuple[Hashable, ...]]]:
        """The labels of each set, as tuples; a list of these per row for several levels."""
        names = self.classes.tolist()
        if self.members.ndim == 2:
            return [_members(names, row) for row in self.members]
        return [[_members(names, level) for level in row.T] for row in self.members]

    @property
    def sizes(self) -> IntArray:
        """The number of labels in each set."""
        counts: IntArray = self.members.sum(axis=1)
        return counts

    def covers(self, y: ArrayLike) -> NDArray[np.bool_]:
        """Whether each set contains the true label of its row.

        Parameters
        ----------
        y : array of shape (n,)
            The true labels.
        """
        at = {name: k for k, name in enumerate(self.classes.tolist())}
        known = [at.get(name, -1) for name in np.asarray(y).tolist()]
        columns = np.array(known, np.int64)
        inside: NDArray[np.bool_] = self.members[np.arange(len(columns)), columns]
        inside[columns < 0] = False
        return inside

    def __repr__(self) -> str:
        return f"LabelMatrix({len(self)} rows, mean size {_mean(self.sizes)})"


def _members(names: list[Hashable], row: NDArray[np.bool_]) -> tuple[Hashable, ...]:
    return tuple(names[k] for k in np.flatnonzero(row))


def _mean(sizes: NDArray[Any]) -> str:
    return f"{sizes.mean():.4g}" if sizes.size else "unknown"
