"""Electricity: is the promise kept on weekends too?"""

from localarc.experiments.electricity.declaration import ELECTRICITY

__all__ = ["ELECTRICITY"]
