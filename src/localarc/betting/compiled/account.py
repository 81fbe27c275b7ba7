"""What the bets were granted, A of theorem E, and whether limits keep their word."""

import math
from typing import Any

import numpy as np

from localarc.engine.auto.layout import (
    BASE,
    CEILING,
    CEILING_FAILS,
    CEILING_SINCE,
    COSTLIEST,
    DOWN_SHARE,
    FLOOR,
    FLOOR_FAILS,
    FLOOR_SINCE,
    GRANTED,
    HIGHEST,
    ITS_FLOOR,
    ITS_UNIT,
    LOST_DOWN,
    LOST_UP,
    PAID,
    ROUNDS,
    SMALLEST_UNIT,
    THRESHOLD,
    TWO_SIDED,
    UP_BASE,
    UP_INVERSE,
    UP_SHARE,
    jit,
)


@jit
def account(numbers: Any, ticket: Any, z: float) -> None:
    """Add a round to the sums, given its ticket and z = (L - alpha) / top."""
    base, unit, threshold = ticket[BASE], ticket[ITS_UNIT], ticket[THRESHOLD]
    numbers[PAID] += z * (threshold - base) / unit
    numbers[SMALLEST_UNIT] = min(numbers[SMALLEST_UNIT], unit)
    if z > 0.0:
        numbers[COSTLIEST] = max(numbers[COSTLIEST], threshold)
        numbers[LOST_UP] += (1.0 - ticket[UP_SHARE]) * z
        if numbers[CEILING] < np.inf:
            numbers[GRANTED] += z * (numbers[CEILING] - base) / unit
        else:
            numbers[UP_INVERSE] += z / unit
            numbers[UP_BASE] += z * base / unit
        if threshold >= numbers[CEILING]:
            count_failure(numbers, CEILING_FAILS, CEILING_SINCE)
    elif z < 0.0:
        numbers[LOST_DOWN] -= (1.0 - ticket[DOWN_SHARE]) * z
        if numbers[TWO_SIDED] and ticket[ITS_FLOOR] > -np.inf:
            numbers[GRANTED] -= z * (base - ticket[ITS_FLOOR]) / unit
        if threshold <= numbers[FLOOR]:
            count_failure(numbers, FLOOR_FAILS, FLOOR_SINCE)


@jit
def count_failure(numbers: Any, count: int, since: int) -> None:
    """A limit did not cost what it should; remember since which round."""
    if numbers[count] == 0.0:
        numbers[since] = numbers[ROUNDS] + 1.0
    numbers[count] += 1.0


def fix_ceiling(numbers: Any) -> None:
    """Scores will lie elsewhere: what rests on the largest so far says nothing about others."""
    if numbers[UP_INVERSE] != 0.0:  # no ceiling is stated: the largest score stands for it
        numbers[GRANTED] += numbers[HIGHEST] * numbers[UP_INVERSE] - numbers[UP_BASE]
        numbers[UP_INVERSE] = numbers[UP_BASE] = 0.0
    failed = numbers[COSTLIEST] >= numbers[HIGHEST]
    numbers[COSTLIEST] = math.inf if failed else -math.inf
    numbers[SMALLEST_UNIT] = math.inf
