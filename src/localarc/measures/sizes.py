"""Sizes of sets."""

from __future__ import annotations

import math

import numpy as np

from localarc.validation import FloatArray


def mean_size(sizes: FloatArray) -> float:
    """Return the mean size of the sets that are bounded.

    Parameters
    ----------
    sizes : array of float, shape (n,)
        Set size of each round; NaN where unknown.

    Returns
    -------
    float
        The mean; NaN if sizes are unknown, or no set is bounded.

    Examples
    --------
    >>> mean_size(np.array([1.0, 3.0, np.inf]))
    2.0
    """
    bounded = sizes[~np.isinf(sizes)]
    return float(bounded.mean()) if len(bounded) else math.nan
