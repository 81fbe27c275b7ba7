"""Expansions in the engine, for kernels that are a formula of the squared distance."""

from __future__ import annotations

import functools
import logging
from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Self
from weakref import WeakValueDictionary

import numpy as np

from localarc.kernels import Kernel, Radial, Stationary
from localarc.memory.base import Arrays, Expansion, Memory, Played, Rounds
from localarc.validation import FloatArray

if TYPE_CHECKING:
    from localarc.engine import Profile, Stream


class CompiledExpansion:
    """An engine's expansion, which measures distance in root length scales, behind our interface.

    Importing the engine is slow, so it is imported where an expansion is made.
    """

    def __init__(self, memory: Memory, kernel: Stationary, dimension: int, inner: Any) -> None:
        self._roots = roots(kernel, dimension)
        self._origin = memory, kernel, dimension
        self.inner = inner
        # Online, a Python call costs as much as a compiled step. The engine checks and scales a
        # point itself, so the call goes straight there.
        self.evaluate_one: Callable[[FloatArray], float] = inner.evaluate_raw
        self.learn = inner.learn_raw
        self.try_learn_fast: Callable[[FloatArray, float, float], bool] = inner.try_learn_fast
        self.arrays = inner.arrays

    # Compiled functions inside the expansion are neither copied nor sent to other processes.

    def __deepcopy__(self, memo: Any) -> Expansion:
        return _rebuild(*self._origin, self.arrays())

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuild, (*self._origin, self.arrays())

    def evaluate(self, points: FloatArray) -> FloatArray:
        """f at each of (n, d) points."""
        return np.asarray(self.inner.evaluate(points / self._roots))

    def average(self, points: FloatArray) -> FloatArray:
        """The mean of all f that were accumulated, at each of (n, d) points."""
        return np.asarray(self.inner.average(points / self._roots))

    @property
    def rounds(self) -> int:
        """The number of rounds learned."""
        return self.inner.rounds  # type: ignore[no-any-return]

    def replay(self, rounds: Rounds) -> Played:
        """Play many rounds in one compiled loop."""
        played = self.inner.replay(self.stream(rounds))
        return Played(played.thresholds, played.losses, played.norm)

    def stream(self, rounds: Rounds) -> Stream:
        """The rounds as the engine expects them."""
        from localarc import engine

        curves = rounds.curves
        return engine.Stream(
            points=np.ascontiguousarray(rounds.points / self._roots),
            breakpoints=curves.breakpoints,
            losses=curves.losses,
            offsets=curves.offsets,
            rates=rounds.rates,
            decays=rounds.decays,
            alpha=rounds.alpha,
            constant=rounds.constant,
            clip=rounds.clip,
            radius=rounds.radius,
            norm=rounds.square,
            floor=rounds.floor,
        )

    def restore(self, arrays: Arrays) -> Self:
        """Take over what `arrays` gave."""
        self.inner.restore(arrays)
        return self

    @property
    def max_error_estimate(self) -> float:
        """The largest error of f that was measured; 0 where f is exact up to rounding."""
        return float(getattr(self.inner, "max_error_estimate", 0.0))

    @property
    def nbytes(self) -> int:
        """Size of the state."""
        return int(self.inner.nbytes)


def _rebuild(memory: Memory, kernel: Kernel, dimension: int, arrays: Arrays) -> Expansion:
    return memory.expansion(kernel, dimension).restore(arrays)


def roots(kernel: Stationary, dimension: int) -> FloatArray:
    """The square root of the denominator, feature by feature."""
    return np.broadcast_to(np.sqrt(kernel.denominator), (dimension,)).copy()


def profile(kernel: Kernel, dimension: int) -> Profile | None:
    """The engine's formula for a kernel, or None when only Python can evaluate it.

    It raises where the kernel is found to be none with this number of features.
    """
    from localarc import engine

    kernel.check_positive_semidefinite(dimension)

    if isinstance(kernel, Radial):
        return _user_profile(kernel.function)
    if isinstance(kernel, Stationary) and "compiled" in vars(type(kernel)):  # not a subclass's
        return engine.named(kernel.compiled, kernel.parameter(dimension))
    return None


_in_use: WeakValueDictionary[Any, Profile] = WeakValueDictionary()
_recent: deque[Profile] = deque(maxlen=16)


def _user_profile(function: Any) -> Profile:
    """A user's formula, compiled once for all that use it at the same time.

    The latest ones are kept for what may follow; an older one is freed with its last expansion.
    """
    from localarc import engine

    found = _in_use.get(function)
    if found is None:
        found = _in_use[function] = engine.custom(function)
        _recent.append(found)
    return found


@functools.cache
def warn_slow_kernel() -> None:
    """Log once that a kernel is evaluated in Python."""
    logging.getLogger("localarc").warning(
        "a kernel that is a Python function of (X, z), or a sum or product of kernels, is "
        "evaluated in Python, far slower than the engine; a function of squared distance runs at "
        "full speed as kernels.Radial(function)."
    )
