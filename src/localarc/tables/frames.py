"""Frames in, frames out: rows of pandas, polars and others, and results with the same index.

narwhals is imported when a frame or a series is passed: arrays cost what they did without.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias, TypeGuard

import numpy as np
from numpy.typing import NDArray

from localarc.validation import FloatArray, distinct_columns

if TYPE_CHECKING:
    import narwhals.stable.v2 as nw

IntoFrame: TypeAlias = "nw.typing.IntoDataFrame | nw.typing.IntoSeries"
"""A frame or a series of pandas, polars or another library that narwhals reads."""

_ARRAYS = "numpy", "builtins"


@dataclass(frozen=True, eq=False)
class Rows:
    """What results have in common with the rows of a frame: its library, and pandas' index."""

    backend: Any
    index: Any = None

    @classmethod
    def of(cls, found: nw.DataFrame[Any] | nw.Series[Any]) -> Rows:
        """Return the rows of a frame or a series."""
        is_pandas = found.implementation.is_pandas_like()
        return cls(found.implementation, found.to_native().index if is_pandas else None)

    def frame(self, columns: Mapping[str, Any]) -> Any:
        """Return columns as a frame of the same library, with the same index."""
        import narwhals.stable.v2 as nw

        return self._indexed(nw.from_dict(dict(columns), backend=self.backend).to_native())

    def series(self, name: str, values: NDArray[Any]) -> Any:
        """Return values as a series of the same library, with the same index."""
        import narwhals.stable.v2 as nw

        return self._indexed(nw.new_series(name, values, backend=self.backend).to_native())

    def _indexed(self, made: Any) -> Any:
        if self.index is not None:
            made.index = self.index  # of pandas; other libraries have none
        return made


def read(value: Any, name: str = "a frame") -> nw.DataFrame[Any] | nw.Series[Any] | None:
    """Return a frame or a series, as narwhals sees it; None for arrays and everything else."""
    if type(value).__module__.partition(".")[0] in _ARRAYS:
        return None
    import narwhals.stable.v2 as nw

    distinct_columns(name, value)
    found = nw.from_native(value, eager_only=True, allow_series=True, pass_through=True)
    return found if isinstance(found, nw.DataFrame | nw.Series) else None


def require_frame(value: Any, name: str) -> nw.DataFrame[Any]:
    """Return a frame, as narwhals sees it; raises a TypeError for anything else."""
    found = read(value, name)
    if not is_frame(found):
        raise TypeError(
            f"{name} must be a data frame of pandas, polars or another package that narwhals "
            f"reads, got {type(value).__name__}."
        )
    return found


def is_frame(found: Any) -> TypeGuard[nw.DataFrame[Any]]:
    """Return whether what `read` returned is a frame."""
    return hasattr(found, "columns")


def rows_of(*values: Any) -> Rows | None:
    """Return the rows of the first frame or series, after checking that all have one index."""
    found = [Rows.of(each) for each in map(read, values) if each is not None]
    known = [rows.index for rows in found if rows.index is not None]
    if any(not known[0].equals(index) for index in known[1:]):
        raise ValueError(
            "frames and series of pandas must have the same index, in the same order: rounds are "
            "the rows as they come, and nothing is aligned. Use reindex or reset_index first."
        )
    return found[0] if found else None


def like(given: Any, name: str, values: FloatArray) -> FloatArray:
    """Return values as a series with the index of the series given; as they are for an array."""
    rows = rows_of(given)
    made: FloatArray = values if rows is None else rows.series(name, values)
    return made


def features(X: Any, without: Sequence[str] = ()) -> Any:
    """Return the numbers of a frame, except the columns `without`; an array as it is."""
    found = read(X)
    if found is None:
        return X
    if not is_frame(found):
        return found.to_numpy()
    kept = [name for name in found.columns if name not in without]
    texts = [name for name in kept if not _is_number(found[name].dtype)]
    if texts:
        raise TypeError(
            "X must contain only numbers, got text, dates or categories in "
            f"{', '.join(map(repr, texts))}. Name such columns in groups, or drop them."
        )
    return found.select(kept).to_numpy() if kept else np.empty((len(found), 0))


def _is_number(dtype: Any) -> bool:
    """Return whether a column may hold numbers; what objects hold is checked later."""
    import narwhals.stable.v2 as nw

    return bool(dtype.is_numeric() or dtype in (nw.Boolean, nw.Object))


def columns_of(value: Any) -> list[str]:
    """Return the names of the columns of a frame; none for an array."""
    return list(getattr(read(value), "columns", ()))


def group_columns(X: Any, groups: Any) -> list[str]:
    """Return the columns of a frame that `groups` names; none if it has the labels themselves."""
    names, columns = [groups] if isinstance(groups, str) else groups, columns_of(X)
    if not columns or not isinstance(names, list | tuple):
        return []
    if isinstance(groups, str) and groups not in columns:
        raise ValueError(f"groups={groups!r} must name a column of X; these are {columns}.")
    named = bool(names) and all(isinstance(name, str) and name in columns for name in names)
    return list(names) if named else []


def labels(groups: Any) -> Any:
    """Return the group of each row of a series, or the groups of each row of a frame.

    A row of a frame belongs to one group per column, such as "region=north". Where a value is
    missing, that is a group, too.
    """
    found = read(groups)
    if found is None:
        return groups
    if is_frame(found):
        columns = [_group_names(name, found[name]) for name in found.columns]
        return [list(row) for row in zip(*columns, strict=True)]
    series: Any = found
    gone = f"{series.name or 'group'} is missing"
    return [gone if value is None else value for value in known_values(series)]


def _group_names(name: str, column: Any) -> list[str]:
    """Return the group of each row by one column."""
    gone = f"{name or 'group'} is missing"
    return [gone if value is None else f"{name}={value}" for value in known_values(column)]


def known_values(column: nw.Series[Any] | NDArray[Any]) -> list[Hashable]:
    """Return the values of a column, None where they are missing."""
    values: list[Any]
    if isinstance(column, np.ndarray):
        values = column.tolist()
    else:
        gaps = column.is_null().to_list()
        values = [None if gap else v for v, gap in zip(column.to_list(), gaps, strict=True)]
    return [None if value is None or value != value else value for value in values]


def select(X: Any, columns: Sequence[str]) -> Any:
    """Return one column of a frame as a series, or several as a frame."""
    found: Any = read(X)
    chosen = found[columns[0]] if len(columns) == 1 else found.select(list(columns))
    return chosen.to_native()
