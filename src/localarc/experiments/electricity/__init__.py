"""Electricity: is the promise kept on weekends too?"""

from localarc.experiments.electricity.experiment import ELECTRICITY

__all__ = ["ELECTRICITY"]
