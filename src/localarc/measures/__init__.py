"""Measures: what a run's risk and sets were, overall, over time, per group and neighbourhood.

`MEASURES` has those that are one number of a run, each with its name, unit and direction.
"""

from localarc.measures.bootstrap import Estimate, block_bootstrap
from localarc.measures.catalogue import MEASURES, PINBALL, RISK, SIZE, WORST_PART
from localarc.measures.groups import GroupRisk, group_risk
from localarc.measures.measure import Measure
from localarc.measures.neighbourhoods import (
    LocalRisk,
    Neighbourhood,
    check_kernel,
    localized_risk,
    worst_neighbourhood,
    worst_neighbourhoods,
)
from localarc.measures.pinball import pinball_loss
from localarc.measures.risk import distance_to_target, risk, rolling_risk, running_risk, worst_part
from localarc.measures.rounds import Rounds
from localarc.measures.sizes import mean_size

__all__ = [
    "MEASURES",
    "PINBALL",
    "RISK",
    "SIZE",
    "WORST_PART",
    "Estimate",
    "GroupRisk",
    "LocalRisk",
    "Measure",
    "Neighbourhood",
    "Rounds",
    "block_bootstrap",
    "check_kernel",
    "distance_to_target",
    "group_risk",
    "localized_risk",
    "mean_size",
    "pinball_loss",
    "risk",
    "rolling_risk",
    "running_risk",
    "worst_neighbourhood",
    "worst_neighbourhoods",
    "worst_part",
]
