"""Replay: run a calibrator over a whole stream."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Hashable, Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from localarc import validation
from localarc.calibrators.base import Calibrator, Progress
from localarc.calibrators.batched import follow_many
from localarc.calibrators.larc import LARC
from localarc.curves import Curves
from localarc.guarantees import Evidence
from localarc.record import Record
from localarc.validation import FloatArray


class AssumptionWarning(UserWarning):
    """A stream breaks an assumption that the guarantees rest on."""


def replay(
    calibrator: Any,
    X: ArrayLike | Iterable[Any] | None,
    curves: Curves | None = None,
    groups: Sequence[Hashable] | None = None,
    progress: Progress | None = None,
) -> Record:
    """Run a calibrator over a stream: the same numbers as threshold and update in a loop.

    Give inputs (n, d) with their curves, or, without curves, an iterator of rounds: pairs of x and
    a curve, or triples with a group. ARC ignores inputs, so None will do for it. The calibrator
    learns as it goes. `groups` label the rounds in the record, and are what a Mondrian without
    `group_of` splits by. `progress` is called with the number of rounds just done. Any object with
    `alpha`, `threshold(x)` and `update(x, loss)` can be run; one whose `uses_curves` is true is
    updated with `update(x, loss, curve=...)`, for methods that learn from scores.

    >>> from localarc import ARC
    >>> from localarc.curves import miscoverage
    >>> replay(ARC(alpha=0.1), [[0.0], [1.0]], miscoverage([0.5, 0.5])).thresholds
    array([0. , 0.9])
    """
    report = progress or _silent
    if curves is None:
        return _iterate(calibrator, X, report)
    _check(calibrator, curves)
    points = _inputs(calibrator, X, curves)
    labels = _labels(groups, len(points))
    evidence = examine(curves, calibrator.alpha)
    thresholds, losses = _followed(calibrator, points, curves, labels, report)
    return _record(calibrator, thresholds, losses, curves, labels, evidence)


def replay_many(
    calibrators: Sequence[Any],
    X: ArrayLike,
    curves: Curves,
    groups: Sequence[Hashable] | None = None,
    *,
    dtype: str = "float64",
) -> list[Record]:
    """Run many calibrators over one stream: the records of `replay` for each, sooner.

    New L-ARC calibrators with the same kernel and `KeepAll` memory share every evaluation of it,
    whatever their alphas, rates and regularizations. Those whose length scales differ share the
    distances, and agree with `replay` up to rounding. Others run one by one. With
    `dtype="float32"` those that can share evaluate a Gaussian kernel in single precision: see the
    performance page for what that changes.
    """
    if dtype not in ("float64", "float32"):
        raise ValueError(f'dtype must be "float64" or "float32", got {dtype!r}.')
    if not isinstance(calibrators, Iterable):
        raise TypeError(f"calibrators must be a list of them, got {calibrators!r}.")
    calibrators = list(calibrators)
    for calibrator in calibrators:
        _check(calibrator, curves)
    points = _given(X, curves)
    labels = _labels(groups, len(points))
    evidence = [examine(curves, each.alpha) for each in calibrators]
    alone = [each for each in calibrators if not isinstance(each, LARC)]
    shared = [each for each in calibrators if isinstance(each, LARC)]
    with contextlib.ExitStack() as guards:
        for each in calibrators:
            if isinstance(each, Calibrator):
                guards.enter_context(each.unchanged_on_failure())
        results = _all_followed(shared, alone, points, curves, labels, dtype == "float32")
    return [
        _record(each, *results[id(each)], curves, labels, seen)
        for each, seen in zip(calibrators, evidence, strict=True)
    ]


def _all_followed(
    shared: list[LARC],
    alone: list[Any],
    points: FloatArray,
    curves: Curves,
    labels: list[Hashable] | None,
    single: bool,
) -> dict[int, tuple[FloatArray, FloatArray]]:
    """The result of each calibrator, by its identity."""
    return {
        id(each): result
        for each, result in zip(
            [*shared, *alone],
            [
                *follow_many(shared, points, curves, single),
                *(_followed(each, points, curves, labels, _silent) for each in alone),
            ],
            strict=True,
        )
    }


def _followed(
    calibrator: Any,
    points: FloatArray,
    curves: Curves,
    labels: list[Hashable] | None,
    progress: Progress,
) -> tuple[FloatArray, FloatArray]:
    """Thresholds and losses of one calibrator, ours or a user's."""
    if isinstance(calibrator, Calibrator):
        return calibrator.follow(points, curves, labels, progress)
    return _step_by_step(calibrator, points, curves, labels, progress)


def _record(
    calibrator: Any,
    thresholds: FloatArray,
    losses: FloatArray,
    curves: Curves,
    labels: list[Hashable] | None,
    evidence: Evidence,
) -> Record:
    groups = None if labels is None else tuple(labels)
    sizes = curves.sizes_at(thresholds)
    alpha, name = calibrator.alpha, repr(calibrator)
    return Record(thresholds, losses, sizes, groups, alpha, name, evidence)


def _silent(done: int) -> None:
    """Report progress to nobody."""


def _labels(groups: Sequence[Hashable] | None, n: int) -> list[Hashable] | None:
    if groups is None:
        return None
    labels = validation.per_round("groups", groups, n)
    return [g.item() if isinstance(g, np.generic) else g for g in labels]


def _is_calibrator(calibrator: Any) -> None:
    parts = ("alpha", "threshold", "update")
    if isinstance(calibrator, type) or not all(hasattr(calibrator, name) for name in parts):
        raise TypeError(
            f"calibrator must be an object with alpha, threshold and update, got {calibrator!r}. "
            "For example ARC(alpha=0.1)."
        )


def _inputs(calibrator: Any, X: Any, curves: Curves) -> FloatArray:
    """The inputs, or any at all for a calibrator that ignores them."""
    if X is None and isinstance(calibrator, LARC) and calibrator.kernel is None:
        return np.zeros((len(curves), 1))
    return _given(X, curves)


def _given(X: Any, curves: Curves) -> FloatArray:
    points = validation.points(X)
    if len(points) != len(curves):
        raise ValueError(
            f"X and curves must have as many rounds, got {len(points)} rows and {len(curves)} "
            "curves."
        )
    return points


def _check(calibrator: Any, curves: Curves) -> None:
    _is_calibrator(calibrator)
    if not isinstance(curves, Curves):
        raise TypeError(
            f"curves must be made by localarc.curves, got {type(curves).__name__}. "
            "For example miscoverage(scores)."
        )
    bound = getattr(calibrator, "loss_bound", curves.bound)
    if curves.bound > bound:
        raise ValueError(
            f"the curves have losses up to {curves.bound}, the calibrator expects at most {bound}. "
            f"Construct it with loss_bound={curves.bound}."
        )


def examine(curves: Curves, alpha: float) -> Evidence:
    """What the curves tell about (A2) and (A3), with a warning where one of them fails."""
    full, empty = curves.full_set_fails(alpha), curves.empty_set_passes(alpha)
    for rounds, what in ((full, "a full set costs more"), (empty, "an empty set costs less")):
        if len(rounds):
            warnings.warn(
                f"{what} than alpha = {alpha} in {len(rounds)} round(s), first in round "
                f"{rounds[0] + 1}, counted from 1: the long-run bounds do not hold here.",
                AssumptionWarning,
                stacklevel=3,
            )
    return Evidence(curves.score_range, len(full), len(empty), len(curves))


def _step_by_step(
    calibrator: Any,
    points: FloatArray,
    curves: Curves,
    labels: list[Hashable] | None,
    progress: Progress,
) -> tuple[FloatArray, FloatArray]:
    rounds = ((x, curves[t], labels[t] if labels else None) for t, x in enumerate(points))
    steps = [_step(calibrator, *each, progress) for each in rounds]
    thresholds, losses = np.array(steps).reshape(-1, 3)[:, :2].T
    return thresholds, losses


def _step(
    calibrator: Any, x: Any, curve: Any, group: Hashable, progress: Progress
) -> tuple[float, float, float]:
    """Threshold, loss and set size of one round."""
    where = {"group": group} if getattr(calibrator, "uses_groups", False) else {}
    threshold = _number(calibrator.threshold(x, **where))
    loss = curve.loss(threshold)
    told = {"curve": curve} if getattr(calibrator, "uses_curves", False) else {}
    calibrator.update(x, loss, **where, **told)
    progress(1)
    return threshold, loss, curve.size(threshold)


def _number(threshold: Any) -> float:
    try:
        return float(threshold)
    except (TypeError, ValueError) as error:
        raise TypeError(
            f"threshold must return one number for one input, got {threshold!r:.60}."
        ) from error


def _iterate(calibrator: Any, rounds: Any, progress: Progress) -> Record:
    _is_calibrator(calibrator)
    if not isinstance(calibrator, Calibrator):
        return _iterated(calibrator, rounds, progress)
    with calibrator.unchanged_on_failure():
        return _iterated(calibrator, rounds, progress)


def _iterated(calibrator: Any, rounds: Any, progress: Progress) -> Record:
    steps: list[tuple[float, float, float]] = []
    labels: list[Hashable] = []
    for each in rounds:
        fits = isinstance(each, Sequence) and len(each) in (2, 3) and hasattr(each[1], "loss")
        if not fits:
            raise ValueError(
                f"a round must be (x, curve) or (x, curve, group), got {each!r:.80} as round "
                f"{len(steps)}. Pass curves along with X if X is an array of inputs."
            )
        group = each[2] if len(each) == 3 else None
        steps.append(_step(calibrator, each[0], each[1], group, progress))
        labels.append(group)
    thresholds, losses, sizes = np.array(steps).reshape(-1, 3).T.copy()
    grouped = tuple(labels) if any(label is not None for label in labels) else None
    return Record(thresholds, losses, sizes, grouped, calibrator.alpha, repr(calibrator))
