"""The measures of a run, each defined once; comparisons, arena, tuning and reports list them.

The first line of a function's docstring is what a reader of a table is told.
"""

from __future__ import annotations

from localarc.measures.measure import Measure
from localarc.measures.pinball import pinball_loss
from localarc.measures.risk import risk, worst_part
from localarc.measures.rounds import Rounds
from localarc.measures.sizes import mean_size


def _risk(run: Rounds) -> float:
    """Risk is the mean loss."""
    return risk(run.losses)


def _size(run: Rounds) -> float:
    """A method with large sets has a low risk everywhere."""
    return mean_size(run.sizes)


def _pinball(run: Rounds) -> float:
    """Pinball loss measures thresholds as quantiles of the scores, lower is better."""
    return pinball_loss(run.scores, run.thresholds, run.alpha / run.bound)


def _worst_part(run: Rounds) -> float:
    """Worst 1/20 is the highest risk among twenty parts of the stream."""
    return worst_part(run.losses, 20)


RISK = Measure("risk", "risk", _risk, unit="loss", better="target", digits=4)
SIZE = Measure("size", "mean size", _size, unit="size", better="lower")
PINBALL = Measure("pinball", "pinball", _pinball, unit="score", better="lower")
WORST_PART = Measure("twentieth", "worst 1/20", _worst_part, "loss", "lower", digits=3)

MEASURES = (RISK, SIZE, PINBALL, WORST_PART)
"""All of them; the risk is first, and tables show the worst groups and neighbourhoods beside it."""
