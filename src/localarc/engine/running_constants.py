"""Many traces of the constant c at once: row by row the arithmetic of `control.trace.Trace`.

A row of `traces` holds the fields of one trace, in the order below. Rounds are counted in float64,
exact up to 2**53. An event touches one row, and events of one row are applied in order.
"""

from typing import Any

from localarc.engine.numba_tools import literal
from localarc.engine.rounds import loss_at

ROUNDS, CONSTANT, LOWEST, HIGHEST, WEIGHTED, INVERSE_RATE, LOSS_SUM, CONSTANT_SUM = range(8)
FIELDS = 8


@literal
def step(trace: Any, rate: float, loss: float, alpha: float) -> None:
    """One round: c <- c + rate * (loss - alpha), and the sums over its past."""
    constant = trace[CONSTANT]
    inverse_rate = 1.0 / rate
    trace[ROUNDS] += 1.0
    trace[WEIGHTED] += (inverse_rate - trace[INVERSE_RATE]) * constant
    trace[INVERSE_RATE] = inverse_rate
    trace[LOSS_SUM] += loss
    trace[CONSTANT_SUM] += constant
    constant += rate * (loss - alpha)
    trace[CONSTANT] = constant
    if constant > trace[HIGHEST]:
        trace[HIGHEST] = constant
    elif constant < trace[LOWEST]:
        trace[LOWEST] = constant


@literal
def ahead(traces: Any, rows: Any, rounds: Any) -> None:
    """rounds[i] is the round that event i will be in its row; the traces stay as they were."""
    for i in range(len(rows)):
        traces[rows[i], ROUNDS] += 1.0
        rounds[i] = traces[rows[i], ROUNDS]
    for i in range(len(rows)):
        traces[rows[i], ROUNDS] -= 1.0


@literal
def learn(traces: Any, rows: Any, rates: Any, losses: Any, alpha: float) -> None:
    """Events whose losses are known."""
    for i in range(len(rows)):
        step(traces[rows[i]], rates[i], losses[i], alpha)


@literal
def play(
    traces: Any, rows: Any, rates: Any, alpha: float, curves: Any, thresholds: Any, incurred: Any
) -> None:
    """Events whose loss follows from the threshold c of their row at that moment."""
    breakpoints, losses, offsets = curves
    for i in range(len(rows)):
        trace = traces[rows[i]]
        thresholds[i] = trace[CONSTANT]
        incurred[i] = loss_at(breakpoints, losses, offsets[i], offsets[i + 1], thresholds[i])
        step(trace, rates[i], incurred[i], alpha)
