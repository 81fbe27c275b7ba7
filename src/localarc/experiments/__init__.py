"""Experiments: the paper's, as declarations."""

from __future__ import annotations

from localarc.experiments.beams import BEAMS
from localarc.experiments.electricity import ELECTRICITY
from localarc.experiments.experiment import Experiment, Plan, Results
from localarc.experiments.fruit import FRUIT
from localarc.experiments.polyps import POLYPS
from localarc.experiments.runner import run

_ALL = ELECTRICITY, POLYPS, FRUIT, BEAMS
EXPERIMENTS: dict[str, Experiment] = {each.name: each for each in _ALL}

__all__ = ["EXPERIMENTS", "Experiment", "Plan", "Results", "run"]
