"""Memory: what the local part of a threshold remembers, and how."""

from localarc.control.memory.role import Arrays, Expansion, Memory
from localarc.control.memory.strategies import KeepAll, KeepLast

__all__ = ["Arrays", "Expansion", "KeepAll", "KeepLast", "Memory"]
