"""Many keyed streams: a panel of calibrators, the rows of frames, files, Kafka topics and Spark.

All but panels require PyArrow and narwhals: `pip install 'localarc[keyed]'`.
"""

from localarc.many.calibrate import calibrate
from localarc.many.jobs.run_files import run_files
from localarc.many.jobs.run_topic import run_topic
from localarc.many.keyed_streams import KeyedStreams
from localarc.many.panel import Panel
from localarc.many.rows.rules import BadRowError

__all__ = ["BadRowError", "KeyedStreams", "Panel", "calibrate", "run_files", "run_topic"]
