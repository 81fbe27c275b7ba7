"""Peers: methods that others published, as calibrators, with their authors' defaults.

All of them have `alpha`, `threshold` and `update`; `learns_from` says what else an update needs.
"""

from localarc_lab.peers.aci import ACI
from localarc_lab.peers.agaci import AgACI
from localarc_lab.peers.dtaci import DtACI
from localarc_lab.peers.gcaci import GCACI
from localarc_lab.peers.group_aci import GroupACI
from localarc_lab.peers.local_quantiles import KernelQuantile, NearestQuantile
from localarc_lab.peers.mvp import MVP
from localarc_lab.peers.olcp import OLCP
from localarc_lab.peers.olcp_hedge import OLCPHedge
from localarc_lab.peers.pid import ConformalPID, TangentIntegrator
from localarc_lab.peers.pogo import POGO
from localarc_lab.peers.quantile_tracking import QuantileTracking
from localarc_lab.peers.random_fourier import RandomFourierQuantile
from localarc_lab.peers.rolling_quantile import RollingQuantile
from localarc_lab.peers.saocp import SAOCP
from localarc_lab.peers.sf_ogd import SFOGD
from localarc_lab.peers.theta import Theta

__all__ = [
    "ACI",
    "GCACI",
    "MVP",
    "OLCP",
    "POGO",
    "SAOCP",
    "SFOGD",
    "AgACI",
    "ConformalPID",
    "DtACI",
    "GroupACI",
    "KernelQuantile",
    "NearestQuantile",
    "OLCPHedge",
    "QuantileTracking",
    "RandomFourierQuantile",
    "RollingQuantile",
    "TangentIntegrator",
    "Theta",
]
