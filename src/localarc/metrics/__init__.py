"""Metrics: risk over time, per group and per neighbourhood, with standard errors."""

from localarc.metrics.bootstrap import Estimate, block_bootstrap
from localarc.metrics.groups import GroupRisk, group_risk
from localarc.metrics.neighbourhoods import (
    LocalRisk,
    Neighbourhood,
    check_kernel,
    localized_risk,
    worst_neighbourhood,
    worst_neighbourhoods,
)
from localarc.metrics.pinball import pinball_loss
from localarc.metrics.risk import distance_to_target, risk, rolling_risk, running_risk

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
