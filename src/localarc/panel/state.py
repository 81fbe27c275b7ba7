"""The stored form of a panel: its keys, its prototype, and the arrays of all its streams."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from localarc import serialization
from localarc.calibrators.arc import ARC
from localarc.calibrators.larc import LARC
from localarc.calibrators.restored import require_finite, require_room, require_sense
from localarc.calibrators.running_constant import RunningConstant
from localarc.calibrators.settings import Settings
from localarc.memory.base import Arrays
from localarc.panel.keys import Key, as_keys
from localarc.validation import FloatArray

_LOCAL = "local "
_CONSTANTS = "traces"  # the stored name of the running constants
_OTHER_ROWS, _OTHERS = "trace rows", "trace others"
_USUAL = 8  # fields of a running constant, the first ones
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
            **_narrowed(self.constants, self.prototype),
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
        with serialization.damaged_unless_read():
            prototype = arrays["prototype"].tobytes()
            constants = _widened(arrays, prototype)
            return cls(content["keys"], content["dimension"], prototype, constants, local)

    def require_sense(self, settings: Settings) -> None:
        """Raise ValueError unless keys, running constants and local parts fit together."""
        names = as_keys(self.keys)
        if len(set(names)) != len(self.constants):
            raise ValueError(f"{len(names)} keys have {len(self.constants)} running constants")
        require_sense(settings, self.constants)
        require_finite(self.local)
        if self.dimension is not None:
            require_room(self.dimension, self.local)
        rows = self.local.get("rows")
        if rows is not None and len(rows) and not 0 <= rows.min() <= rows.max() < len(names):
            raise ValueError("its local parts are of other streams")

    def new_prototype(self) -> ARC | LARC:
        """The prototype, built from its state."""
        kind = serialization.decode(self.prototype)[0]
        if kind not in _PROTOTYPES:
            raise serialization.StateError(
                f"the panel holds calibrators of kind {kind!r}. "
                "Pass a new one: Panel.from_state(data, prototype=...)."
            )
        return _PROTOTYPES[kind].from_state(self.prototype)


# Half of a running constant's fields are about restarts, floors and broken assumptions. Few streams
# have any, so those fields are stored for these streams only: a key should cost 100 bytes.


def _narrowed(constants: FloatArray, prototype: bytes) -> dict[str, Any]:
    """The fields that change in every round, and the others of the rows where they are not new."""
    usual, others = constants[:, :_USUAL], constants[:, _USUAL:]
    rows = np.flatnonzero((others != _others_of_new(prototype)).any(axis=1))
    stored: dict[str, Any] = {_CONSTANTS: usual}
    return stored | {_OTHER_ROWS: rows, _OTHERS: others[rows]} if len(rows) else stored


def _widened(arrays: Arrays, prototype: bytes) -> FloatArray:
    """The inverse of `_narrowed`; version 3 had the usual fields only."""
    usual = arrays[_CONSTANTS]
    wide = np.empty((len(usual), len(RunningConstant.FIELDS)))
    wide[:, :_USUAL], wide[:, _USUAL:] = usual, _others_of_new(prototype)
    if _OTHER_ROWS in arrays:
        rows = arrays[_OTHER_ROWS]
        if len(rows) and not 0 <= rows.min() <= rows.max() < len(wide):
            raise ValueError("its running constants are of other streams")
        wide[rows, _USUAL:] = arrays[_OTHERS]
    return wide


def _others_of_new(prototype: bytes) -> FloatArray:
    settings = serialization.decode(prototype)[1]["settings"]
    floor = settings["floor"]
    start = settings["initial_threshold"]
    new = RunningConstant(start if floor is None else max(start, floor))
    return np.array([getattr(new, name) for name in RunningConstant.FIELDS[_USUAL:]], float)
