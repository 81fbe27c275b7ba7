"""Sets as a caller sees them: like the rows that came, with one level or several."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from localarc.models.calibration import Calibration, Reading
from localarc.sets import Intervals, LabelMatrix
from localarc.tables.rows import Table
from localarc.validation import FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class Batch:
    """Rows that were asked together: their ids, and the sets to show.

    Parameters
    ----------
    ids : array of int, shape (n,)
        The ids of the rows, for `tell` and `forget`.
    sets : Intervals, LabelMatrix or array of bool
        The sets, as `predict_interval`, `predict_set` or `predict_mask` return them.

    Examples
    --------
    >>> batch = Batch(np.array([1, 2]), Intervals(np.zeros(2), np.ones(2)))
    >>> lower, upper = batch.sets
    >>> batch.ids, upper
    (array([1, 2]), array([1., 1.]))
    """

    ids: IntArray
    sets: Intervals | LabelMatrix | NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.ids)


def shown(calibration: Calibration, rows: Reading, thresholds: FloatArray, single: bool) -> Any:
    """The sets at thresholds: a single level has no axis of its own, frames keep their index."""
    found = calibration.kind.sets(rows.outputs, thresholds)
    levels = calibration.levels.coverages
    if isinstance(found, Intervals):
        return _intervals(found, rows.table, levels, single)
    if isinstance(found, LabelMatrix):
        members = found.members[:, :, 0] if single else found.members
        return label_matrix(members, found.classes, rows.table, levels)
    if isinstance(found, list):
        return [row[..., 0] for row in found] if single else found
    return found[..., 0] if single else found


def ranked(members: Any, table: Table, levels: tuple[float, ...]) -> LabelMatrix:
    """Sets of ranked items as a matrix, whose labels are the items' positions."""
    if isinstance(members, list):
        raise TypeError("rows have different numbers of items: use predict_mask.")
    return label_matrix(members, np.arange(members.shape[1]), table, levels)


def label_matrix(members: Any, labels: Any, table: Table, levels: tuple[float, ...]) -> LabelMatrix:
    """The matrix, which can become a frame as the rows were."""
    if table.frame is None:
        return LabelMatrix(members, labels)
    names = [str(label) for label in labels.tolist()]
    if members.ndim == 3:
        names = [f"{name} {level:g}" for name in names for level in levels]

    def as_frame(members: NDArray[np.bool_]) -> Any:
        return table.like(members.reshape(len(members), len(names)), names)

    return LabelMatrix(members, labels, as_frame)


def _intervals(
    found: Intervals, table: Table, levels: tuple[float, ...], single: bool
) -> Intervals:
    names = [f"{level:g}" for level in levels]
    lower, upper = (
        table.like(end[:, 0] if single else end, [name] if single else names)
        for end, name in zip(found, ("lower", "upper"), strict=True)
    )
    return Intervals(lower, upper)
