"""Compare: online methods on the same rounds, with one table."""

from localarc_lab.compare.comparison import Comparison
from localarc_lab.compare.result import Local, Result
from localarc_lab.compare.runner import compare

__all__ = ["Comparison", "Local", "Result", "compare"]
