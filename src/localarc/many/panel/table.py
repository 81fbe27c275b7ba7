"""A panel as one Arrow table, one row per key: for Parquet files, and for other tools to read.

ARC and L-ARC have a column for each field of their running constants, which `constant`, `rounds`
and `loss_sum` are among, and lists for the terms of local parts. AutoLARC has its state as bytes.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from localarc import serialization
from localarc.adaptive.running_constant import RunningConstant
from localarc.calibrators.arc import ARC
from localarc.calibrators.larc import LARC
from localarc.many.panel import adaptive_state
from localarc.many.panel.adaptive_streams import AdaptiveStreams
from localarc.many.panel.keys import KeyIndex, as_keys
from localarc.many.panel.kinds import Prototype
from localarc.many.panel.local import ragged
from localarc.many.panel.state import StoredPanel
from localarc.memory.base import Arrays

if TYPE_CHECKING:
    from localarc.many.panel.panel import Panel

FORMAT = 1
METADATA = b"localarc"
STATE, LOCAL, SHAPE = "state", "local_", "_shape"  # Spark changes names that have spaces
_SINGLE = ("rows", "squares")


def arrow() -> Any:
    """The module pyarrow; raises ImportError with the command that installs it."""
    try:
        import pyarrow
        import pyarrow.compute
    except ImportError as error:
        raise ImportError("this requires pyarrow: pip install 'localarc[keyed]'") from error
    return pyarrow


def to_table(panel: Panel, columns: Mapping[str, Any] | None = None, **more: Any) -> Any:
    """The panel as a table with further columns; its metadata has the prototype, and `more`."""
    pa = arrow()
    text = all(isinstance(key, str) for key in panel.keys)
    keys = panel.keys if text else [json.dumps(key) for key in panel.keys]
    made = pa.table({"key": pa.array(keys, pa.string()), **_columns(panel), **(columns or {})})
    prototype = base64.b64encode(panel.prototype.state()).decode()
    about = {"format": FORMAT, "prototype": prototype, "dimension": panel.dimension}
    about |= {"text keys": text, "columns": made.column_names}
    return with_metadata(made, about | more)


def with_metadata(table: Any, about: dict[str, Any]) -> Any:
    """The table, with what `read_metadata` returns."""
    return table.replace_schema_metadata({METADATA: json.dumps(about, sort_keys=True).encode()})


def stored_panel(table: Any, prototype: Prototype | None = None) -> tuple[Prototype, StoredPanel]:
    """The inverse of `to_table`, for `Panel`; raises StateError for other tables."""
    about = read_metadata(table)
    with serialization.damaged_unless_read("the table"):
        data = base64.b64decode(about["prototype"])
        keys = table["key"].to_pylist()
        if not about["text keys"]:
            keys = [json.loads(key) for key in keys]
        index = KeyIndex(as_keys(keys))
        made = prototype or StoredPanel(index, about["dimension"], data, {}).new_prototype()
        return made, StoredPanel(index, about["dimension"], data, _arrays(table, made))


def read_parquet(data: bytes) -> Any:
    """The table in the bytes of a Parquet file; raises StateError if it is damaged."""
    pa = arrow()
    from pyarrow import parquet

    try:
        return parquet.read_table(pa.BufferReader(data))
    except (pa.ArrowException, OSError) as error:
        raise serialization.StateError(
            f"it is not a Parquet file, or damaged: {str(error).splitlines()[0]}"
        ) from error


def read_metadata(table: Any) -> dict[str, Any]:
    """What `to_table` put into the metadata; raises StateError if that is not there."""
    found = (table.schema.metadata or {}).get(METADATA)
    if found is None:
        raise serialization.StateError(
            "the table is not a localarc state. Pass a Parquet file written by localarc.many."
        )
    about: dict[str, Any] = json.loads(found)
    if about["format"] > FORMAT:
        raise serialization.StateError(
            f"the table has format {about['format']}, this localarc reads up to {FORMAT}. "
            "Install the release of localarc that wrote it."
        )
    if lost := sorted(set(about["columns"]) - set(table.column_names)):
        raise serialization.StateError(
            f"the table has lost its columns {', '.join(lost)}. Go back to an earlier copy."
        )
    return about


def _columns(panel: Panel) -> dict[str, Any]:
    pa, streams = arrow(), panel._streams
    if not isinstance(streams, AdaptiveStreams):
        arrays = streams.arrays()
        stops = np.cumsum(arrays["lengths"]).tolist()
        data = arrays["states"].tobytes()
        states = [data[start:stop] for start, stop in zip([0, *stops], stops, strict=False)]
        return {STATE: pa.array(states, pa.large_binary())}
    values = streams._constants.values
    columns = {name: pa.array(values[:, i]) for i, name in enumerate(RunningConstant.FIELDS)}
    return columns | _local_columns(streams._local_arrays(), len(panel))


def _local_columns(local: Arrays, count: int) -> dict[str, Any]:
    """A list per key for each array of its local part; null for keys without one."""
    if not local:
        return {}
    pa = arrow()
    places = np.full(count, -1)
    places[local["rows"]] = np.arange(len(local["rows"]))
    chosen = pa.array(np.maximum(places, 0), mask=places < 0)
    columns = {LOCAL + "squares": pa.array(local["squares"])}
    for name, values in local.items():
        if name in _SINGLE or name.endswith(ragged.SHAPE):
            continue
        shapes = local[name + ragged.SHAPE]
        columns[LOCAL + name] = _lists(values, shapes.prod(axis=1))
        widths = np.full(len(shapes), shapes.shape[1])
        columns[LOCAL + name + SHAPE] = _lists(shapes.ravel(), widths)
    return {name: column.take(chosen) for name, column in columns.items()}


def _lists(values: Any, lengths: Any) -> Any:
    """Consecutive parts of an array as an Arrow array of lists."""
    pa = arrow()
    offsets = np.concatenate(([0], np.cumsum(lengths))).astype(np.int64)
    return pa.LargeListArray.from_arrays(pa.array(offsets), pa.array(np.asarray(values)))


def _arrays(table: Any, prototype: Prototype) -> Arrays:
    if not isinstance(prototype, ARC | LARC):
        data = table[STATE].to_pylist()
        lengths = np.array([len(part) for part in data], np.int64)
        return {"states": np.frombuffer(b"".join(data), np.uint8), "lengths": lengths}
    fields = [np.asarray(table[name], np.float64) for name in RunningConstant.FIELDS]
    constants = np.column_stack(fields) if table.num_rows else np.empty((0, len(fields)))
    return adaptive_state.to_arrays(prototype.settings, constants, _local_arrays(table))


def _local_arrays(table: Any) -> Arrays:
    names = [name for name in table.column_names if name.startswith(LOCAL)]
    if not names:
        return {}
    present = np.asarray(table[LOCAL + "squares"].is_valid())
    rows = np.flatnonzero(present)
    if not len(rows):
        return {}
    arrays: dict[str, Any] = {"rows": rows}
    for name in names:
        column = table[name].combine_chunks().take(arrow().array(rows))
        short = name.removeprefix(LOCAL)
        if short == "squares":
            arrays[short] = np.asarray(column, np.float64)
        elif short.endswith(SHAPE):
            shapes = np.asarray(column.flatten()).reshape(len(rows), -1)
            arrays[short.removesuffix(SHAPE) + ragged.SHAPE] = shapes
        else:
            arrays[short] = np.asarray(column.flatten())
    return arrays
