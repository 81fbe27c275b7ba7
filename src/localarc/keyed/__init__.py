"""Keyed frames: one calibrator per key of a table, with losses that come at once or late.

Requires PyArrow and narwhals: `pip install 'localarc[keyed]'`.
"""

from localarc.keyed.calibrate import calibrate
from localarc.keyed.rules import BadRowError
from localarc.keyed.runner import run_files
from localarc.keyed.streams import KeyedStreams
from localarc.keyed.topic_runner import run_topic

__all__ = ["BadRowError", "KeyedStreams", "calibrate", "run_files", "run_topic"]
