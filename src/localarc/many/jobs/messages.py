"""JSON messages of a topic as rows of events, and those that cannot be rows."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from localarc.many.columns import Columns
from localarc.many.panel.table import arrow
from localarc.many.rows.rules import BAD_MESSAGE, BadRowError

TOPIC, PARTITION, OFFSET = "kafka_topic", "kafka_partition", "kafka_offset"
"""Columns that say which message a row came from."""

_DEPTH = 10  # of lists and objects in a column; readers of Parquet have limits


@dataclass(frozen=True)
class Message:
    """A message, its fields, and what is wrong with it.

    A field with a role and a value of the wrong type is null, so that its row violates the rule for
    that role. The fields are None if the message as a whole cannot be a row.
    """

    source: Any
    fields: dict[str, Any] | None
    problem: str = ""


def read_messages(messages: Iterable[Any], columns: Columns, rejects: bool) -> tuple[Any, Any]:
    """Messages as an Arrow table of events, and a table of those that cannot be rows.

    Raises BadRowError for the first one with a problem, unless bad messages are to be rejected.
    """
    readers = _readers(columns)
    reserved = {*columns.added, *(["rejected"] if rejects else []), TOPIC, PARTITION, OFFSET}
    parsed = [_parsed(each, readers, reserved) for each in messages]
    bad = next((each for each in parsed if each.problem), None)
    if bad is not None and not rejects:
        raise BadRowError(
            f"message {bad.source.offset()} of partition {bad.source.partition()} of topic "
            f"{bad.source.topic()!r} {bad.problem}. Fix the source and restart, or collect bad "
            'messages with bad_rows="reject".'
        )
    rows = [each for each in parsed if each.fields is not None]
    fields = [each.fields or {} for each in rows]
    read = {
        name: reader.column([row.pop(name) for row in fields]) for name, reader in readers.items()
    }
    rejected = _origins([each for each in parsed if each.fields is None])
    rule = arrow().repeat(arrow().scalar(BAD_MESSAGE.name), rejected.num_rows)
    events = arrow().table({**read, **_other_columns(fields)})
    for name in (TOPIC, PARTITION, OFFSET):
        events = events.append_column(name, _origins(rows)[name])
    return events, rejected.append_column("rejected", rule)


def _parsed(message: Any, readers: dict[str, Reader], reserved: set[str]) -> Message:
    try:
        fields = json.loads(message.value())
        if not isinstance(fields, dict):
            raise TypeError
        json.dumps(fields, ensure_ascii=False).encode()  # raises for text that is not Unicode
    except (TypeError, ValueError, RecursionError):
        return Message(message, None, "is not a JSON object")
    if clash := [name for name in fields if name.lower() in reserved]:
        return Message(message, None, f"has a field {clash[0]!r}, the name of an added column")
    problem = ""
    for name, reader in readers.items():
        value = fields.get(name)
        fields[name] = None if value is None else reader.read(value)
        if fields[name] is None and value is not None and not problem:
            problem = f"has {value!r:.80} in the field {name!r}, which must be {reader.wanted}"
    return Message(message, fields, problem)


def _origins(messages: list[Message]) -> Any:
    """Topic, partition and offset of messages."""
    pa, sources = arrow(), [each.source for each in messages]
    return pa.table(
        {
            TOPIC: pa.array([each.topic() for each in sources], pa.string()),
            PARTITION: pa.array([each.partition() for each in sources], pa.int64()),
            OFFSET: pa.array([each.offset() for each in sources], pa.int64()),
        }
    )


@dataclass(frozen=True)
class Reader:
    """How the values of a role are read: None for one of the wrong type, and an Arrow type."""

    read: Callable[[Any], Any]
    wanted: str
    kind: str

    def column(self, values: list[Any]) -> Any:
        """Values as an Arrow array; integers among texts are texts."""
        pa = arrow()
        if self.kind == "time":
            return pa.array(values, pa.timestamp("us", "UTC"))
        if self.kind != "text":
            return pa.array(values, self.kind)
        if values and all(isinstance(each, int) for each in values):
            return pa.array(values, pa.int64())
        return pa.array([None if each is None else str(each) for each in values], pa.string())


def _readers(columns: Columns) -> dict[str, Reader]:
    """The reader of each field with a role."""
    text = Reader(_text, "text or an integer", "text")
    number = Reader(_number, "a number", "double")
    single: dict[str | None, Reader] = {
        columns.order: Reader(_integer, "an integer", "int64"),
        columns.time: Reader(_time, "text in ISO 8601", "time"),
        columns.kind: Reader(
            lambda value: value if isinstance(value, str) else None, "text", "text"
        ),
        columns.id: text,
        **dict.fromkeys(columns.keys, text),
    }
    return {name: single.get(name, number) for name in columns.names}


def _integer(value: Any) -> int | None:
    return value if type(value) is int and -(2**63) <= value < 2**63 else None


def _text(value: Any) -> str | int | None:
    return value if isinstance(value, str) else _integer(value)


def _number(value: Any) -> float | None:
    try:
        return float(value) if isinstance(value, int | float) else None
    except OverflowError:
        return None


def _time(value: Any) -> datetime | None:
    """The time in UTC, which is also the zone of times without one."""
    try:
        time = datetime.fromisoformat(value)
        return time.replace(tzinfo=UTC) if time.tzinfo is None else time.astimezone(UTC)
    except (TypeError, ValueError, OverflowError):
        return None


def _other_columns(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Fields without a role; where their values do not fit into one column, as JSON text."""
    names = dict.fromkeys(name for row in rows for name in row)
    found = _read_json(rows) if names else None
    if found is not None and all(_fits_parquet(field.type) for field in found.schema):
        return {name: found[name] for name in found.column_names}
    return {name: _other_column([row.get(name) for row in rows]) for name in names}


def _other_column(values: list[Any]) -> Any:
    found = _read_json([{"": value} for value in values])
    if found is not None and _fits_parquet(found.schema.field("").type):
        return found[""]
    return arrow().array(
        [
            value if value is None or isinstance(value, str) else json.dumps(value)
            for value in values
        ]
    )


def _read_json(rows: list[dict[str, Any]]) -> Any:
    """Rows as an Arrow table; None if a field has values of several types."""
    pa = arrow()
    from pyarrow import json as arrow_json

    lines = b"\n".join(json.dumps(row).encode() for row in rows)
    # Of several blocks, Arrow would take the types of the first, and then not convert lists.
    options = arrow_json.ReadOptions(block_size=len(lines))
    try:
        return arrow_json.read_json(pa.BufferReader(lines), options)
    except pa.ArrowException:
        return None


def _fits_parquet(kind: Any, depth: int = _DEPTH) -> bool:
    """Whether a column can be written and read again: no objects without fields, not too deep."""
    types = arrow().types
    if types.is_struct(kind):
        parts = [part.type for part in kind]
        return bool(parts) and depth > 0 and all(_fits_parquet(part, depth - 1) for part in parts)
    if types.is_list(kind):
        return depth > 0 and _fits_parquet(kind.value_type, depth - 1)
    return True
