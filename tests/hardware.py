"""What golden files depend on besides the code: how a machine rounds."""

import os

from llvmlite import binding


def same_arithmetic() -> bool:
    """Whether sums are rounded as on the golden files' machine, which has AVX-512."""
    features = binding.get_host_cpu_features()
    return "NUMBA_CPU_NAME" not in os.environ and bool(features.get("avx512f"))
