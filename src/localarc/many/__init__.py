"""Many keyed streams: a panel of calibrators, the rows of frames, files, Kafka topics and Spark.

All but panels require PyArrow and narwhals: `pip install 'localarc[keyed]'`.
"""

from localarc.many.calibrate import calibrate
from localarc.many.columns import Columns
from localarc.many.jobs.files import run_files
from localarc.many.jobs.kafka import run_topic
from localarc.many.keyed_streams import KeyedStreams
from localarc.many.limits import Limits
from localarc.many.panel import Panel
from localarc.many.rows.rules import BadRowError

__all__ = [
    "BadRowError",
    "Columns",
    "KeyedStreams",
    "Limits",
    "Panel",
    "calibrate",
    "run_files",
    "run_topic",
]
