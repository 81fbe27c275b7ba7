"""Figures: one function each, from (axes, data) to axes."""

from localarc.figures.bound_over_time import promised_band
from localarc.figures.group_risk import group_risk
from localarc.figures.group_size import group_size
from localarc.figures.maps import Ground, maps
from localarc.figures.neighbourhoods import neighbourhoods
from localarc.figures.palette import colours
from localarc.figures.running_risk import running_risk, shown_rounds
from localarc.figures.threshold_map import threshold_map
from localarc.figures.threshold_over_time import threshold_over_time
from localarc.figures.trade_off import trade_off

__all__ = [
    "Ground",
    "colours",
    "group_risk",
    "group_size",
    "maps",
    "neighbourhoods",
    "promised_band",
    "running_risk",
    "shown_rounds",
    "threshold_map",
    "threshold_over_time",
    "trade_off",
]
