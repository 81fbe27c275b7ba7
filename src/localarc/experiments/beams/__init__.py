"""Beam selection: is service even across the map?"""

from localarc.experiments.beams.experiment import BEAMS

__all__ = ["BEAMS"]
