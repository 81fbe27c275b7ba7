"""Replay where the loss of a round is known only some rounds later."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from localarc.calibrators.role import Calibrator
from localarc.curves import Curves
from localarc.curves.evidence import examine
from localarc.running.record import Record
from localarc.streams import Stream
from localarc.validation import FloatArray, IntArray


def late_replay(calibrator: Calibrator, X: FloatArray, stream: Stream, delays: IntArray) -> Record:
    """Run a calibrator that learns the loss of round t after round `t + delays[t]`.

    Calibrators with tickets are told of each loss by its ticket; others are updated late. Losses
    that are still pending at the end are never learned.
    """
    thresholds, losses = np.empty((2, len(stream)))
    arrivals: dict[int, list[int]] = {}
    for t, delay in enumerate(delays.tolist()):
        arrivals.setdefault(t + delay, []).append(t)
    tickets: dict[int, Any] = {}
    for t, x in enumerate(X):
        thresholds[t] = _ask(calibrator, x, stream, t, tickets)
        losses[t] = stream.curves.loss_at(t, thresholds[t])
        for known in arrivals.pop(t, ()):
            _tell(calibrator, X[known], stream, known, losses[known], tickets)
    sizes = stream.curves.sizes_at(thresholds)
    evidence = examine(stream.curves, calibrator.alpha)
    groups, alpha, name = stream.groups, calibrator.alpha, repr(calibrator)
    return Record(thresholds, losses, sizes, groups, alpha, name, evidence)


def _ask(calibrator: Any, x: FloatArray, stream: Stream, t: int, tickets: dict[int, Any]) -> float:
    where = _groups(calibrator, stream, t)
    if hasattr(calibrator, "ask"):
        tickets[t] = calibrator.ask(x, **where)
        threshold = float(tickets[t].threshold)
    else:
        threshold = float(calibrator.threshold(x, **where))
    if math.isnan(threshold) or threshold == -math.inf:
        raise ValueError(
            f"threshold must return a number, or infinity for the full set, got {threshold} in "
            f"round {t}."
        )
    return threshold


def _tell(
    calibrator: Any, x: FloatArray, stream: Stream, t: int, loss: float, tickets: dict[int, Any]
) -> None:
    more: dict[str, Any] = {}
    wanted = getattr(calibrator, "learns_from", ())
    if "score" in wanted:
        more["score"] = stream.curves[t].min_threshold(calibrator.alpha)
    if t in tickets:
        calibrator.tell(tickets.pop(t), loss, **more)
        return
    if "curve" in wanted:
        more["curve"] = stream.curves[t]
    calibrator.update(x, loss, **_groups(calibrator, stream, t), **more)


def _groups(calibrator: Any, stream: Stream, t: int) -> dict[str, Any]:
    wants = "groups" in getattr(calibrator, "learns_from", ())
    return {"groups": stream.groups[t]} if wants and stream.groups is not None else {}


def check_delays(delay: Any, curves: Curves) -> IntArray:
    """Return the delay of each round: one number for all, or one for each."""
    array = np.asarray(delay)
    whole = array.dtype.kind in "iuf" and bool((array == np.floor(array)).all())
    if not whole or array.shape not in ((), (len(curves),)) or (array < 0).any():
        raise ValueError(
            f"delay must be a whole number of rounds, or one for each of {len(curves)} rounds, "
            f"none negative, got {delay!r:.60}. It is 0 if losses are known at once."
        )
    return np.broadcast_to(array.astype(np.int64), (len(curves),))
