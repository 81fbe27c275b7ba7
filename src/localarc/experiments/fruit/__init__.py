"""Fruit: is the promise kept at every level of the model's confidence?"""

from localarc.experiments.fruit.experiment import FRUIT

__all__ = ["FRUIT"]
