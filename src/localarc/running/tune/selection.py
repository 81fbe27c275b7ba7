"""Selection: compare candidates on the first rounds, and evaluate the best one on the rest."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from localarc import measures, validation
from localarc.calibrators.base import BaseCalibrator
from localarc.curves import Curves
from localarc.curves.inputs import require_as_many, require_curves
from localarc.kernels import Kernel
from localarc.running import from_data
from localarc.running.sweep import sweep
from localarc.running.tune.candidates import candidate_grid, checked_candidates
from localarc.running.tune.evaluation import Evaluation, evaluate
from localarc.running.tune.tuning import SelectionWarning, Tuning
from localarc.validation import FloatArray


def tune(
    X: ArrayLike,
    curves: Curves,
    candidates: Sequence[BaseCalibrator] | None = None,
    neighbourhood: Kernel | Sequence[Kernel] | None = None,
    held_out: float = 0.25,
    jobs: int | None = None,
    *,
    alpha: float | None = None,
) -> Tuning:
    """Select a calibrator by its worst neighbourhood and pinball loss; evaluate it on the rest.

    Every candidate runs online over the first part of the stream. Its excess is how far its worst
    neighbourhood is above the target, beyond two standard errors. Of those within one standard
    error of the smallest excess, the one with the smallest pinball loss is selected.

    Warns if the selected calibrator does not meet the target, and if it is ARC, which has a single
    threshold for all inputs.

    Parameters
    ----------
    X : array of shape (n, d)
        The inputs in chronological order.
    curves : Curves
        What each round would have cost at any threshold: see `localarc.curves`.
    candidates : sequence of calibrators or None, default None
        New calibrators with the same target. By default, ARC and L-ARC with length scales that
        follow the spread of the inputs, and decreasing and constant rates that follow the spread
        of the scores.
    neighbourhood : Kernel, sequence of Kernel or None, default None
        What a neighbourhood is, the same for all candidates, so that they can be compared; with
        several kernels, the worst counts. By default, Gaussian ones with about 30, 10 and 3 % of
        the rounds, where that is at least 50 of the rounds held out.
    held_out : float, default 0.25
        The fraction of rounds held out, from the end, which play no part in the selection.
    jobs : int or None, default None
        The number of processes, as for `sweep`.
    alpha : float or None, default None
        The target; required if `candidates` is None.

    Returns
    -------
    Tuning
        The selected calibrator with its evaluations.

    Examples
    --------
    >>> from localarc.streams import heteroscedastic
    >>> stream = heteroscedastic(800, seed=0, shift=False)
    >>> found = tune(stream.X, stream.curves, alpha=0.1)
    >>> len(found.candidates), found.held_out.rounds, found.held_out.meets_target
    (28, 200, True)
    """
    points = validation.points(X)
    require_curves(curves)
    require_as_many(points, curves)
    given = None if candidates is None else checked_candidates(candidates, alpha)
    kernels = None if neighbourhood is None else _checked_neighbourhoods(neighbourhood)
    start = rounds_for_selection(len(points), held_out)
    first = points[:start], curves.take(slice(0, start))
    prototypes = given or candidate_grid(*first, _required(alpha))
    kernels = kernels or from_data.neighbourhoods(first[0], len(points) - start or start)
    task = _Measure(*first, prototypes, kernels)
    rows = sweep(task, {"candidate": range(len(prototypes))}, jobs=jobs)
    evaluations = tuple(Evaluation(*(row[field.name] for field in _COLUMNS)) for row in rows)
    selected, tail = best(evaluations), None
    if start < len(points):
        tail = evaluate(prototypes[selected], points, curves, kernels, start)
    tuning = Tuning(prototypes, evaluations, selected, tail, kernels, rows)
    for remark in tuning.remarks:
        warnings.warn(remark, SelectionWarning, stacklevel=2)
    return tuning


_COLUMNS = fields(Evaluation)


@dataclass(frozen=True, eq=False)
class _Measure:
    """The task of the sweep: one candidate over the rounds used for the selection."""

    X: FloatArray
    curves: Curves
    candidates: tuple[BaseCalibrator, ...]
    neighbourhoods: tuple[Kernel, ...]

    def __call__(self, random: np.random.Generator, candidate: int) -> dict[str, Any]:
        chosen = self.candidates[candidate]
        evaluated = evaluate(chosen, self.X, self.curves, self.neighbourhoods, 0)
        return {"calibrator": repr(chosen), **asdict(evaluated)}


def best(evaluations: Sequence[Evaluation]) -> int:
    """Return the index of the smallest pinball loss within one standard error of the best."""
    smallest = min(evaluations, key=lambda each: each.excess)
    limit = smallest.excess + smallest.error
    within = [i for i, each in enumerate(evaluations) if each.excess <= limit]
    if any(math.isnan(evaluations[i].pinball) for i in within):
        return min(within, key=lambda i: evaluations[i].excess)
    return min(within, key=lambda i: (evaluations[i].pinball, evaluations[i].excess))


def _required(alpha: float | None) -> float:
    if alpha is None:
        raise TypeError("alpha is required without candidates: the risk that you accept, e.g. 0.1.")
    return alpha


def _checked_neighbourhoods(given: Kernel | Sequence[Kernel]) -> tuple[Kernel, ...]:
    kernels = tuple(given) if isinstance(given, list | tuple) else (given,)
    if not kernels:
        raise ValueError("neighbourhood must have at least one kernel; None takes them from X.")
    for kernel in kernels:
        measures.check_kernel(kernel)
    return kernels


def rounds_for_selection(rounds: int, held_out: float) -> int:
    """Return how many of the rounds are not held out."""
    share = validation.not_negative(
        "held_out", held_out, "It is a fraction of the stream, e.g. 0.25."
    )
    if share >= 1.0:
        raise ValueError(
            f"held_out must be below 1, got {share}: some rounds are needed for the selection."
        )
    start = rounds - round(rounds * share)
    if start == 0 or (share and start == rounds):
        raise ValueError(
            f"held_out = {share} of {rounds} rounds leaves {start} for the selection and "
            f"{rounds - start} held out: use a longer stream, or a fraction nearer 0.25."
        )
    return start
