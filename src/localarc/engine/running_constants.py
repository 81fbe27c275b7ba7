"""The constant c of many streams: one row each, with the arithmetic of `RunningConstant`.

A row of `table` holds the fields of `calibrators.running_constant.RunningConstant`, in the order
below. Rounds are counted in float64, exact up to 2**53. An event changes one row, and events of one
row are applied in order.
"""

from typing import Any

from localarc.engine.numba_tools import strict_jit

ROUNDS, CONSTANT, LOWEST, HIGHEST, WEIGHTED, INVERSE_RATE, LOSS_SUM, CONSTANT_SUM = range(8)
START, EARLIER, LIFTED, RATE_RISE, FULL_FAILS, FULL_SINCE, EMPTY_PASSES, EMPTY_SINCE = range(8, 16)
FIELDS = 16


@strict_jit
def step(row: Any, rate: float, loss: float, alpha: float, floor: float) -> None:
    """One round: c <- max(c + rate * (loss - alpha), floor), and the sums over its past."""
    constant = row[CONSTANT]
    inverse_rate = 1.0 / rate
    row[ROUNDS] += 1.0
    if inverse_rate < row[INVERSE_RATE] and row[RATE_RISE] == 0.0:
        row[RATE_RISE] = row[ROUNDS]
    row[WEIGHTED] += (inverse_rate - row[INVERSE_RATE]) * constant
    row[INVERSE_RATE] = inverse_rate
    row[LOSS_SUM] += loss
    row[CONSTANT_SUM] += constant
    constant += rate * (loss - alpha)
    if constant < floor:
        row[LIFTED] += (floor - constant) * inverse_rate
        constant = floor
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
def watch(row: Any, threshold: float, loss: float, rules: Any) -> None:
    """Count the round just learned if it shows (A2) or (A3) to be false; see the Python class."""
    alpha, _, low, high = rules
    if loss > alpha and threshold >= high:
        row[FULL_FAILS] += 1.0
        if row[FULL_SINCE] == 0.0:
            row[FULL_SINCE] = row[ROUNDS]
    elif loss < alpha and threshold < low:
        row[EMPTY_PASSES] += 1.0
        if row[EMPTY_SINCE] == 0.0:
            row[EMPTY_SINCE] = row[ROUNDS]


@strict_jit
def learn(table: Any, rows: Any, rates: Any, losses: Any, local: Any, rules: Any) -> None:
    """Apply events whose losses are known; `local` is what f added to c, NaN where unknown.

    `rules` are alpha, the floor of c, and the lowest and highest score.
    """
    for i in range(len(rows)):
        row = table[rows[i]]
        threshold = row[CONSTANT] + local[i]
        step(row, rates[i], losses[i], rules[0], rules[1])
        watch(row, threshold, losses[i], rules)
