"""Metrics: risk over time, per group and per neighbourhood, with standard errors."""

from localarc.measures.bootstrap import Estimate, block_bootstrap
from localarc.measures.groups import GroupRisk, group_risk
from localarc.measures.neighbourhoods import (
    LocalRisk,
    Neighbourhood,
    check_kernel,
    localized_risk,
    worst_neighbourhood,
    worst_neighbourhoods,
)
from localarc.measures.pinball import pinball_loss
from localarc.measures.risk import distance_to_target, risk, rolling_risk, running_risk

__all__ = [
    "Estimate",
    "GroupRisk",
    "LocalRisk",
    "Neighbourhood",
    "block_bootstrap",
    "check_kernel",
    "distance_to_target",
    "group_risk",
    "localized_risk",
    "pinball_loss",
    "risk",
    "rolling_risk",
    "running_risk",
    "worst_neighbourhood",
    "worst_neighbourhoods",
]
