"""The state of a gate as bytes: that of its bettors, recent outcomes, counts, open decisions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from localarc import serialization
from localarc.calibrators.auto import state as stored
from localarc.calibrators.auto.groups import GroupNames, label_from_json, label_to_json
from localarc.calibrators.gate import decisions
from localarc.calibrators.gate.counts import Counts
from localarc.engine.auto import layout
from localarc.serialization import StateError

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
    sent, withheld = gate._pending(), gate._withheld
    content = {
        "arguments": gate._settings.to_json() | {"shadow": gate.shadow},
        "texts": gate._texts,
        "topics": gate._base.to_json(),
        "counted": [label_to_json(name) for name in gate._counts],
        "sent": decisions.to_json(sent),
        "withheld": decisions.to_json(withheld),
    }
    arrays = {
        **gate._base.arrays(),
        "counts": np.array([part.row() for part in (gate._all, *gate._counts.values())]),
        "sent": decisions.rows(sent),
        "withheld": decisions.rows(withheld),
    }
    return serialization.encode(_BASE, content, arrays)


def decode(kind: type[Gate], data: bytes) -> Any:
    """The gate that was stored, or a StateError."""
    found, content, arrays = _content(data)
    with serialization.damaged_unless_read():
        gate = kind(**content["arguments"])
        gate._base.restore(content["topics"], arrays)
        gate._texts = None if content["texts"] is None else tuple(map(bool, content["texts"]))
        gate._all, *parts = map(Counts.of, arrays["counts"])
        labels = map(label_from_json, content["counted"])
        gate._counts = dict(zip(labels, parts, strict=True))
        gate._sent = decisions.restored(content["sent"], arrays["sent"])
        gate._withheld = decisions.restored(content["withheld"], arrays["withheld"])
        both = gate._sent | gate._withheld
        gate._keys = {made.key: n for n, made in both.items() if made.key is not None}
        gate._bettors.continue_from(found.engine, GroupNames(found.labels))
        waiting = gate._bettors.engine.pending_tickets()[:, layout.NUMBER]
        if waiting.tolist() != [*gate._sent]:
            raise ValueError("its open decisions are not those of its bettors")
    return gate


def _content(data: bytes) -> tuple[stored.Stored, dict[str, Any], Any]:
    found = stored.decode(_KIND, data, own_base=False)
    if found.base is None:
        raise StateError("the state is damaged: it has no outcomes.")
    kind, content, arrays = serialization.decode(found.base)
    if kind != _BASE:
        raise StateError("the state is damaged: it has no outcomes.")
    return found, content, arrays
