"""Prediction sets: what thresholds mean for one prediction (`y in set`) or for many (`covers`)."""

from localarc.sets.make import interval, interval_from_quantiles, label_set, mask
from localarc.sets.many import Intervals, LabelMatrix
from localarc.sets.one import Interval, LabelSet, Mask

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
