"""Tuning: select a calibrator on the first part of a stream, and evaluate it on the rest."""

from localarc._tune.evaluation import Evaluation
from localarc._tune.selection import tune
from localarc._tune.tuning import CAUTION, SelectionWarning, Tuning

__all__ = ["CAUTION", "Evaluation", "SelectionWarning", "Tuning", "tune"]
