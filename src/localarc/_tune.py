"""Tuning: select a calibrator on the first part of a stream, and evaluate it on the rest."""

from __future__ import annotations

import copy
import math
import warnings
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from localarc import metrics, validation
from localarc._replay import AssumptionWarning, replay
from localarc._sweep import Sweep, sweep
from localarc.calibrators.base import BaseCalibrator
from localarc.calibrators.health import PromiseWarning
from localarc.curves import Curves
from localarc.kernels import Kernel
from localarc.validation import FloatArray

CAUTION = (
    "The candidates' results were used for the selection, and are optimistic for the selected one: "
    "report the held-out results. They stop being held out once they influence the candidates."
)


class SelectionWarning(UserWarning):
    """A calibrator is evaluated on the rounds that it was selected on."""


@dataclass(frozen=True)
class Evaluation:
    """How a calibrator performed in some rounds, online.

    Parameters
    ----------
    rounds : int
        The number of rounds.
    risk : float
        The mean loss.
    worst, worst_error : float
        The risk of the worst neighbourhood, and its standard error as if rounds were independent.
    size : float
        The mean set size, NaN if unknown.
    alpha : float
        The target.

    Examples
    --------
    >>> round(Evaluation(100, 0.1, 0.14, 0.02, 1.5, 0.1).excess, 9)
    0.04
    """

    rounds: int
    risk: float
    worst: float
    worst_error: float
    size: float
    alpha: float

    @property
    def excess(self) -> float:
        """How far the worst neighbourhood is above the target, 0 if it is not."""
        return max(0.0, self.worst - self.alpha)


@dataclass(frozen=True, eq=False)
class Tuning:
    """The result of `tune`.

    Parameters
    ----------
    candidates : tuple of calibrators
        The candidates, new.
    evaluations : tuple of Evaluation
        Their results on the rounds used for the selection.
    selected : int
        The index of the selected candidate.
    held_out : Evaluation or None
        The result of the selected one on the rest of the stream, after running from the first round
        on; None where nothing was held out.
    neighbourhood : Kernel
        What a neighbourhood was.
    sweep : Sweep
        The evaluations as a table.

    Examples
    --------
    >>> from localarc import ARC, LARC, RBF, tune
    >>> from localarc.streams.synthetic import heteroscedastic
    >>> stream = heteroscedastic(2000, seed=0)
    >>> found = tune(stream.X, stream.curves, [ARC(0.1), LARC(0.1, RBF(0.4))], RBF(0.4))
    >>> found.calibrator
    LARC(...)
    """

    candidates: tuple[BaseCalibrator, ...]
    evaluations: tuple[Evaluation, ...]
    selected: int
    held_out: Evaluation | None
    neighbourhood: Kernel
    sweep: Sweep

    @property
    def calibrator(self) -> BaseCalibrator:
        """The selected candidate, new."""
        return copy.deepcopy(self.candidates[self.selected])


def tune(
    X: ArrayLike,
    curves: Curves,
    candidates: Sequence[BaseCalibrator],
    neighbourhood: Kernel,
    held_out: float = 0.25,
    jobs: int | None = None,
) -> Tuning:
    """Select a calibrator by worst neighbourhood, then set size; evaluate it on held-out rounds.

    Every candidate runs online over the first part of the stream. Its excess is how far its worst
    neighbourhood is above the target. Of those within one standard error of the smallest excess,
    the one with the smallest sets is selected; where sizes are unknown, the one with the smallest
    excess.

    Parameters
    ----------
    X : array of shape (n, d)
        The inputs in chronological order.
    curves : Curves
        What each round would have cost at any threshold: see `localarc.curves`.
    candidates : sequence of calibrators
        New calibrators with the same target.
    neighbourhood : Kernel
        What a neighbourhood is; one kernel for all candidates, so that they can be compared.
    held_out : float, default 0.25
        The fraction of rounds held out, from the end, which play no part in the selection.
    jobs : int or None, default None
        The number of processes, as for `sweep`.

    Returns
    -------
    Tuning
        The selected calibrator with its evaluations.

    Examples
    --------
    >>> from localarc import ARC, LARC, RBF
    >>> from localarc.streams.synthetic import heteroscedastic
    >>> stream = heteroscedastic(2000, seed=0)
    >>> found = tune(stream.X, stream.curves, [ARC(0.1), LARC(0.1, RBF(0.4))], RBF(0.4))
    >>> found.held_out.rounds
    500
    """
    points = validation.points(X)
    prototypes = _checked(candidates)
    metrics.check_kernel(neighbourhood)
    if len(points) != len(curves):
        raise ValueError(
            f"X and curves must have the same number of rounds, got {len(points)} rows and "
            f"{len(curves)} curves."
        )
    start = _split(len(points), held_out)
    measure = _Measure(points[:start], curves.take(slice(0, start)), prototypes, neighbourhood)
    rows = sweep(measure, {"candidate": range(len(prototypes))}, jobs=jobs)
    evaluations = tuple(
        Evaluation(*(row[each.name] for each in fields(Evaluation))) for row in rows
    )
    selected = _best(evaluations)
    tail = None
    if start < len(points):
        tail = _evaluate(prototypes[selected], points, curves, neighbourhood, start)
    return Tuning(prototypes, evaluations, selected, tail, neighbourhood, rows)


@dataclass(frozen=True, eq=False)
class _Measure:
    """The task of the sweep: one candidate over the rounds used for the selection."""

    X: FloatArray
    curves: Curves
    candidates: tuple[BaseCalibrator, ...]
    neighbourhood: Kernel

    def __call__(self, random: np.random.Generator, candidate: int) -> dict[str, Any]:
        chosen = self.candidates[candidate]
        evaluated = _evaluate(chosen, self.X, self.curves, self.neighbourhood, 0)
        return {"calibrator": repr(chosen), **asdict(evaluated)}


def _evaluate(
    candidate: BaseCalibrator, X: FloatArray, curves: Curves, neighbourhood: Kernel, start: int
) -> Evaluation:
    """Run the stream from its first round, and evaluate from round `start` on."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AssumptionWarning)  # about the stream, not the candidate
        warnings.simplefilter("ignore", PromiseWarning)  # candidates may fail: that is the test
        record = replay(copy.deepcopy(candidate), X, curves)
    losses = record.losses[start:]
    worst = metrics.worst_neighbourhood(X[start:], losses, neighbourhood)
    return Evaluation(
        rounds=len(losses),
        risk=float(losses.mean()),
        worst=worst.risk,
        worst_error=worst.standard_error,
        size=float(record.sizes[start:].mean()),
        alpha=candidate.alpha,
    )


def _best(evaluations: Sequence[Evaluation]) -> int:
    best = min(evaluations, key=lambda each: each.excess)
    limit = best.excess + (best.worst_error if math.isfinite(best.worst_error) else 0.0)
    within = [i for i, each in enumerate(evaluations) if each.excess <= limit]
    if any(math.isnan(evaluations[i].size) for i in within):
        return min(within, key=lambda i: evaluations[i].excess)
    return min(within, key=lambda i: (evaluations[i].size, evaluations[i].excess))


def _checked(candidates: Sequence[BaseCalibrator]) -> tuple[BaseCalibrator, ...]:
    listed = tuple(candidates) if isinstance(candidates, Iterable) else (candidates,)
    wrong = [each for each in listed if not isinstance(each, BaseCalibrator) or each.rounds]
    if wrong or not listed or not isinstance(candidates, Iterable):
        raise TypeError(
            f"candidates must be new calibrators, got {wrong[0] if wrong else candidates!r}. "
            "For example [LARC(0.1, RBF(s)) for s in (0.1, 1.0)]."
        )
    if any(each.learns_from for each in listed):
        raise ValueError(
            "candidates must find groups themselves: construct Mondrian with group_of."
        )
    if len({each.alpha for each in listed}) > 1:
        raise ValueError(
            "all candidates must have the same alpha: different targets cannot be compared."
        )
    return listed


def _split(rounds: int, held_out: float) -> int:
    share = validation.not_negative(
        "held_out", held_out, "It is a fraction of the stream, e.g. 0.25."
    )
    if share >= 1.0:
        raise ValueError(
            f"held_out must be below 1, got {share}: some rounds are needed for the selection."
        )
    if share == 0.0:
        warnings.warn(
            "nothing is held out: the selected calibrator has no evaluation of its own, and its "
            "results on the rounds used for the selection are optimistic. Use held_out=0.25.",
            SelectionWarning,
            stacklevel=3,
        )
    start = rounds - round(rounds * share)
    if share and not 0 < start < rounds:
        raise ValueError(
            f"held_out = {share} of {rounds} rounds leaves {start} for the selection and "
            f"{rounds - start} held out: use a longer stream, or a fraction nearer 0.25."
        )
    return start
