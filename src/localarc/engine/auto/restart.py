"""Restart of units: scores will lie elsewhere, while the bettors and their sums go on.

Theorem E allows any base and unit, so a new model may begin with those of a new run.
"""

from __future__ import annotations

import numpy as np

from localarc.betting.compiled.account import fix_ceiling
from localarc.constants import WARM
from localarc.engine.auto import layout
from localarc.engine.auto.nodes import GROUP, KIND_SHIFT
from localarc.engine.tiles import FloatArray, IntArray

_SCORES_AROUND = slice(layout.SCORE_WEIGHT, layout.SCORE_CLOCK + 1)


def restart_units(
    numbers: FloatArray, keys: IntArray, nodes: FloatArray, initial: dict[int, float]
) -> None:
    """Forget where scores lie; `initial` are the numbers of a new run. Nothing may be pending."""
    if numbers[layout.SCORES] == 0.0:
        return  # nothing is known about scores
    fix_ceiling(numbers)
    numbers[[layout.LOWEST, layout.HIGHEST, layout.SCORES, layout.LEAN]] = 0.0
    for name in (layout.MEAN, layout.DEVIATION, layout.UNIT, layout.AWAY):
        numbers[name] = initial[name]
    numbers[layout.FIRST : layout.FIRST + WARM] = 0.0
    nodes[:, layout.OFFSET] = 0.0
    hats = np.append((keys != 0) & ((keys >> KIND_SHIFT) - 1 != GROUP), False)
    nodes[hats, _SCORES_AROUND] = 0.0
