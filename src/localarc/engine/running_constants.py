"""The constant c of many streams: one row each, with the arithmetic of `RunningConstant`.

A row of `table` holds the fields of `calibrators.running_constant.RunningConstant`, in the order
below. Rounds are counted in float64, exact up to 2**53. An event changes one row, and events of one
row are applied in order.
"""

from typing import Any

from localarc.engine.numba_tools import strict_jit
from localarc.engine.step import loss_at

ROUNDS, CONSTANT, LOWEST, HIGHEST, WEIGHTED, INVERSE_RATE, LOSS_SUM, CONSTANT_SUM = range(8)
FIELDS = 8


@strict_jit
def step(row: Any, rate: float, loss: float, alpha: float) -> None:
    """One round: c <- c + rate * (loss - alpha), and the sums over its past."""
    constant = row[CONSTANT]
    inverse_rate = 1.0 / rate
    row[ROUNDS] += 1.0
    row[WEIGHTED] += (inverse_rate - row[INVERSE_RATE]) * constant
    row[INVERSE_RATE] = inverse_rate
    row[LOSS_SUM] += loss
    row[CONSTANT_SUM] += constant
    constant += rate * (loss - alpha)
    row[CONSTANT] = constant
    if constant > row[HIGHEST]:
        row[HIGHEST] = constant
    elif constant < row[LOWEST]:
        row[LOWEST] = constant


@strict_jit
def count_rounds(table: Any, rows: Any, rounds: Any) -> None:
    """rounds[i] = the number of event i within its stream; the table ends up unchanged."""
    for i in range(len(rows)):
        table[rows[i], ROUNDS] += 1.0
        rounds[i] = table[rows[i], ROUNDS]
    for i in range(len(rows)):
        table[rows[i], ROUNDS] -= 1.0


@strict_jit
def learn(table: Any, rows: Any, rates: Any, losses: Any, alpha: float) -> None:
    """Apply events whose losses are known."""
    for i in range(len(rows)):
        step(table[rows[i]], rates[i], losses[i], alpha)


@strict_jit
def play(
    table: Any, rows: Any, rates: Any, alpha: float, curves: Any, thresholds: Any, incurred: Any
) -> None:
    """Apply events whose loss follows from the current threshold c of their row."""
    breakpoints, losses, offsets = curves
    for i in range(len(rows)):
        row = table[rows[i]]
        thresholds[i] = row[CONSTANT]
        incurred[i] = loss_at(breakpoints, losses, offsets[i], offsets[i + 1], thresholds[i])
        step(row, rates[i], incurred[i], alpha)
