"""Data sets: find, download, verify and cache them.

`LOCALARC_DATA` names a folder that is searched first, with one subfolder per data set.

Examples
--------
>>> from localarc_lab import data
>>> [name for name in data.DATASETS if name.startswith("multiflow")]
['multiflow-covtype', 'multiflow-weather']
"""

from localarc.missing_data import DataError
from localarc_lab.data.catalogue import DATASETS, Dataset
from localarc_lab.data.store import find, get, verify

__all__ = ["DATASETS", "DataError", "Dataset", "find", "get", "verify"]
