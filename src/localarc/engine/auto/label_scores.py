"""The base of label sets: per label, a quantile of its recent scores and a learned offset.

Row 0 of the tables is about all labels together, and stands for a label that was never true.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from localarc.constants import DEVIATIONS_PER_UNIT, RANGE_PART, VISITS_COUNTED, WARM
from localarc.engine.auto.layout import jit

COUNT, OLDEST, QUANTILE, SMALLEST, LARGEST, DEVIATIONS, OFFSET, ROUNDS, FACTS = range(9)
KEPT = 500  # scores of a label
LATEST = 50  # scores that are compared with all that are kept
SURPRISE = 3.0  # standard deviations between their shares make the older ones out of date


class LabelTables(NamedTuple):
    """What is known about labels, and the settings that its loops need."""

    arrived: Any  # (rows, KEPT): scores in order of arrival, from OLDEST on, around the end
    ordered: Any  # (rows, KEPT): the same in order of size
    facts: Any  # (rows, FACTS)
    alpha: float
    initial_threshold: float
    rate: float


@jit
def insert(ordered: Any, count: int, score: float) -> None:
    """Enter a score among `count` sorted ones."""
    place = np.searchsorted(ordered[:count], score)
    for i in range(count, place, -1):
        ordered[i] = ordered[i - 1]
    ordered[place] = score


@jit
def remove(ordered: Any, count: int, score: float) -> None:
    """Take one of `count` sorted scores out."""
    for i in range(np.searchsorted(ordered[:count], score), count - 1):
        ordered[i] = ordered[i + 1]


@jit
def spread_of(ordered: Any) -> float:
    """The unit of these scores, from their mean absolute deviation."""
    total = 0.0
    for score in ordered:
        total += score
    mean, away = total / len(ordered), 0.0
    for score in ordered:
        away += abs(score - mean)
    return DEVIATIONS_PER_UNIT * away / len(ordered)


@jit
def describe(facts: Any, ordered: Any, alpha: float) -> None:
    """Note range, spread and quantile of sorted scores; too few have an infinite quantile."""
    count = len(ordered)
    rank = math.ceil((1.0 - alpha) * (count + 1) - 1e-9)
    facts[COUNT] = count
    facts[SMALLEST], facts[LARGEST] = ordered[0], ordered[count - 1]
    facts[DEVIATIONS] = spread_of(ordered)
    facts[QUANTILE] = ordered[rank - 1] if rank <= count else np.inf


@jit
def has_changed(arrived: Any, ordered: Any, count: int, oldest: int, alpha: float) -> bool:
    """Whether the latest scores lie elsewhere than all: about the median, or above the quantile."""
    if count < 2 * LATEST:
        return False
    median, top = ordered[count // 2], ordered[int((1.0 - alpha) * count)]
    over_median, over_top = 0, 0
    for i in range(count - LATEST, count):
        score = arrived[(oldest + i) % KEPT]
        over_median += score > median
        over_top += score > top
    sideways = abs(over_median - 0.5 * LATEST) > SURPRISE * math.sqrt(0.25 * LATEST)
    tail = SURPRISE * math.sqrt(alpha * (1.0 - alpha) * LATEST)
    return sideways or over_top - alpha * LATEST > tail


@jit
def remember(tables: LabelTables, row: int, score: float) -> None:
    """Enter a finite score. If the latest no longer resemble the others, those are forgotten."""
    arrived, ordered, facts = tables.arrived[row], tables.ordered[row], tables.facts[row]
    count, oldest = int(facts[COUNT]), int(facts[OLDEST])
    if count == KEPT:
        remove(ordered, count, arrived[oldest])
        count, oldest = count - 1, (oldest + 1) % KEPT
    arrived[(oldest + count) % KEPT] = score
    insert(ordered, count, score)
    count += 1
    if has_changed(arrived, ordered, count, oldest, tables.alpha):
        oldest, count = (oldest + count - LATEST) % KEPT, LATEST
        for i in range(count):
            insert(ordered, i, arrived[(oldest + i) % KEPT])
        facts[OFFSET] = 0.0  # it made up for scores that are now forgotten
    facts[OLDEST] = oldest
    describe(facts, ordered[:count], tables.alpha)


@jit
def range_of(facts: Any, row: int) -> Any:
    """The smallest and largest recent score, of all labels and of the label itself.

    A rare label's own scores may all be older than the recent scores of all labels.
    """
    every, own = facts[0], facts[row]
    return min(every[SMALLEST], own[SMALLEST]), max(every[LARGEST], own[LARGEST])


@jit
def unit_of(tables: LabelTables, row: int) -> float:
    """The label's spread, or while it has few scores the spread of all labels; positive."""
    every, own = tables.facts[0], tables.facts[row]
    size = abs(tables.initial_threshold) if tables.initial_threshold < np.inf else 0.0
    if every[COUNT] > 0:
        size = max(abs(every[SMALLEST]), abs(every[LARGEST]))
    unit = 0.0
    if every[COUNT] >= WARM:
        spread = every[DEVIATIONS] if own[COUNT] < WARM else own[DEVIATIONS]
        unit = max(spread, (every[LARGEST] - every[SMALLEST]) / RANGE_PART)
    if unit == 0.0:
        unit = size
    return unit if unit > 0.0 else 1.0


@jit
def base_of(tables: LabelTables, row: int) -> Any:
    """The label's quantile and offset, before and after they are clipped to the scores seen."""
    every, start = tables.facts[0], tables.initial_threshold
    if every[COUNT] == 0 or start == every[QUANTILE] == np.inf:
        return start, start
    own, (smallest, largest) = tables.facts[row], range_of(tables.facts, row)
    free = largest  # nothing is known that could exclude it
    if row > 0 and own[QUANTILE] < np.inf:
        free = own[QUANTILE] + unit_of(tables, row) * own[OFFSET]
    return free, min(max(free, smallest), largest)


@jit
def step_of(tables: LabelTables, row: int, excess: float, late: float) -> float:
    """As in AutoLARC; nothing before there is a quantile, or beyond the scores seen."""
    free, base = base_of(tables, row)
    own = tables.facts[row]
    if own[QUANTILE] == np.inf or (free - base) * excess > 0.0:
        return 0.0
    visits = 1.0 + min(own[ROUNDS], VISITS_COUNTED * late)
    return tables.rate * excess / math.sqrt(visits) / late


@jit
def learn_label(tables: LabelTables, row: int, score: float, loss: float, pending: float) -> None:
    """The score of a true label and the loss of its threshold; other rounds may be pending."""
    every, own = tables.facts[0], tables.facts[row]
    expected = pending * own[ROUNDS] / max(every[ROUNDS], 1.0)  # of the others, with this label
    own[OFFSET] += step_of(tables, row, loss - tables.alpha, 1.0 + expected)
    own[ROUNDS] += 1.0
    every[ROUNDS] += 1.0
    if math.isfinite(score):
        remember(tables, row, score)
        remember(tables, 0, score)
