"""Compiled loops: plain arrays in, plain arrays out, and no knowledge of anything above."""

from localarc.engine.dictionary import DictionaryExpansion
from localarc.engine.exact import ExactExpansion
from localarc.engine.exponential import exp_minus
from localarc.engine.lattice import LatticeExpansion
from localarc.engine.many import replay_many
from localarc.engine.profiles import (
    CAUCHY,
    GAUSSIAN,
    LAPLACE,
    MATERN32,
    MATERN52,
    Profile,
    custom,
    rational_quadratic,
    triangular,
)
from localarc.engine.stream import Played, Stream

__all__ = [
    "CAUCHY",
    "GAUSSIAN",
    "LAPLACE",
    "MATERN32",
    "MATERN52",
    "DictionaryExpansion",
    "ExactExpansion",
    "LatticeExpansion",
    "Played",
    "Profile",
    "Stream",
    "custom",
    "exp_minus",
    "rational_quadratic",
    "replay_many",
    "triangular",
]
