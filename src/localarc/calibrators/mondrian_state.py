"""The state of Mondrian as bytes: the states of its calibrators, and the group of each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from localarc import serialization, validation
from localarc.serialization import StateError

Group = Hashable


class Learned(NamedTuple):
    """What a Mondrian has learned."""

    calibrators: dict[Group, Any]
    updates: Counter[Group]  # of calibrators that do not count
    tickets: dict[int, tuple[Group, int]]  # the group, and the ticket there
    issued: int


def encode(learned: Learned, template: Any, uses_groups: bool) -> bytes:
    """Bytes for `decode`; the template is a calibrator that has learned nothing."""
    calibrators = learned.calibrators
    states = [_state(part) for part in calibrators.values()]
    arrays = {str(i): np.frombuffer(data, np.uint8) for i, data in enumerate(states)}
    position = {group: i for i, group in enumerate(calibrators)}
    pending = [[number, position[key], inner] for number, (key, inner) in learned.tickets.items()]
    content = {
        "groups": [serialization.group_to_json(group) for group in calibrators],
        "uses_groups": uses_groups,
        "updates": [learned.updates[group] for group in calibrators],
        "tickets": {"issued": learned.issued, "pending": pending},
    }
    arrays["fresh"] = np.frombuffer(_state(template), np.uint8)
    return serialization.encode("Mondrian", content, arrays)


def _state(part: Any) -> bytes:
    if not hasattr(part, "state"):
        raise StateError(f"{part!r} cannot be saved: it has no state().")
    return bytes(part.state())


@dataclass(frozen=True)
class Stored:
    """What a state contains."""

    content: dict[str, Any]
    arrays: Mapping[str, Any]

    @property
    def uses_groups(self) -> bool:
        """Whether groups were passed, and not found by a function."""
        return bool(self.content["uses_groups"])

    def part(self, name: str) -> bytes:
        """The state of a calibrator: by position, or "fresh", which has learned nothing."""
        return bytes(self.arrays[name].tobytes())


def decode(data: bytes) -> Stored:
    """What the bytes contain, or a StateError."""
    kind, content, arrays = serialization.decode(data)
    if kind != "Mondrian":
        raise StateError(f"the state is of kind {kind}, not Mondrian. Load it with {kind}.load.")
    return Stored(content, arrays)


def restored(stored: Stored, make_calibrator: Callable[[], Any]) -> Learned:
    """What was learned, or a StateError; calibrators must have the settings of those before."""
    content = stored.content
    new = make_calibrator()
    with serialization.damaged_unless_read():
        new.restore(stored.part("fresh"))  # raises unless it has the same settings
        keys = [serialization.group_from_json(key) for key in content["groups"]]
        parts = {key: make_calibrator() for key in keys}
        for i, part in enumerate(parts.values()):
            part.restore(stored.part(str(i)))
        counts = content.get("updates", [0] * len(keys))  # version 2 had none
        updates = Counter(dict(zip(keys, counts, strict=True)))
        tickets = content.get("tickets", {"issued": 0, "pending": []})  # nor version 3 these
        pending = {number: (keys[i], inner) for number, i, inner in tickets["pending"]}
        issued = validation.integer("issued", tickets["issued"], 0, "It counts tickets.")
    return Learned(parts, updates, pending, issued)
