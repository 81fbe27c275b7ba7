"""Memory: how the local part of a threshold is stored."""

from localarc.memory.approximate import Dictionary, Lattice
from localarc.memory.auto import Auto, as_memory
from localarc.memory.base import Arrays, Expansion, LossCurves, Memory, Played, Rounds
from localarc.memory.exact import KeepAll, KeepLast

__all__ = [
    "Arrays",
    "Auto",
    "Dictionary",
    "Expansion",
    "KeepAll",
    "KeepLast",
    "Lattice",
    "LossCurves",
    "Memory",
    "Played",
    "Rounds",
    "as_memory",
]
