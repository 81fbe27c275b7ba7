"""Events of many streams whose losses may come later than their thresholds, in one pass.

An event's `act` is a sum of ASK, LEARN and AFTER. A loop over events shares these arguments:

    rows        (n,): the stream of each event
    acts        (n,): what happens at each event
    asked       (n,): where it learns, the place of its ask in `thresholds` and `points`
    rates       (n,): the step size where it learns
    curves      the loss of each event as a function of the threshold that was asked for
    thresholds  (p + n,): of p asks from before, then of each event that asks
    points      (p + n, d): the inputs of these
    incurred    (n,): the loss of each event that learns
    after       (n,): the threshold for the event's own input once it has learned
"""

from typing import Any

from localarc.engine.numba_tools import strict_jit
from localarc.engine.running_constants import CONSTANT, step, watch
from localarc.engine.step import loss_at

ASK = 1  # a threshold goes out
LEARN = 2  # a loss comes in, for an ask of this event or of an earlier one
AFTER = 4  # the next threshold for the same input is computed


@strict_jit
def serve(
    table: Any, rows: Any, acts: Any, asked: Any, rates: Any, limits: Any, curves: Any, results: Any
) -> None:
    """Streams without a local part; `table` and `limits` are those of `running_constants`."""
    breakpoints, losses, offsets = curves
    thresholds, incurred, after = results
    pending = len(thresholds) - len(rows)
    for i in range(len(rows)):
        row = table[rows[i]]
        if acts[i] & ASK:
            thresholds[pending + i] = row[CONSTANT]
        if acts[i] & LEARN:
            given = thresholds[asked[i]]
            incurred[i] = loss_at(breakpoints, losses, offsets[i], offsets[i + 1], given)
            step(row, rates[i], incurred[i], limits[0], limits[1])
            watch(row, given, incurred[i], limits)
        if acts[i] & AFTER:
            after[i] = row[CONSTANT]
