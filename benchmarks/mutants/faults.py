"""The faults: each could be that of a tired hand, in one line of what promises rest on."""

from benchmarks.mutants import of_bettors, of_theorems
from benchmarks.mutants.fault import Target

TARGETS: tuple[Target, ...] = (*of_theorems.TARGETS, *of_bettors.TARGETS)
