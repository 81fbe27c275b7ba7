"""The stored form of a panel: its keys, its prototype, and the arrays of all its streams."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from localarc import serialization
from localarc.many.panel import kinds
from localarc.many.panel.keys import KeyIndex, as_keys
from localarc.many.panel.kinds import Prototype
from localarc.memory.base import Arrays

_PROTOTYPE = "prototype"


@dataclass(frozen=True)
class StoredPanel:
    """What a state contains; `prototype` is a state itself, `arrays` are those of the streams."""

    index: KeyIndex
    dimension: int | None
    prototype: bytes
    arrays: Arrays

    def parts(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """The content and the arrays of the encoded state."""
        content = {"keys": self.index.rendered, "dimension": self.dimension}
        return content, {_PROTOTYPE: np.frombuffer(self.prototype, np.uint8), **self.arrays}

    @classmethod
    def from_parts(
        cls, content: dict[str, Any], arrays: Arrays, known: KeyIndex | None = None
    ) -> StoredPanel:
        """The inverse of `parts`, with an index that is known already if it is of these keys."""
        prototype = arrays[_PROTOTYPE].tobytes()
        others = {name: array for name, array in arrays.items() if name != _PROTOTYPE}
        if known is None or known.keys != content["keys"]:
            known = KeyIndex(as_keys(content["keys"]))
        return cls(known, content["dimension"], prototype, others)

    def encode(self) -> bytes:
        """The state as bytes: versioned, with a checksum, without pickle."""
        return serialization.encode("Panel", *self.parts())

    @classmethod
    def decode(cls, data: bytes) -> StoredPanel:
        """The inverse of `encode`; raises StateError for anything else."""
        kind, content, arrays = serialization.decode(data)
        if kind != "Panel":
            raise serialization.StateError(
                f"the state is of kind {kind}, not Panel. Use {kind}.load."
            )
        with serialization.damaged_unless_read():
            return cls.from_parts(content, arrays)

    def new_prototype(self) -> Prototype:
        """The prototype, built from its state."""
        kind = serialization.decode(self.prototype)[0]
        if kind not in kinds.NAMES:
            raise serialization.StateError(
                f"the panel holds calibrators of kind {kind!r}. "
                "Pass a new one: Panel.from_state(data, prototype=...)."
            )
        made: Prototype = kinds.class_of(kind).from_state(self.prototype)
        return made
