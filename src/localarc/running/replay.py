"""Replay: run a calibrator over a whole stream."""

from __future__ import annotations

import contextlib
import math
import warnings
from collections.abc import Hashable, Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from localarc import validation
from localarc.calibrators import health
from localarc.calibrators.adaptive import AdaptiveCalibrator
from localarc.calibrators.base import BaseCalibrator, Progress
from localarc.calibrators.batched import replay_many_curves
from localarc.calibrators.larc import LARC
from localarc.calibrators.mondrian import Mondrian
from localarc.calibrators.role import Calibrator, require_calibrator
from localarc.calibrators.step_by_step import play_round, replay_curves
from localarc.curves import Curve as RoundCurve
from localarc.curves import Curves
from localarc.curves.evidence import Examined, examine
from localarc.curves.inputs import require_as_many, require_curves
from localarc.guarantees import Evidence
from localarc.running.record import Record
from localarc.running.size_ratio import Reference
from localarc.tables import frames
from localarc.tables.frames import IntoFrame, Rows
from localarc.validation import FloatArray


def replay(
    calibrator: Calibrator,
    X: ArrayLike | Iterable[tuple[Any, ...]] | IntoFrame | None,
    curves: Curves | None = None,
    groups: Sequence[Hashable] | str | IntoFrame | None = None,
    progress: Progress | None = None,
) -> Record:
    """Run a calibrator over a stream: the same numbers as `threshold` and `update` in a loop.

    The calibrator learns as it runs. If a round fails, our calibrators are left as they were.

    Parameters
    ----------
    calibrator : Calibrator
        Any object with `alpha`, `threshold(x)` and `update(x, loss)`. One whose `learns_from`
        contains `"groups"`, `"score"` or `"curve"` receives these as keywords of `update`.
    X : array of shape (n, d), frame, series, iterator of rounds, or None
        The inputs in chronological order, or, without `curves`, an iterator of rounds: pairs of an
        input and a curve, or triples with a group. None will do for ARC, which ignores inputs, and
        for AutoLARC, which needs none. Frames are those of pandas, polars and other libraries
        that narwhals reads; the record keeps pandas' index.
    curves : Curves or None, default None
        What each round would have cost at any threshold: see `localarc.curves`.
    groups : sequence of n hashables, series, column or columns of X, or None, default None
        Labels of the rounds in the record, and what a `Mondrian` without `group_of` splits by. If
        X is a frame, the name of a column will do: it then is no feature. Several columns, or a
        frame of them, give each round several groups, such as "region=north".
    progress : callable or None, default None
        Called with the number of rounds just done.

    Returns
    -------
    Record
        Thresholds, losses and set sizes, round by round.

    Examples
    --------
    >>> from localarc import ARC
    >>> from localarc.curves import miscoverage
    >>> replay(ARC(alpha=0.1), [[0.0], [1.0]], miscoverage([0.5, 0.5])).thresholds
    array([0. , 0.9])
    """
    report = progress or _silent
    if curves is None:
        return _iterate(calibrator, X, report)
    _check(calibrator, curves)
    inputs, groups, rows = _unframed(X, groups)
    points = _inputs(calibrator, inputs, curves)
    labels = _labels(groups, len(points))
    evidence = examine(curves, calibrator.alpha)
    thresholds, losses = replay_curves(calibrator, points, curves, labels, report)
    reference = Reference.of_curves(curves, calibrator.alpha)
    return _record(calibrator, thresholds, losses, curves, labels, evidence, rows, reference)


def _unframed(X: Any, groups: Any) -> tuple[Any, Any, Rows | None]:
    """Return the inputs and groups without their frames, and the rows of these."""
    columns = frames.group_columns(X, groups)
    groups = frames.select(X, columns) if columns else groups
    rows = frames.rows_of(X, groups)
    if rows is None:
        return X, groups, None
    return frames.features(X, without=columns), frames.labels(groups), rows


def replay_many(
    calibrators: Sequence[Calibrator],
    X: ArrayLike | IntoFrame,
    curves: Curves,
    groups: Sequence[Hashable] | str | IntoFrame | None = None,
    *,
    dtype: str = "float64",
) -> list[Record]:
    """Run many calibrators over one stream: the records of `replay` for each, but faster.

    New L-ARC calibrators with the same kernel and `KeepAll` memory share every evaluation of it,
    whatever their targets, rates and regularizations. Those whose length scales differ share the
    distances, and agree with `replay` up to rounding. Others run one by one.

    Parameters
    ----------
    calibrators : sequence of Calibrator
        The calibrators, which learn as they run.
    X : array of shape (n, d), frame or series
        The inputs in chronological order, as for `replay`.
    curves : Curves
        What each round would have cost at any threshold: see `localarc.curves`.
    groups : sequence of n hashables, series, column or columns of X, or None, default None
        Labels of the rounds in the records, and what a `Mondrian` without `group_of` splits by, as
        for `replay`.
    dtype : "float64" or "float32", default "float64"
        With `"float32"`, calibrators that share evaluate a Gaussian kernel in single precision; the
        performance page shows what that changes.

    Returns
    -------
    list of Record
        One for each calibrator.

    Examples
    --------
    >>> from localarc import ARC
    >>> from localarc.curves import miscoverage
    >>> runs = replay_many([ARC(0.1), ARC(0.2)], [[0.0], [1.0]], miscoverage([0.5, 0.5]))
    >>> [run.thresholds.tolist() for run in runs]
    [[0.0, 0.9], [0.0, 0.8]]
    """
    if dtype not in ("float64", "float32"):
        raise ValueError(f'dtype must be "float64" or "float32", got {dtype!r}.')
    if not isinstance(calibrators, Iterable):
        raise TypeError(f"calibrators must be a list of them, got {calibrators!r}.")
    calibrators = list(calibrators)
    for calibrator in calibrators:
        _check(calibrator, curves)
    inputs, groups, rows = _unframed(X, groups)
    points = _given(inputs, curves)
    labels = _labels(groups, len(points))
    evidence = [examine(curves, calibrator.alpha) for calibrator in calibrators]
    alone = [calibrator for calibrator in calibrators if not isinstance(calibrator, LARC)]
    shared = [calibrator for calibrator in calibrators if isinstance(calibrator, LARC)]
    with contextlib.ExitStack() as guards:
        for calibrator in calibrators:
            if isinstance(calibrator, BaseCalibrator):
                guards.enter_context(calibrator.unchanged_on_failure())
        results = _run_all(shared, alone, points, curves, labels, dtype == "float32")
    alphas = {calibrator.alpha for calibrator in calibrators}
    references = {alpha: Reference.of_curves(curves, alpha) for alpha in alphas}
    return [
        _record(cal, *results[id(cal)], curves, labels, seen, rows, references[cal.alpha])
        for cal, seen in zip(calibrators, evidence, strict=True)
    ]


def _run_all(
    shared: list[LARC],
    alone: list[Calibrator],
    points: FloatArray,
    curves: Curves,
    labels: list[Hashable] | None,
    single: bool,
) -> dict[int, tuple[FloatArray, FloatArray]]:
    """The result of each calibrator, by its identity."""
    together = replay_many_curves(shared, points, curves, single)
    results = {id(cal): result for cal, result in zip(shared, together, strict=True)}
    for calibrator in alone:
        results[id(calibrator)] = replay_curves(calibrator, points, curves, labels, _silent)
    return results


def _record(
    calibrator: Calibrator,
    thresholds: FloatArray,
    losses: FloatArray,
    curves: Curves,
    labels: list[Hashable] | None,
    evidence: Evidence,
    rows: Rows | None,
    reference: Reference,
) -> Record:
    groups = None if labels is None else tuple(labels)
    sizes = curves.sizes_at(thresholds)
    alpha, name = calibrator.alpha, repr(calibrator)
    told = _warnings(calibrator, thresholds, losses, evidence, curves)
    ratio = reference.ratio(thresholds, sizes)
    return Record(thresholds, losses, sizes, groups, alpha, name, evidence, told, rows, ratio)


def _warnings(
    calibrator: Calibrator,
    thresholds: FloatArray,
    losses: FloatArray,
    evidence: Evidence,
    curves: Curves | None = None,
) -> tuple[str, ...]:
    """What ARC and L-ARC warned about; others are judged by their risk and thresholds."""
    if isinstance(calibrator, AdaptiveCalibrator | Mondrian):
        return calibrator.warnings
    bound = max(float(losses.max(initial=1.0)), getattr(calibrator, "loss_bound", 1.0))
    settings = getattr(calibrator, "settings", None)
    may_be_low = not getattr(settings, "two_sided", True) or bool(evidence.empty_set_passes)
    outcome = health.outcome(calibrator.alpha, bound, thresholds, losses, curves, may_be_low)
    found = health.problems(outcome)
    for problem in found:
        warnings.warn(problem.text, health.PromiseWarning, stacklevel=4)
    return tuple(problem.text for problem in found)


def _silent(done: int) -> None:
    """Report no progress."""


def _labels(groups: Any, n: int) -> list[Hashable] | None:
    if groups is None:
        return None
    labels = validation.per_round("groups", groups, n)
    return [g.item() if isinstance(g, np.generic) else g for g in labels]


def _inputs(calibrator: Calibrator, X: Any, curves: Curves) -> FloatArray:
    """The inputs, as the calibrator accepts them."""
    if not isinstance(calibrator, BaseCalibrator):
        return _given(X, curves)
    points = calibrator.points_of(X, len(curves))
    require_as_many(points, curves)
    return points


def _given(X: Any, curves: Curves) -> FloatArray:
    points = validation.points(X)
    require_as_many(points, curves)
    return points


def _check(calibrator: Calibrator, curves: Curves) -> None:
    require_calibrator(calibrator)
    require_curves(curves)
    bound = getattr(calibrator, "loss_bound", curves.bound)
    if curves.bound > bound:
        raise ValueError(
            f"the curves have losses up to {curves.bound}, the calibrator expects at most {bound}. "
            f"Construct it with loss_bound={curves.bound}."
        )


def _iterate(calibrator: Calibrator, rounds: Any, progress: Progress) -> Record:
    require_calibrator(calibrator)
    if not isinstance(calibrator, BaseCalibrator):
        return _play_rounds(calibrator, rounds, progress)
    with calibrator.unchanged_on_failure():
        return _play_rounds(calibrator, rounds, progress)


def _play_rounds(calibrator: Calibrator, rounds: Any, progress: Progress) -> Record:
    steps: list[tuple[float, float, float]] = []
    labels: list[Hashable] = []
    seen = Examined(calibrator.alpha)
    scores: list[float] = []
    for played in rounds:
        fits = isinstance(played, Sequence) and len(played) in (2, 3) and hasattr(played[1], "loss")
        if not fits:
            raise ValueError(
                f"a round must be (x, curve) or (x, curve, group), got {played!r:.80} as round "
                f"{len(steps)}. Pass curves along with X if X is an array of inputs."
            )
        group = played[2] if len(played) == 3 else None
        steps.append(play_round(calibrator, played[0], played[1], group))
        seen.add(played[1])
        if isinstance(played[1], RoundCurve):
            scores.append(played[1].min_threshold(calibrator.alpha))
        progress(1)
        labels.append(group)
    thresholds, losses, sizes = np.array(steps).reshape(-1, 3).T.copy()
    grouped = tuple(labels) if any(label is not None for label in labels) else None
    alpha, name, evidence = calibrator.alpha, repr(calibrator), seen.evidence()
    told = _warnings(calibrator, thresholds, losses, evidence)
    ratio = math.nan
    if len(scores) == len(steps):  # a user's curves may have none
        bound = getattr(calibrator, "loss_bound", 1.0)
        reference = Reference.of_scores(np.array(scores), alpha, bound)
        ratio = reference.ratio(thresholds, np.full(len(scores), np.nan))
    return Record(
        *(thresholds, losses, sizes, grouped, alpha, name, evidence, told), size_ratio=ratio
    )
