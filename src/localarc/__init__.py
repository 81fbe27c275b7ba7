"""localarc: promise how often a running model fails, overall and for every kind of input."""

from localarc._replay import replay, replay_many
from localarc._sweep import Sweep, sweep
from localarc.calibrators.arc import ARC
from localarc.calibrators.larc import LARC
from localarc.calibrators.mondrian import Mondrian
from localarc.kernels import (
    RBF,
    Cauchy,
    Laplace,
    Matern32,
    Matern52,
    RationalQuadratic,
    Triangular,
)
from localarc.memory import Dictionary, KeepAll, KeepLast, Lattice
from localarc.panel import Panel
from localarc.rates import Constant, InverseSqrt, Power
from localarc.record import Record

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
