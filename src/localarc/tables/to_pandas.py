"""Columns as a frame of pandas, which is imported when it is needed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas


def pandas_frame(columns: Mapping[str, Any], index: Any = None) -> pandas.DataFrame:
    """Return columns as a frame of pandas, by default with rows numbered from 0."""
    try:
        import pandas
    except ImportError as error:
        raise ImportError("to_pandas requires pandas: pip install 'localarc[pandas]'") from error
    made = pandas.DataFrame(columns)
    return made if index is None else made.set_axis(index, axis=0)
