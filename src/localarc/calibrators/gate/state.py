"""The state of a gate as bytes: that of its bettors, recent outcomes, counts, open decisions."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from localarc import serialization
from localarc.calibrators.auto import state as stored
from localarc.calibrators.auto.groups import GroupNames, label_from_json, label_to_json
from localarc.calibrators.gate import decisions
from localarc.calibrators.gate.counts import Counts
from localarc.calibrators.gate.records import Records
from localarc.engine.auto import layout
from localarc.serialization import StateError
from localarc.validation import FloatArray

if TYPE_CHECKING:
    from localarc.calibrators.gate.gate import Gate

_KIND = "Gate"
_BASE = "gate outcomes"


def encode(gate: Gate) -> bytes:
    """Bytes for `decode`."""
    engine = gate._bettors.engine
    started = engine if engine.started else None
    names = [*gate._bettors.names.present(engine.keys)] if started else []
    return stored.encode(_KIND, gate._bettors.settings, started, names, _outcomes(gate))


def _outcomes(gate: Gate) -> bytes:
    records = gate._records
    content = {
        "arguments": gate.settings.to_json() | {"shadow": gate.shadow},
        "texts": gate._texts,
        "topics": gate._base.to_json(),
        "counted": [label_to_json(name) for name in records.topics],
        "sent": decisions.to_json(records.sent),
        "withheld": decisions.to_json(records.withheld),
    }
    arrays = {
        **gate._base.arrays(),
        "counts": np.array([part.row() for part in (records.everyone, *records.topics.values())]),
        "sent": decisions.rows(records.sent),
        "withheld": decisions.rows(records.withheld),
    }
    return serialization.encode(_BASE, content, arrays)


def decode(kind: type[Gate], data: bytes) -> Any:
    """The gate that was stored, or a StateError."""
    found, content, arrays = _content(data)
    with serialization.damaged_unless_read():
        gate = kind(**content["arguments"])
        gate._base.restore(content["topics"], arrays)
        gate._texts = None if content["texts"] is None else tuple(map(bool, content["texts"]))
        records = gate._records
        records.sent = decisions.restored(content["sent"], arrays["sent"])
        records.withheld = decisions.restored(content["withheld"], arrays["withheld"])
        _restore_counts(records, map(label_from_json, content["counted"]), arrays["counts"])
        both = records.sent | records.withheld
        records.keys = {made.key: n for n, made in both.items() if made.key is not None}
        gate._bettors.continue_from(found.engine, GroupNames(found.labels))
        waiting = gate._bettors.engine.pending_tickets()[:, layout.NUMBER]
        if waiting.tolist() != [*records.sent]:
            raise ValueError("its open decisions are not those of its bettors")
    return gate


def _restore_counts(records: Records, names: Iterable[Hashable], rows: FloatArray) -> None:
    waiting = dict.fromkeys(names, 0.0)
    for made in records.sent.values():
        for name, weight in made.topics.items():
            waiting[name] = waiting.get(name, 0.0) + weight
    everyone, *parts = rows
    records.everyone = Counts.of(everyone, float(len(records.sent)))
    parts += [np.zeros(len(everyone))] * (len(waiting) - len(parts))  # nothing is known of them yet
    pairs = zip(waiting.items(), parts, strict=True)
    records.topics = {name: Counts.of(row, weight) for (name, weight), row in pairs}


def _content(data: bytes) -> tuple[stored.Stored, dict[str, Any], Any]:
    found = stored.decode(_KIND, data, own_base=False)
    if found.base is None:
        raise StateError("the state is damaged: it has no outcomes.")
    kind, content, arrays = serialization.decode(found.base)
    if kind != _BASE:
        raise StateError("the state is damaged: it has no outcomes.")
    return found, content, arrays
