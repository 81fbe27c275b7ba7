"""The neighbourhoods that a report looks at: those of a kernel, or some that suit the inputs."""

from __future__ import annotations

from collections.abc import Iterable

from localarc.calibrators.larc import LARC
from localarc.kernels import RBF, Kernel
from localarc.running.from_data import lengths_by_share
from localarc.streams import Stream

_SHARE = 0.1  # of the rounds
_MIN_ROUNDS = 50


def default_kernel(stream: Stream, calibrators: Iterable[object]) -> Kernel | None:
    """Return the kernel of the first L-ARC, else one that suits the inputs; None without features.

    The latter has about a tenth of the rounds in a typical neighbourhood, whatever their units.

    >>> from localarc.streams import heteroscedastic
    >>> stream = heteroscedastic(1000, seed=0)
    >>> default_kernel(stream, [LARC(0.1, RBF(0.4))])
    RBF(length_scale=0.4, scale=1.0)
    >>> default_kernel(stream, []) is None
    False
    """
    kernels = [each.kernel for each in calibrators if isinstance(each, LARC)]
    found = next((kernel for kernel in kernels if kernel is not None), None)
    if found is not None or not stream.X.shape[1]:
        return found
    share = min(1.0, max(_SHARE, _MIN_ROUNDS / len(stream)))
    return RBF(lengths_by_share(stream.X, [share])[0])
