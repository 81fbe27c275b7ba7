"""Memory: what the local part of a threshold remembers, and how."""

from localarc.control.memory.constant import Auto, Dictionary, Lattice, as_memory
from localarc.control.memory.role import Arrays, Expansion, LossCurves, Memory, Played, Rounds
from localarc.control.memory.strategies import KeepAll, KeepLast

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
