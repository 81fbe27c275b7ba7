"""The base threshold: m(x) + D(x) (C + sum of offsets), which follows the scores around x.

m(x) and D(x) are the mean and the spread of recent scores, from coarse hats to fine ones. C and the
offsets of nodes learn what the losses still find wrong. A base that the caller gives replaces all
of that; m and D then describe the scores minus that base.

Unless an initial threshold is stated, the base is infinite until scores are known, and while the
first 15 are too few for a conformal quantile. A round with such a base is uninformed: it has no
nodes, so no bettor learns from its loss; its score counts like any other. If a loss without a
score arrives before any score, no scores are expected, and the base starts at 0.
"""

import math
from typing import Any

import numpy as np

from localarc.constants import (
    COARSER,
    DEVIATIONS_PER_UNIT,
    HURRY,
    LARGEST_DEVIATION,
    LEVELS,
    LONGER_MEMORY,
    LOOK_BACK,
    MEMORY,
    ONE_SIDED,
    OUTDATED,
    RANGE_PART,
    SMALLEST_PART,
    TINY_UNIT,
    VISITS_COUNTED,
    WARM,
)
from localarc.engine.auto.feature_spread import sort_into
from localarc.engine.auto.layout import (
    ALPHA,
    AWAY,
    BOUND,
    CEILING,
    CLOCK,
    DEVIATION,
    FIRST,
    FLOOR,
    HIGHEST,
    LEAN,
    LOWEST,
    MEAN,
    OFFSET,
    OWN_BASE,
    PENDING,
    PENDING_BEFORE,
    RATE,
    SCORE_CLOCK,
    SCORE_DEVIATION,
    SCORE_MEAN,
    SCORE_WEIGHT,
    SCORES,
    SCORES_KNOWN,
    SEEN,
    START,
    UNIT,
    VISITS,
    Round,
    State,
    dimensions_of,
    factors_of,
    faded_of,
    hats_of_level,
    jit,
)


@jit
def memory(state: State) -> float:
    """Rounds over which scores are remembered; only other rounds count as pending."""
    return MEMORY + LONGER_MEMORY * state.numbers[PENDING]  # type: ignore[no-any-return]


@jit
def local_scores(state: State, slots: Any, weights: Any) -> Any:
    """m(x) and D(x); leaves the faded weights of the nodes' scores in `faded`."""
    numbers, nodes, faded = state.numbers, state.nodes, faded_of(state)
    d = dimensions_of(state)
    mean, deviation = numbers[MEAN], numbers[DEVIATION]
    clock, columns, span = numbers[CLOCK], hats_of_level(d), memory(state)
    for level in range(LEVELS if d > 0 else 0):
        total = means = deviations = 0.0
        for i in range(1 + level * columns, 2 + level * columns + d):
            s = slots[i]
            if s >= 0:
                age = (nodes[s, SCORE_CLOCK] - clock) / span
                faded[i] = nodes[s, SCORE_WEIGHT] * math.exp(age)
                total += weights[i] * faded[i]
                means += weights[i] * faded[i] * nodes[s, SCORE_MEAN]
                deviations += weights[i] * faded[i] * nodes[s, SCORE_DEVIATION]
        if total > 0.0:
            mean += (means - total * mean) / (total + COARSER)
            deviation += (deviations - total * deviation) / (total + COARSER)
    return mean, max(DEVIATIONS_PER_UNIT * deviation, SMALLEST_PART * numbers[UNIT])


@jit
def offset(state: State, slots: Any, weights: Any) -> float:
    """C + the weighted offsets of the nodes."""
    nodes, total = state.nodes, 0.0
    for i in range(len(slots)):
        if slots[i] >= 0:
            total += weights[i] * nodes[slots[i], OFFSET]
    return total


@jit
def base_threshold(state: State, mean: float, unit: float, offsets: float) -> Any:
    """The base before and after it is clipped to the scores seen and to the limits."""
    numbers = state.numbers
    free = base = mean + unit * offsets
    if numbers[SCORES] > 0.0:
        if numbers[SCORES] < WARM:
            share = numbers[ALPHA] / numbers[BOUND]  # of rounds that may cost the most
            free = first_quantile(numbers[FIRST : FIRST + int(numbers[SCORES])], share)
        base = min(max(free, numbers[LOWEST]), numbers[HIGHEST])
    return free, min(max(base, numbers[FLOOR]), numbers[CEILING])


@jit
def first_quantile(scores: Any, share: float) -> float:
    """The conformal quantile of the first few scores, which this share of rounds may exceed."""
    values = np.empty(len(scores))
    count = sort_into(values, scores)
    rank = min(math.ceil((1.0 - share) * (count + 1)), count)
    return values[rank - 1]  # type: ignore[no-any-return]


@jit
def anchor(state: State, mean: float, unit: float, free: float) -> None:
    """C continues from the quantile of the first scores."""
    if 0.0 < state.numbers[SCORES] < WARM and math.isfinite(free):
        state.nodes[len(state.keys), OFFSET] = (free - mean) / unit


@jit
def learn(
    state: State, played: Round, mean: float, unit: float, free: float, base: float, excess: float
) -> None:
    """C and the offsets follow the loss, unless the base is clipped and would leave further."""
    numbers = state.numbers
    step = numbers[RATE] * excess
    bottomless = numbers[SCORES] == 0.0 and numbers[FLOOR] == -np.inf
    if (free > base and excess > 0.0) or (excess < 0.0 and (free < base or bottomless)):
        step = 0.0
    nodes, factors = state.nodes, factors_of(state)
    slots, weights, late = played.slots, played.weights, played.late
    is_late = played.ticket[PENDING_BEFORE] > 0.0
    for i in range(len(slots)):
        s = slots[i]
        if s >= 0:
            pending = 1.0 + late[i, SEEN] if is_late else 1.0
            visits = (1.0 if i else 0.0) + min(nodes[s, VISITS], VISITS_COUNTED * pending)
            push = step * factors[i] * weights[i] / math.sqrt(visits)
            nodes[s, OFFSET] += push / pending if is_late else push


@jit
def is_outdated(state: State, played: Round) -> bool:
    """Whether a threshold went out when much less was known than is today."""
    seen = state.numbers[SCORES]
    return seen >= WARM and played.ticket[SCORES_KNOWN] < max(float(WARM), OUTDATED * seen)  # type: ignore[no-any-return]


@jit
def catch_up(
    state: State, mean: float, unit: float, free: float, score: float, informed: bool
) -> None:
    """C follows a score of the start at today's threshold: as played, it says nothing of today."""
    numbers, constant = state.numbers, len(state.keys)
    if not math.isfinite(score):
        return
    now = free if informed else mean + unit * state.nodes[constant, OFFSET]
    excess = (numbers[BOUND] if score > now else 0.0) - numbers[ALPHA]
    state.nodes[constant, OFFSET] += numbers[RATE] * excess / math.sqrt(numbers[SCORES])


@jit
def follow(state: State, slots: Any, weights: Any, mean: float, score: float) -> None:
    """The joint hats remember a score, and its distance from m(x) as it was before."""
    nodes, faded, clock = state.nodes, faded_of(state), state.numbers[CLOCK]
    d = dimensions_of(state)
    columns = hats_of_level(d)
    for level in range(LEVELS if d > 0 else 0):
        for i in range(1 + level * columns, 2 + level * columns + d):
            s = slots[i]
            if s >= 0:
                weight = faded[i] + weights[i]
                nodes[s, SCORE_WEIGHT], nodes[s, SCORE_CLOCK] = weight, clock
                share = weights[i] / weight
                nodes[s, SCORE_MEAN] += share * (score - nodes[s, SCORE_MEAN])
                away = abs(score - mean) - nodes[s, SCORE_DEVIATION]
                nodes[s, SCORE_DEVIATION] += share * away


@jit
def pace(state: State, score: float, mean: float, unit: float) -> float:
    """How far the clock moves: faster while the last scores lie on one side of m(x)."""
    numbers = state.numbers
    if not math.isfinite(score) or numbers[SCORES] < WARM:
        return 1.0
    distance = min(max((score - mean) / unit, -LARGEST_DEVIATION), LARGEST_DEVIATION)
    share = LOOK_BACK / (1.0 + numbers[PENDING])
    numbers[LEAN] += share * (distance - numbers[LEAN])
    numbers[AWAY] += share * (abs(distance) - numbers[AWAY])
    return HURRY if abs(numbers[LEAN]) > ONE_SIDED * numbers[AWAY] else 1.0


@jit
def note_score(state: State, score: float, target: float, mean: float, unit: float) -> None:
    """Range of the scores; overall mean, deviation and unit of the targets; the clock."""
    numbers = state.numbers
    steps = pace(state, target, mean, unit)
    numbers[CLOCK] += steps
    if not math.isfinite(target):
        if math.isnan(score) and numbers[MEAN] == np.inf:
            numbers[MEAN] = 0.0  # no scores are to be expected
        return
    seen = numbers[SCORES]
    if seen == 0.0:
        numbers[MEAN], numbers[LOWEST], numbers[HIGHEST] = target, score, score
    if seen < WARM:
        numbers[FIRST + int(seen)] = score
    share = max(1.0 / (seen + 1.0), steps / memory(state))
    numbers[DEVIATION] += share * (abs(target - numbers[MEAN]) - numbers[DEVIATION])
    numbers[MEAN] += share * (target - numbers[MEAN])
    numbers[LOWEST] = min(numbers[LOWEST], score)
    numbers[HIGHEST] = max(numbers[HIGHEST], score)
    numbers[SCORES] += 1.0
    spread, span = DEVIATIONS_PER_UNIT * numbers[DEVIATION], numbers[HIGHEST] - numbers[LOWEST]
    spread = max(spread, span / RANGE_PART)
    if spread < TINY_UNIT:
        spread = abs(score) if abs(score) > TINY_UNIT else 1.0
    numbers[UNIT] = spread


def too_little_known(numbers: Any) -> bool:
    """Whether there is no score for a base of our own, or too few for a conformal quantile."""
    seen = numbers[SCORES]
    if numbers[START] < np.inf or not 0.0 < seen < WARM:
        return bool(numbers[MEAN] == np.inf)
    return math.ceil((1.0 - numbers[ALPHA] / numbers[BOUND]) * (seen + 1.0)) > seen  # type: ignore[no-any-return]


little_known = jit(too_little_known)


@jit
def is_uninformed(state: State, given: float) -> bool:
    """Whether too little is known for a base."""
    return little_known(state.numbers) if owns_base(state) else given == np.inf


@jit
def owns_base(state: State) -> bool:
    """Whether the base is our own."""
    return state.numbers[OWN_BASE] != 0.0  # type: ignore[no-any-return]
