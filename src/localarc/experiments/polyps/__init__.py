"""Polyps: is the promise kept for every hospital's images?"""

from localarc.experiments.polyps.declaration import POLYPS

__all__ = ["POLYPS"]
