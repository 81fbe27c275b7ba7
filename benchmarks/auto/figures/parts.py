"""The parts of a threshold, read from the engine: local mean and spread, offsets."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit

from localarc import AutoLARC
from localarc.engine.addresses import table_of
from localarc.engine.auto.base import local_scores, offset
from localarc.engine.auto.layout import played_in, unpack
from localarc.validation import FloatArray


class Parts(NamedTuple):
    """threshold = mean + unit (offset), clipped, plus bets."""

    mean: float
    unit: float
    offset: float
    threshold: float


def parts(cal: AutoLARC, x: FloatArray) -> Parts:
    """What the next threshold at x is made of."""
    threshold = float(cal.threshold(np.asarray(x, dtype=np.float64)))
    engine = cal._engine
    assert engine is not None
    mean, unit, offsets = _read(table_of(engine._arrays))
    return Parts(mean, unit, offsets, threshold)


@njit
def _read(table: Any) -> Any:
    """m(x), D(x) and the offsets at the input that was looked at last: the scratch row has them."""
    state, ledger = unpack(table)
    played = played_in(ledger)
    mean, unit = local_scores(state, played.slots, played.weights)
    return mean, unit, offset(state, played.slots, played.weights)
