"""Keyed streams on Spark: one calibrator per key for millions of keys, many keys per row of state.

Requires PySpark 4.1 or newer: `pip install 'localarc[spark]'`, and Java 17.
"""

from localarc.many.rows.rules import BadRowError
from localarc.many.spark.calibrate import accepted, calibrate, rejected
from localarc.many.spark.export import export_state, import_state
from localarc.many.spark.session import prepare

__all__ = [
    "BadRowError",
    "accepted",
    "calibrate",
    "export_state",
    "import_state",
    "prepare",
    "rejected",
]
