"""Data sets: finding, fetching, checking and caching them."""

from localarc.experiments.data.catalogue import DATASETS, Dataset
from localarc.experiments.data.store import DataError, find, get, verify

__all__ = ["DATASETS", "DataError", "Dataset", "find", "get", "verify"]
