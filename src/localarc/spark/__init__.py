"""Keyed streams on Spark: one calibrator per key for millions of keys, many keys per row of state.

Requires PySpark 4.1 or newer: `pip install 'localarc[spark]'`, and Java 17.
"""

from localarc.keyed.rules import BadRowError
from localarc.spark.calibrate import accepted, calibrate, rejected
from localarc.spark.export import export_state, import_state
from localarc.spark.session import prepare

__all__ = [
    "BadRowError",
    "accepted",
    "calibrate",
    "export_state",
    "import_state",
    "prepare",
    "rejected",
]
