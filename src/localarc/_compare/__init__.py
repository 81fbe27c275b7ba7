"""Compare: online methods on the same rounds, with one table."""

from localarc._compare.comparison import Comparison
from localarc._compare.result import Local, Result
from localarc._compare.runner import compare

__all__ = ["Comparison", "Local", "Result", "compare"]
