"""Compare: every method on the same rounds, in parallel, and resumed after an interruption."""

from __future__ import annotations

import os
from collections.abc import Sequence

from numpy.typing import ArrayLike

from localarc.kernels import Kernel
from localarc.streams import Stream
from localarc_lab.compare.comparison import Comparison
from localarc_lab.compare.contest import Contest, Progress, run_contests
from localarc_lab.compare.methods import Methods


def compare(
    methods: Methods | None,
    stream: Stream,
    *,
    alpha: float | Sequence[float] = 0.1,
    delay: int | ArrayLike = 0,
    kernel: Kernel | None = None,
    jobs: int = 1,
    folder: str | os.PathLike[str] | None = None,
    progress: Progress | None = None,
) -> Comparison:
    """Run several methods over the same rounds, and compare what they did.

    Parameters
    ----------
    methods : sequence of str or callable, mapping of names to them, or None
        Names such as "auto", "aci" or "pid"; a class in a file, "my_method.py:Mine"; or a function
        that makes a calibrator from a target. None compares AutoLARC with ARC, ACI, DtACI, PID,
        SAOCP and a rolling quantile.
    stream : Stream
        The rounds, with features and groups if it has them.
    alpha : float or sequence of float, default 0.1
        The target, or several.
    delay : int or array of int, shape (n,), default 0
        After how many further rounds a loss is known, for all rounds or for each.
    kernel : Kernel or None, default None
        The kernel of L-ARC. None reaches about a tenth of the rounds.
    jobs : int, default 1
        Number of processes; -1 uses every core. Only the times depend on it.
    folder : path or None, default None
        Finished runs are stored here, and an interrupted comparison resumes from them. They are
        used again only for the same rounds, target, delay, code and packages.
    progress : callable or None, default None
        Called with the numbers of finished and of all runs.

    Returns
    -------
    Comparison
        The results, with a table.

    Examples
    --------
    >>> from localarc.streams import heteroscedastic
    >>> found = compare(["auto", "rolling"], heteroscedastic(500, seed=0))
    >>> [result.method for result in found.results], found.results[0].rounds
    (['AutoLARC', 'Rolling quantile'], 500)
    """
    contest = Contest(methods, stream, alpha, delay, kernel, folder)
    run_contests([contest], jobs, progress)
    return contest.comparison()
