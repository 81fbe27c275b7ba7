"""Tuning: select a calibrator on the first part of a stream, and evaluate it on the rest."""

from localarc.running.tune.evaluation import Evaluation
from localarc.running.tune.selection import tune
from localarc.running.tune.tuning import CAUTION, SelectionWarning, Tuning

__all__ = ["CAUTION", "Evaluation", "SelectionWarning", "Tuning", "tune"]
