"""The columns of an Arrow table that are read, as numbers and text."""

from __future__ import annotations

from typing import Any

import numpy as np

from localarc.many.columns import ASK as ASK_KIND
from localarc.many.columns import LEARN as LEARN_KIND
from localarc.many.columns import Columns
from localarc.many.panel.late import AFTER, ASK, LEARN
from localarc.many.panel.table import arrow
from localarc.many.rows.events import NO_TIME, Rows
from localarc.validation import FloatArray, IntArray


def read_rows(table: Any, columns: Columns) -> Rows:
    """The rows of a table; raises TypeError if a column has the wrong type."""
    names, codes = key_codes(table, columns.keys)
    orders = None if columns.order is None else _integers(table, columns.order, "order")
    if columns.time is not None:
        orders = read_times(table, columns.time)
    ids = None if columns.id is None else _text(table, columns.id, "id")
    width = None if columns.width is None else _floats(table, columns.width)
    values = _floats(table, columns.value)
    X = np.empty((table.num_rows, len(columns.features)))
    for i, name in enumerate(columns.features):
        X[:, i] = _floats(table, name)
    acts, timed = _acts(table, columns), columns.time is not None
    return Rows(names, codes, orders, acts, ids, values, width, X, timed)


def key_codes(table: Any, columns: tuple[str, ...]) -> tuple[list[str], IntArray]:
    """The distinct keys, sorted, and the place of each row's key; -1 where it is missing."""
    encoded = key_texts(table, columns).dictionary_encode()
    names: list[str] = encoded.dictionary.to_pylist()
    order = sorted(range(len(names)), key=names.__getitem__)
    ranks = np.empty(len(names) + 1, np.int64)
    ranks[order], ranks[-1] = np.arange(len(names)), -1
    codes: IntArray = ranks[_filled(encoded.indices, -1)]
    return [names[i] for i in order], codes


def key_texts(table: Any, columns: tuple[str, ...]) -> Any:
    """The key of each row as text, null where it is missing."""
    return composite_key([_text(table, name, "key") for name in columns])


def composite_key(texts: list[Any]) -> Any:
    """One text per row: parts are separated by "/", and "/" and "%" within them are escaped."""
    pa = arrow()
    if len(texts) == 1:
        return texts[0]
    replace = pa.compute.replace_substring
    escaped = [replace(replace(text, "%", "%25"), "/", "%2F") for text in texts]
    return pa.compute.binary_join_element_wise(*escaped, "/")  # null if a part is


def _acts(table: Any, columns: Columns) -> IntArray:
    if not columns.late:
        act = LEARN | AFTER if columns.given_losses else ASK | LEARN
        return np.full(table.num_rows, act, np.int64)
    pa = arrow()
    kind = _text(table, str(columns.kind), "kind")
    values = pa.array([ASK_KIND, LEARN_KIND])
    found = pa.compute.fill_null(pa.compute.index_in(kind, values), -1)
    acts: IntArray = np.array([ASK, LEARN, 0], np.int64)[np.asarray(found)]
    return acts


def _text(table: Any, name: str, role: str) -> Any:
    pa = arrow()
    column = _combined(table, name)
    types = pa.types
    if types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if types.is_string(column.type):
        return column
    if not (types.is_large_string(column.type) or _is_text_like(column.type)):
        raise TypeError(
            f"{role} must be text or integers, column {name!r} is {column.type}. Cast it first."
        )
    return column.cast(pa.string())


def _is_text_like(kind: Any) -> bool:
    types = arrow().types
    view = getattr(types, "is_string_view", None)
    return bool(types.is_integer(kind) or types.is_null(kind) or (view and view(kind)))


def _integers(table: Any, name: str, role: str) -> IntArray:
    """Whole numbers, 0 where one is missing."""
    pa = arrow()
    column = _combined(table, name)
    try:
        if not pa.types.is_integer(column.type) and not pa.types.is_floating(column.type):
            raise TypeError
        whole = _cast(column, pa.int64())
    except (TypeError, pa.ArrowInvalid) as error:
        raise TypeError(
            f"{role} must be integers, column {name!r} is {column.type}. Cast it first."
        ) from error
    return _filled(whole, 0)


def read_times(table: Any, name: str) -> IntArray:
    """Microseconds since 1970, NO_TIME where a time is missing."""
    pa = arrow()
    column, types = _combined(table, name), pa.types
    if types.is_string(column.type) or types.is_large_string(column.type):  # of CSV or JSON
        column = _parsed_times(column)
    fits = (types.is_timestamp, types.is_date, types.is_null)
    if not any(fit(column.type) for fit in fits):
        raise TypeError(
            f"time must be timestamps, or text in ISO 8601; column {name!r} is {column.type}."
        )
    whole = column.cast(pa.timestamp("us", getattr(column.type, "tz", None)), safe=False)
    return _filled(whole.cast(pa.int64()), NO_TIME)


def _parsed_times(column: Any) -> Any:
    """Text in ISO 8601 as times, with or without a zone; other text stays as it is."""
    pa = arrow()
    for zone in ("UTC", None):
        try:
            return column.cast(pa.timestamp("us", zone))
        except pa.ArrowInvalid:
            continue
    return column


def _floats(table: Any, name: str) -> FloatArray:
    pa = arrow()
    column = _combined(table, name)
    types = pa.types
    if types.is_boolean(column.type):
        column = column.cast(pa.int8())
    elif not (_is_number(column.type) or types.is_null(column.type)):
        raise TypeError(
            f"score, loss, width and features must be numbers, column {name!r} is {column.type}. "
            "Cast it first."
        )
    floats = _cast(column, pa.float64(), safe=False)
    return np.asarray(floats.to_numpy(zero_copy_only=False))


def _is_number(kind: Any) -> bool:
    types = arrow().types
    return bool(types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind))


# A few rows are read in every micro-batch: calls that would change nothing cost more than the rows.


def _cast(column: Any, kind: Any, safe: bool = True) -> Any:
    """The column as this type."""
    return column if column.type == kind else column.cast(kind, safe=safe)


def _filled(column: Any, missing: int) -> IntArray:
    """The integers of a column, and this one where there is none."""
    full = arrow().compute.fill_null(column, missing) if column.null_count else column
    return np.asarray(full)


def _combined(table: Any, name: str) -> Any:
    column = table.column(name)
    return column.combine_chunks() if hasattr(column, "combine_chunks") else column
