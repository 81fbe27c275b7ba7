"""Tuning: choose a calibrator on the first part of a stream, and judge it on the rest."""

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
from localarc.curves import Curves
from localarc.kernels import Kernel
from localarc.validation import FloatArray

CAUTION = (
    "The candidates' numbers were used to choose and flatter the one that was chosen: quote the "
    "held-out ones. Whoever changes the candidates after reading those has used them up."
)


class SelectionWarning(UserWarning):
    """A calibrator is evaluated on the rounds that it was chosen on."""


@dataclass(frozen=True)
class Evaluation:
    """How a calibrator did in some rounds, each answered before its loss was known.

    `worst` is the risk of the worst neighbourhood and `worst_error` its standard error, as if
    rounds were independent; `excess` is by how much it is above the target, 0 if it is not.
    """

    rounds: int
    risk: float
    worst: float
    worst_error: float
    size: float
    alpha: float

    @property
    def excess(self) -> float:
        """By how much the worst neighbourhood is above the target."""
        return max(0.0, self.worst - self.alpha)


@dataclass(frozen=True, eq=False)
class Tuning:
    """What came of `tune`: `evaluations` of the candidates on the rounds that they were chosen on.

    `held_out` judges the chosen one on the rest of the stream, after which it stands as it would
    had it run from the first round on; it is None where nothing was held out.
    """

    candidates: tuple[BaseCalibrator, ...]
    evaluations: tuple[Evaluation, ...]
    chosen: int
    held_out: Evaluation | None
    neighbourhood: Kernel
    sweep: Sweep

    @property
    def calibrator(self) -> BaseCalibrator:
        """The chosen candidate, new."""
        return copy.deepcopy(self.candidates[self.chosen])


def tune(
    X: ArrayLike,
    curves: Curves,
    candidates: Sequence[BaseCalibrator],
    neighbourhood: Kernel,
    held_out: float = 0.25,
    jobs: int | None = None,
) -> Tuning:
    """Choose among candidates by worst-neighbourhood risk, then set size, and judge on the tail.

    Every candidate goes through the first part of the stream online. Its excess is that of the
    worst place over the target, as `neighbourhood` sees places: one kernel for all, or they could
    not be compared. Of those within one standard error of the smallest excess, the one with the
    smallest sets is chosen; where sizes are not known, the one with the smallest excess. The last
    share `held_out` of the stream has no part in this. `jobs` is that of `sweep`.
    """
    points = validation.points(X)
    prototypes = _new(candidates)
    metrics.check_kernel(neighbourhood)
    if len(points) != len(curves):
        raise ValueError(
            f"X and curves must have as many rounds, got {len(points)} rows and {len(curves)} "
            "curves."
        )
    start = _split(len(points), held_out)
    measure = _Measure(points[:start], curves.take(slice(0, start)), prototypes, neighbourhood)
    rows = sweep(measure, {"candidate": range(len(prototypes))}, jobs=jobs)
    evaluations = tuple(
        Evaluation(*(row[each.name] for each in fields(Evaluation))) for row in rows
    )
    chosen = _choice(evaluations)
    tail = None
    if start < len(points):
        tail = _evaluate(prototypes[chosen], points, curves, neighbourhood, start)
    return Tuning(prototypes, evaluations, chosen, tail, neighbourhood, rows)


@dataclass(frozen=True, eq=False)
class _Measure:
    """The task of the sweep: one candidate over the rounds to choose on."""

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
    """Run the stream from its first round, and judge from round `start` on."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AssumptionWarning)  # of the stream, whoever is chosen
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


def _choice(evaluations: Sequence[Evaluation]) -> int:
    best = min(evaluations, key=lambda each: each.excess)
    limit = best.excess + (best.worst_error if math.isfinite(best.worst_error) else 0.0)
    within = [i for i, each in enumerate(evaluations) if each.excess <= limit]
    if any(math.isnan(evaluations[i].size) for i in within):
        return min(within, key=lambda i: evaluations[i].excess)
    return min(within, key=lambda i: (evaluations[i].size, evaluations[i].excess))


def _new(candidates: Sequence[BaseCalibrator]) -> tuple[BaseCalibrator, ...]:
    listed = tuple(candidates) if isinstance(candidates, Iterable) else (candidates,)
    wrong = [each for each in listed if not isinstance(each, BaseCalibrator) or each.rounds]
    if wrong or not listed or not isinstance(candidates, Iterable):
        raise TypeError(
            f"candidates must be new calibrators, got {wrong[0] if wrong else candidates!r}. "
            "For example [LARC(0.1, RBF(l)) for l in (0.1, 1.0)]."
        )
    if any(each.learns_from for each in listed):
        raise ValueError("candidates must find groups themselves: give Mondrian a group_of.")
    if len({each.alpha for each in listed}) > 1:
        raise ValueError("candidates must have one target alpha: another one is another promise.")
    return listed


def _split(rounds: int, held_out: float) -> int:
    share = validation.not_negative("held_out", held_out, "It is a share of the stream, e.g. 0.25.")
    if share >= 1.0:
        raise ValueError(f"held_out must be below 1, got {share}: leave rounds to choose on.")
    if share == 0.0:
        warnings.warn(
            "nothing is held out: whatever is chosen will be evaluated on the rounds that it was "
            "chosen on, and look better than it is. Use held_out=0.25.",
            SelectionWarning,
            stacklevel=3,
        )
    start = rounds - round(rounds * share)
    if share and not 0 < start < rounds:
        raise ValueError(
            f"held_out = {share} of {rounds} rounds leaves {start} to choose on and "
            f"{rounds - start} to judge on: take a longer stream, or a share nearer 0.25."
        )
    return start
