"""The stored form of ARC and L-ARC streams: running constants, and the arrays of local parts."""

from __future__ import annotations

from typing import Any

import numpy as np

from localarc.adaptive.running_constant import RunningConstant
from localarc.adaptive.settings import Settings
from localarc.calibrators.state_checks import require_finite, require_room, require_sense
from localarc.many.panel.running_constants import new_row
from localarc.many.panel.state import StoredPanel
from localarc.memory.base import Arrays
from localarc.validation import FloatArray

_LOCAL = "local "
_CONSTANTS = "traces"  # the stored name of the running constants
_OTHER_ROWS, _OTHERS = "trace rows", "trace others"
_USUAL = 8  # fields of a running constant, the first ones


def to_arrays(settings: Settings, constants: FloatArray, local: Arrays) -> dict[str, Any]:
    """Running constants and local parts, for `from_arrays`."""
    named = {_LOCAL + name: array for name, array in local.items()}
    return {**_narrowed(constants, settings), **named}


def from_arrays(stored: StoredPanel, settings: Settings) -> tuple[FloatArray, Arrays]:
    """The inverse of `to_arrays`; raises ValueError unless everything fits together."""
    constants = _widened(stored.arrays, settings)
    local = {
        name.removeprefix(_LOCAL): array
        for name, array in stored.arrays.items()
        if name.startswith(_LOCAL)
    }
    keys = len(stored.index)
    if keys != len(constants):
        raise ValueError(f"{keys} keys have {len(constants)} running constants")
    require_sense(settings, constants)
    require_finite(local)
    if stored.dimension is not None:
        require_room(stored.dimension, local)
    rows = local.get("rows")
    if rows is not None and len(rows) and not 0 <= rows.min() <= rows.max() < keys:
        raise ValueError("its local parts are of other streams")
    return constants, local


# Half of a running constant's fields are about restarts, floors and broken assumptions. Few streams
# have any, so those fields are stored for these streams only: a key should cost 100 bytes.


def _narrowed(constants: FloatArray, settings: Settings) -> dict[str, Any]:
    """The fields that change in every round, and the others of the rows where they are not new."""
    usual, others = constants[:, :_USUAL], constants[:, _USUAL:]
    stored: dict[str, Any] = {_CONSTANTS: usual}
    changed = others != new_row(settings.start)[_USUAL:]
    if not changed.any():
        return stored
    rows = np.flatnonzero(changed.any(axis=1))
    return stored | {_OTHER_ROWS: rows, _OTHERS: others[rows]}


def _widened(arrays: Arrays, settings: Settings) -> FloatArray:
    """The inverse of `_narrowed`; version 3 had the usual fields only."""
    usual = arrays[_CONSTANTS]
    wide = np.empty((len(usual), len(RunningConstant.FIELDS)))
    wide[:, :_USUAL], wide[:, _USUAL:] = usual, new_row(settings.start)[_USUAL:]
    if _OTHER_ROWS in arrays:
        rows = arrays[_OTHER_ROWS]
        if len(rows) and not 0 <= rows.min() <= rows.max() < len(wide):
            raise ValueError("its running constants are of other streams")
        wide[rows, _USUAL:] = arrays[_OTHERS]
    return wide
