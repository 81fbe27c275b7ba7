"""The stored form of a panel: its keys, its prototype, and the arrays of all its streams."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from localarc import serialization
from localarc.calibrators.arc import ARC
from localarc.calibrators.larc import LARC
from localarc.memory.base import Arrays
from localarc.panel.keys import Key
from localarc.validation import FloatArray

_LOCAL = "local "
_CONSTANTS = "traces"  # the stored name of the running constants
_PROTOTYPES: dict[str, type[ARC | LARC]] = {"ARC": ARC, "LARC": LARC}


@dataclass(frozen=True)
class StoredPanel:
    """What a state contains; `prototype` is a state itself, `local` that of the local parts."""

    keys: list[Key]
    dimension: int | None
    prototype: bytes
    constants: FloatArray
    local: Arrays

    def encode(self) -> bytes:
        """The state as bytes: versioned, with a checksum, without pickle."""
        content = {"keys": self.keys, "dimension": self.dimension}
        arrays: dict[str, Any] = {
            "prototype": np.frombuffer(self.prototype, np.uint8),
            _CONSTANTS: self.constants,
            **{_LOCAL + name: array for name, array in self.local.items()},
        }
        return serialization.encode("Panel", content, arrays)

    @classmethod
    def decode(cls, data: bytes) -> StoredPanel:
        """The inverse of `encode`; raises StateError for anything else."""
        kind, content, arrays = serialization.decode(data)
        if kind != "Panel":
            raise serialization.StateError(
                f"the state is of kind {kind}, not Panel. Use {kind}.load."
            )
        local = {
            name.removeprefix(_LOCAL): array
            for name, array in arrays.items()
            if name.startswith(_LOCAL)
        }
        prototype = arrays["prototype"].tobytes()
        return cls(content["keys"], content["dimension"], prototype, arrays[_CONSTANTS], local)

    def new_prototype(self) -> ARC | LARC:
        """The prototype, built from its state."""
        kind = serialization.decode(self.prototype)[0]
        if kind not in _PROTOTYPES:
            raise serialization.StateError(
                f"the panel holds calibrators of kind {kind!r}. "
                "Pass a new one: Panel.from_state(data, prototype=...)."
            )
        return _PROTOTYPES[kind].from_state(self.prototype)
