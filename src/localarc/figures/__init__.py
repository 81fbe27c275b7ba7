"""Figures: functions that draw on given axes and return them.

A colour means the same method in every figure. matplotlib is imported when a figure is drawn.
"""

from localarc.figures.bound_over_time import bound_over_time
from localarc.figures.group_risk import group_risk
from localarc.figures.group_size import group_size
from localarc.figures.intervals_over_time import intervals_over_time
from localarc.figures.maps import Ground, maps
from localarc.figures.method_grid import method_grid
from localarc.figures.method_trade_off import method_trade_off
from localarc.figures.neighbourhoods import neighbourhoods
from localarc.figures.palette import colours
from localarc.figures.picture import Picture
from localarc.figures.running_risk import running_risk, shown_rounds
from localarc.figures.settling import settling
from localarc.figures.threshold_map import threshold_map
from localarc.figures.threshold_over_time import threshold_over_time
from localarc.figures.trade_off import trade_off

__all__ = [
    "Ground",
    "Picture",
    "bound_over_time",
    "colours",
    "group_risk",
    "group_size",
    "intervals_over_time",
    "maps",
    "method_grid",
    "method_trade_off",
    "neighbourhoods",
    "running_risk",
    "settling",
    "shown_rounds",
    "threshold_map",
    "threshold_over_time",
    "trade_off",
]
