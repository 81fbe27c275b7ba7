"""The warning that sets are unbounded, because too few outcomes are known."""

from __future__ import annotations

import sys
import warnings


class FewOutcomesWarning(UserWarning):
    """Sets are unbounded because fewer outcomes are known than the coverage requires."""


def warn_few_outcomes(known: int, needed: int) -> None:
    """Warn, at the line of the user's code that asked for sets."""
    warnings.warn(
        f"{known} outcomes are known and {needed} are needed: until then, sets are unbounded. "
        "Call warm_up with rows whose outcomes are known.",
        FewOutcomesWarning,
        stacklevel=_frames_of_ours() + 1,
    )


def _frames_of_ours() -> int:
    """How many calls lie between the caller of this package and the one that asks."""
    frame, count = sys._getframe(1), 0
    while frame is not None and frame.f_globals.get("__package__", "") == __package__:
        frame, count = frame.f_back, count + 1  # type: ignore[assignment]
    return count
