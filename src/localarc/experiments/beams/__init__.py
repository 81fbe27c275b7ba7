"""Beam selection: is service even across the map?"""

from localarc.experiments.beams.declaration import BEAMS

__all__ = ["BEAMS"]
