"""Polyps: is the promise kept for every hospital's images?"""

from localarc.experiments.polyps.experiment import POLYPS

__all__ = ["POLYPS"]
