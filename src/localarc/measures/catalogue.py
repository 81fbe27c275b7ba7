"""The measures of a run, each defined once; comparisons, arena, tuning and reports list them."""

from __future__ import annotations

from localarc.measures.measure import Measure
from localarc.measures.pinball import pinball_loss
from localarc.measures.risk import risk, worst_part
from localarc.measures.sizes import mean_size

RISK = Measure(
    "risk",
    "risk",
    lambda run: risk(run.losses),
    unit="loss",
    better="target",
    about="Risk is the mean loss.",
    digits=4,
)
SIZE = Measure(
    "size",
    "mean size",
    lambda run: mean_size(run.sizes),
    unit="size",
    better="lower",
    about="A method with large sets has a low risk everywhere.",
)
PINBALL = Measure(
    "pinball",
    "pinball",
    lambda run: pinball_loss(run.scores, run.thresholds, run.alpha / run.bound),
    unit="score",
    better="lower",
    about="Pinball loss measures thresholds as quantiles of the scores, lower is better.",
)
WORST_PART = Measure(
    "twentieth",
    "worst 1/20",
    lambda run: worst_part(run.losses, 20),
    unit="loss",
    better="lower",
    about="Worst 1/20 is the highest risk among twenty parts of the stream.",
    digits=3,
)

MEASURES = (RISK, SIZE, PINBALL, WORST_PART)
"""All of them; the risk is first, and tables show the worst groups and neighbourhoods beside it."""
