"""Experiments: the paper's, as declarations."""

from __future__ import annotations

from localarc.experiments.electricity import ELECTRICITY
from localarc.experiments.experiment import Experiment, Plan, Results
from localarc.experiments.fruit import FRUIT
from localarc.experiments.polyps import POLYPS
from localarc.experiments.runner import run

EXPERIMENTS: dict[str, Experiment] = {each.name: each for each in (ELECTRICITY, POLYPS, FRUIT)}

__all__ = ["EXPERIMENTS", "Experiment", "Plan", "Results", "run"]
