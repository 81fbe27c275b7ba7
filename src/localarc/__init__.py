"""localarc: promise how often a running model fails, overall and for every kind of input."""

from localarc.control.arc import ARC
from localarc.control.kernels import (
    RBF,
    Cauchy,
    Laplace,
    Matern32,
    Matern52,
    RationalQuadratic,
    Triangular,
)
from localarc.control.larc import LARC
from localarc.control.memory import Dictionary, KeepAll, KeepLast, Lattice
from localarc.control.mondrian import Mondrian
from localarc.control.rates import Constant, InverseSqrt, Power
from localarc.panel import Panel
from localarc.record import Record
from localarc.replay import replay, replay_many
from localarc.sweeps import Sweep, sweep

__all__ = [
    "ARC",
    "LARC",
    "RBF",
    "Cauchy",
    "Constant",
    "Dictionary",
    "InverseSqrt",
    "KeepAll",
    "KeepLast",
    "Laplace",
    "Lattice",
    "Matern32",
    "Matern52",
    "Mondrian",
    "Panel",
    "Power",
    "RationalQuadratic",
    "Record",
    "Sweep",
    "Triangular",
    "replay",
    "replay_many",
    "sweep",
]
