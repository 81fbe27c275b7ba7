"""One measurement of a claim."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Measured:
    """What was measured on a stream, with the claim's bar where it has one."""

    stream: str
    what: str
    value: str
    bar: str = ""
    met: bool | None = None


def at_most(stream: str, what: str, value: float, bar: float, text: str = "") -> Measured:
    return Measured(stream, what, text or f"{value:.4g}", f"<= {bar:g}", bool(value <= bar))


def plain(stream: str, what: str, value: float, text: str = "") -> Measured:
    return Measured(stream, what, text or f"{value:.4g}")


def with_error(values: Any, digits: int = 3) -> str:
    """Mean and standard error over repetitions.

    >>> with_error([1.0, 2.0, 3.0])
    '2.000 ± 0.577'
    """
    array = np.asarray(values, dtype=np.float64)
    error = float(array.std(ddof=1) / math.sqrt(len(array))) if len(array) > 1 else math.nan
    return f"{array.mean():.{digits}f} ± {error:.{digits}f}"
