"""The state of LabelSets as bytes: bettors, scores of labels, pending rounds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from localarc import serialization
from localarc.calibrators.auto import state as stored
from localarc.calibrators.auto.candidates import Candidates, checked_labels
from localarc.calibrators.auto.groups import GroupNames, label_from_json, label_to_json
from localarc.calibrators.auto.label_base import LabelBase
from localarc.engine.auto import layout
from localarc.engine.auto.engine import AutoEngine
from localarc.memory.base import Arrays
from localarc.serialization import StateError

if TYPE_CHECKING:
    from localarc.calibrators.auto.labels import LabelSets

_KIND = "LabelSets"
_BASE = "label scores"


def encode(cal: LabelSets) -> bytes:
    """Bytes for `decode_into`."""
    engine = cal._engine if cal._engine is not None and cal._engine.started else None
    names = [] if engine is None else [*cal._names.present(engine.keys)]
    return stored.encode(_KIND, cal.settings, engine, names, _encode_base(cal))


def _encode_base(cal: LabelSets) -> bytes:
    pending = cal._waiting()
    content = {
        "order": None if cal.labels is None else [label_to_json(name) for name in cal.labels],
        "base": cal._base.to_json(),
        "pending": [
            {"id": number, "labels": [label_to_json(name) for name in made.labels]}
            for number, made in pending.items()
        ],
    }
    arrays = cal._base.arrays()
    for number, made in pending.items():
        arrays[f"{number} scores"] = made.scores
        arrays[f"{number} keys"] = made.keys
        arrays[f"{number} decisions"] = made.decisions
    return serialization.encode(_BASE, content, arrays)


def decode_into(cal: LabelSets, data: bytes) -> None:
    """Make a new LabelSets of what `encode` returned, or raise a StateError."""
    found = stored.decode(_KIND, data, own_base=False)
    if found.base is None:
        raise StateError("the state is damaged: it has no scores.")
    _, content, arrays = serialization.decode(found.base)
    base = LabelBase(found.settings.alpha, found.settings.start)
    try:
        order = content["order"]
        labels = None if order is None else checked_labels([*map(label_from_json, order)])
        base.restore(content["base"], arrays)
        pending = {part["id"]: _candidates(part, arrays) for part in content["pending"]}
    except (KeyError, TypeError, ValueError, IndexError) as error:
        raise StateError(f"the state is damaged: {error}") from error
    _check_pending(found.engine, pending)
    cal.settings, cal.labels = found.settings, labels
    cal._engine, cal._names = found.engine, GroupNames(found.labels)
    cal._base, cal._pending = base, pending


def _candidates(part: dict[str, Any], arrays: Arrays) -> Candidates:
    number, labels = part["id"], tuple(map(label_from_json, part["labels"]))
    scores, keys = arrays[f"{number} scores"], arrays[f"{number} keys"]
    decisions = arrays[f"{number} decisions"]
    count = len(labels)
    shapes = scores.shape == (count,) and decisions.shape == (count, layout.TICKET)
    if not shapes or keys.ndim != 2 or len(keys) != count:
        raise StateError(f"ticket {number} does not have one row per candidate.")
    return Candidates(labels, scores, keys, decisions)


def _check_pending(engine: AutoEngine | None, pending: dict[int, Candidates]) -> None:
    numbers = np.empty(0) if engine is None else engine.pending_tickets()[:, layout.NUMBER]
    if numbers.tolist() != [*pending]:
        raise StateError("the state is damaged: its pending tickets do not belong together.")


def check_same(mine: LabelSets, theirs: LabelSets) -> None:
    """Raise unless a state was saved with these settings and labels."""
    stored.check_same_settings(mine.settings, theirs.settings)
    if mine.labels != theirs.labels:
        raise StateError(
            f"the state was saved with labels={theirs.labels!r:.200}, not {mine.labels!r:.200}. "
            "Use from_state."
        )
