"""Curves: the loss and the set size of each round as functions of the threshold.

Score functions (`residual`, `quantile_excess`, `negative_probability`, `cumulative_probability`)
turn predictions into scores; loss functions (`miscoverage`, `relative_regret`, `false_negatives`,
`from_table`, `from_function`) turn scores into `Curves`, which `localarc.replay` runs on.
"""

from localarc.curves.curves import Curve, Curves
from localarc.curves.losses import from_function, from_table, miscoverage, relative_regret
from localarc.curves.masks import false_negatives
from localarc.curves.scores import (
    cumulative_probability,
    negative_probability,
    quantile_excess,
    residual,
)

__all__ = [
    "Curve",
    "Curves",
    "cumulative_probability",
    "false_negatives",
    "from_function",
    "from_table",
    "miscoverage",
    "negative_probability",
    "quantile_excess",
    "relative_regret",
    "residual",
]
