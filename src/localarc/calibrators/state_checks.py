"""What was read from a state has to make sense: a checksum proves that it was stored, no more."""

from __future__ import annotations

import math
from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

import numpy as np

from localarc import validation
from localarc.adaptive.running_constant import RunningConstant
from localarc.adaptive.settings import Settings
from localarc.guarantees.certificate import identity
from localarc.memory.base import Arrays
from localarc.validation import FloatArray

_MOST_ROUNDS = 2**53  # beyond, a float no longer counts them
_MOST_FEATURES = 2**16
_LARGEST = 1e150  # products of two are still finite


def restored_constant(settings: Settings, values: Mapping[str, float]) -> RunningConstant:
    """The running constant that was stored; raises ValueError if no run could have left it."""
    for name in RunningConstant.COUNTS:
        validation.integer(name, values[name], 0, "It counts rounds.")
    constant = RunningConstant.restored(values)
    require_sense(settings, np.array([[values[name] for name in RunningConstant.FIELDS]], float))
    return constant


def require_sense(settings: Settings, rows: FloatArray) -> None:
    """Raise ValueError unless each row could be what a run left of a running constant."""
    table = np.ascontiguousarray(rows.T)  # the fields of many rows, one after another
    if not (np.abs(table) <= _LARGEST).all():  # also false for NaN
        raise ValueError("the running constant is not finite, or too large")
    columns = dict(zip(RunningConstant.FIELDS, table, strict=True))
    for reason, holds in _conditions(settings, SimpleNamespace(**columns)).items():
        if not holds.all():
            raise ValueError(reason)


def _conditions(settings: Settings, constant: Any) -> dict[str, Any]:
    """What every run satisfies, for one running constant or for a column of each field."""
    rounds, slack = constant.rounds, 1e-9 * (1.0 + np.abs(constant.loss_sum))
    counts = np.array([getattr(constant, name) for name in sorted(RunningConstant.COUNTS)])
    since = np.maximum(constant.rate_rise, np.maximum(constant.full_since, constant.empty_since))
    low = np.minimum(constant.constant, constant.start)
    high = np.maximum(constant.constant, constant.start)
    past = np.abs(constant.loss_sum) + np.abs(constant.weighted) + np.abs(constant.lifted) + since
    return {
        "a count is not a whole number": (counts >= 0) & (counts == np.floor(counts)),
        "it has too many rounds": rounds + constant.earlier <= _MOST_ROUNDS,
        "c is outside the range of its past": (constant.lowest <= low) & (high <= constant.highest),
        "c has been below its floor": constant.lowest >= settings.limits[1],
        "its sum of losses is impossible": (constant.loss_sum >= -slack)
        & (constant.loss_sum <= settings.loss_bound * rounds + slack),
        "its rate is not positive": (constant.inverse_rate > 0) | (rounds == 0),
        "it counts rounds that were not played": (since <= rounds)
        & (constant.full_fails + constant.empty_passes <= rounds),
        "it has a past before its first round": (past == 0) | (rounds > 0),
        "c does not account for its losses": identity(settings, constant).holds,
    }


def require_finite(arrays: Arrays) -> None:
    """Raise unless every number of the local part is finite."""
    for name, array in arrays.items():
        if array.dtype.kind == "f" and not np.isfinite(array).all():
            raise ValueError(f"its {name} are not all finite")


def require_room(features: int, arrays: Arrays) -> None:
    """Raise if so many features cannot have been stored: they would be allocated."""
    validation.integer("dimension", features, 1, "It counts features.")
    largest = max((math.prod(array.shape) for array in arrays.values()), default=_MOST_FEATURES)
    if features > min(max(largest, 1), _MOST_FEATURES):
        raise ValueError(f"{features} features are more than it holds")
