"""Memory: how the local part of a threshold is stored."""

from localarc.memory.approximate import Dictionary, Lattice
from localarc.memory.auto import Auto
from localarc.memory.base import Memory
from localarc.memory.exact import KeepAll, KeepLast

__all__ = ["Auto", "Dictionary", "KeepAll", "KeepLast", "Lattice", "Memory"]
