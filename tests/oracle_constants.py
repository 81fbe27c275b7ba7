"""The numbers that the oracles compute with: written a second time, never read from the library.

The oracles must not trust `src/localarc/constants.py`, so they import these instead; names are the
same. `test_constants.py` compares the two files: who changes a number changes it in both.
"""

import math

WARM = 16
MEMORY, LONGER_MEMORY = 500.0, 10.0
COARSER = 8.0
DEVIATIONS_PER_UNIT, SMALLEST_PART, RANGE_PART, TINY_UNIT = 1.5, 1.0 / 16.0, 1024.0, 1e-290
OFFSET_RATE, LEVEL_SLOPE, GROUP_FACTOR, VISITS_COUNTED = 0.6, 0.25, 0.5, 400.0
OUTDATED = 2.0 / 3.0
HURRY, ONE_SIDED, LOOK_BACK, LARGEST_DEVIATION = 30.0, 0.95, 0.02, 2.0
LEVELS, INPUTS_KEPT, HYSTERESIS = 6, 128, 0.75
ENOUGH_VISITS, FARTHEST_CELL, GRID_SHIFT = 8.0, 1e15, 0.46653

BETS, STAKE_ALL, STAKE = 16, 0.05, 0.02
SQUARE = 4.0 * (math.log(2.0) - 0.5)
LATE_RESTART, LATE_BET, LATE_REACH, LATE_FACTOR = 2.72, 0.25, 1.455, 1.25
NEGLIGIBLE_WEIGHT = 1e-12
LARGEST_TERM = 1e150
