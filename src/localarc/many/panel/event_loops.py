"""The events of ARC streams one by one in Python, where numba is not installed.

The same arithmetic as `engine.running_constants` and `engine.keyed.late`, in the same order.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

import numpy as np

from localarc.adaptive.running_constant import RunningConstant
from localarc.many.panel.late import AFTER, ASK, LEARN, Answers, LateEvents
from localarc.validation import FloatArray, IntArray

Limits = tuple[float, float, float, float]


def count_rounds(table: FloatArray, rows: IntArray, rounds: IntArray) -> None:
    """rounds[i] = the number of event i within its stream."""
    counts: dict[int, int] = {}
    before = table[:, RunningConstant.FIELDS.index("rounds")]
    for i, row in enumerate(rows.tolist()):
        counts[row] = rounds[i] = counts.get(row, int(before[row])) + 1


def learn(
    table: FloatArray,
    rows: IntArray,
    rates: FloatArray,
    losses: FloatArray,
    local: FloatArray,
    limits: Limits,
) -> None:
    """Apply events whose losses are known; `local` is what f added to c."""
    events = zip(rows.tolist(), rates.tolist(), losses.tolist(), local.tolist(), strict=True)
    with _unpacked(table, rows) as streams:
        for row, rate, loss, extra in events:
            _step(streams[row], streams[row].constant + extra, rate, loss, limits)


def serve(
    table: FloatArray,
    rows: IntArray,
    rates: FloatArray,
    limits: Limits,
    events: LateEvents,
    answers: Answers,
) -> None:
    """Thresholds that go out and losses that come in, in order."""
    pending = len(answers.thresholds) - len(rows)
    with _unpacked(table, rows) as streams:
        for i, row in enumerate(rows.tolist()):
            stream, act = streams[row], int(events.acts[i])
            if act & ASK:
                answers.thresholds[pending + i] = stream.constant
            if act & LEARN:
                given = float(answers.thresholds[events.asked[i]])
                answers.losses[i] = loss = events.loss_at(i, given)
                _step(stream, given, float(rates[i]), loss, limits)
            if act & AFTER:
                answers.after[i] = stream.constant


def _step(
    stream: RunningConstant, threshold: float, rate: float, loss: float, limits: Limits
) -> None:
    alpha, floor, low, high = limits
    stream.step(rate, loss, rate * (loss - alpha), floor, (threshold, alpha, low, high))


@contextlib.contextmanager
def _unpacked(table: FloatArray, rows: IntArray) -> Iterator[dict[int, RunningConstant]]:
    """The streams of these rows, which are written back at the end unless an error occurs."""
    names = RunningConstant.FIELDS
    streams = {
        row: RunningConstant.restored(dict(zip(names, table[row].tolist(), strict=True)))
        for row in np.unique(rows).tolist()
    }
    yield streams
    for row, stream in streams.items():
        table[row] = [getattr(stream, name) for name in names]
