"""Prediction sets: what thresholds mean for one prediction (`y in set`) or for many (`covers`)."""

from localarc.sets.arrays import Intervals, LabelMatrix
from localarc.sets.construction import interval, interval_from_quantiles, label_set, mask
from localarc.sets.single import Interval, LabelSet, Mask

__all__ = [
    "Interval",
    "Intervals",
    "LabelMatrix",
    "LabelSet",
    "Mask",
    "interval",
    "interval_from_quantiles",
    "label_set",
    "mask",
]
