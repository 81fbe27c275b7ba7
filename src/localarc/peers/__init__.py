"""Peers: methods that others published, as calibrators, with their authors' defaults.

All of them have `alpha`, `threshold` and `update`; `learns_from` says what else an update needs.
"""

from localarc.peers.aci import ACI
from localarc.peers.agaci import AgACI
from localarc.peers.dtaci import DtACI
from localarc.peers.gcaci import GCACI
from localarc.peers.group_aci import GroupACI
from localarc.peers.local_quantiles import KernelQuantile, NearestQuantile
from localarc.peers.mvp import MVP
from localarc.peers.olcp import OLCP
from localarc.peers.olcp_hedge import OLCPHedge
from localarc.peers.pid import ConformalPID, TangentIntegrator
from localarc.peers.pogo import POGO
from localarc.peers.quantile_tracking import QuantileTracking
from localarc.peers.random_fourier import RandomFourierQuantile
from localarc.peers.rolling_quantile import RollingQuantile
from localarc.peers.saocp import SAOCP
from localarc.peers.sf_ogd import SFOGD
from localarc.peers.theta import Theta

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
