"""The numbers that the base learns with and that bettors play with: each is named once, here.

The compiled engine, bands, gates and certificates import these. The oracles of the tests have a
list of their own, `tests/oracle_constants.py`; `tests/test_constants.py` compares the two. Compiled
loops contain the values, so the key of their disk cache covers this file.
"""

import math

# ---- the base: a mean m(x), a unit D(x), and offsets of nodes ------------------------------------
WARM = 16  # scores before the base learns, or a spread counts; inputs before the first grid
MEMORY = 500.0  # rounds over which the mean and the deviation of scores forget
LONGER_MEMORY = 10.0  # rounds in addition, for each pending loss
COARSER = 8.0  # weight of the coarser level (in bands: of the series), in visits
DEVIATIONS_PER_UNIT = 1.5  # D: the unit is this many mean absolute deviations
SMALLEST_PART = 1.0 / 16.0  # of the overall unit (in bands: of the series'): D(x) is never below
RANGE_PART = 1024.0  # the unit is at least the range of scores over this
TINY_UNIT = 1e-290  # too small for arithmetic
OFFSET_RATE = 0.6  # the step of offsets, in units of D(x), over sqrt(alpha (B - alpha))
LEVEL_SLOPE = 0.25  # level j learns 2^(-j/4) times as fast as the constant
GROUP_FACTOR = 0.5  # a group learns half as fast as the constant
VISITS_COUNTED = 400.0  # by the step of an offset
OUTDATED = 2.0 / 3.0  # of today's scores: a threshold that knew fewer teaches nothing as played

# ---- the clock: faster while scores lie on one side of m(x) --------------------------------------
HURRY = 30.0  # the pace of the clock while they do
ONE_SIDED = 0.95  # the share of recent deviations on one side from which on it hurries
LOOK_BACK = 0.02  # the share of the latest deviation: the last 50 count as recent
LARGEST_DEVIATION = 2.0  # units; a deviation counts as at most this many

# ---- the grids -----------------------------------------------------------------------------------
LEVELS = 6  # grids: a cell is 1, 1/2, ..., 1/32 of a feature's spread wide
INPUTS_KEPT = 128  # in the reservoir that measures the spread of features
HYSTERESIS = 0.75  # octaves by which a spread must differ before the grid follows
ENOUGH_VISITS = 8.0  # of the nearest joint hat, before finer ones are made
FARTHEST_CELL = 1e15  # from the origin; beyond, inputs share a cell
GRID_SHIFT = 0.46653  # cells by which the grids of two levels or features are shifted

# ---- the bettors of theorem E --------------------------------------------------------------------
BETS = 16  # K: the bets of a side are 2^-1, ..., 2^-K
STAKE_ALL = 0.05  # p of the node of all rounds
STAKE = 0.02  # p of every other node
SQUARE = 4.0 * (math.log(2.0) - 0.5)  # c: exp(x - c x^2) <= 1 + x for |x| <= 1/2
LATE_RESTART = 2.72  # a restart while something is pending grants at most e stakes
LATE_BET = 0.25  # beta rho (1 + o) is at most this where something was pending
LATE_REACH = 1.455  # times rho o: how far losses that are still pending can move a gain
LATE_FACTOR = 1.25  # times |y| (|y| + d): what a step down costs where something was pending
NEGLIGIBLE_WEIGHT = 1e-12  # a pending weight of at most this is none
LARGEST_TERM = 1e150  # C: exp(beta G - beta^2 W) counts as at most this; bands have e^300
