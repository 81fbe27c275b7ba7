"""What golden files depend on besides the code: how compiled loops round."""

from typing import Any

from localarc import LARC, Mondrian


def rounds_alike(cal: Any) -> bool:
    """Whether a calibrator computes the same bits on every machine and in every process.

    Loops over kernels do not: a processor's vectors decide how sums are split, and where a sum of
    two products may be contracted, the compiler chooses one of them, depending on what else the
    process has compiled.
    """
    return not isinstance(cal, LARC | Mondrian)
