"""The paper's experiments: run one with `run`, or with `localarc reproduce`.

Examples
--------
>>> from localarc_lab.experiments import EXPERIMENTS
>>> sorted(EXPERIMENTS)
['beams', 'electricity', 'fruit', 'polyps']
"""

from __future__ import annotations

from typing import Any

from localarc_lab.experiments.beams.experiment import Beams
from localarc_lab.experiments.electricity.experiment import Electricity
from localarc_lab.experiments.experiment import Experiment, Outcome, Plan, Results, Task
from localarc_lab.experiments.fruit.experiment import Fruit
from localarc_lab.experiments.methods import Method
from localarc_lab.experiments.polyps.experiment import Polyps
from localarc_lab.experiments.runner import run

_ALL: tuple[Experiment[Any, Any], ...] = (Electricity(), Polyps(), Fruit(), Beams())
EXPERIMENTS = {experiment.name: experiment for experiment in _ALL}
"""Every experiment with its default options, by name."""

__all__ = [
    "EXPERIMENTS",
    "Beams",
    "Electricity",
    "Experiment",
    "Fruit",
    "Method",
    "Outcome",
    "Plan",
    "Polyps",
    "Results",
    "Task",
    "run",
]
