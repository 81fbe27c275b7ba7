"""Compiled loops: arrays in, arrays out, and no knowledge of the layers above. See README.md."""

from localarc.engine.dictionary.expansion import DictionaryExpansion
from localarc.engine.exact.batched import replay_many
from localarc.engine.exact.expansion import ExactExpansion
from localarc.engine.exponential import exp_minus
from localarc.engine.kernels import GAUSSIAN, Profile, custom, named
from localarc.engine.lattice.expansion import LatticeExpansion
from localarc.engine.stream import Played, Stream

__all__ = [
    "GAUSSIAN",
    "DictionaryExpansion",
    "ExactExpansion",
    "LatticeExpansion",
    "Played",
    "Profile",
    "Stream",
    "custom",
    "exp_minus",
    "named",
    "replay_many",
]
