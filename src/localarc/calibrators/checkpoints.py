"""Checkpoints: what a failed call goes back to, of our calibrators and of a user's."""

from __future__ import annotations

import copy
from typing import Any


class UnchangedOnFailure:
    """Forget what a calibrator learned inside if anything fails inside.

    It is no generator: an interrupt (Ctrl-C) could leave that half-way, and Python would run its
    rest, which forgets, when it drops the generator: at any later time.
    """

    def __init__(self, calibrator: Any) -> None:
        self._calibrator = calibrator

    def __enter__(self) -> None:
        self._before = self._calibrator.checkpoint()

    def __exit__(self, kind: object, *error: object) -> None:
        if kind is not None:
            self._calibrator.rollback(self._before)


def checkpoint(calibrator: Any) -> Any:
    """A copy of everything learned, for `rolled_back`."""
    return calibrator.checkpoint() if _has_own(calibrator) else copy.deepcopy(calibrator)


def rolled_back(calibrator: Any, checkpoint: Any) -> Any:
    """The calibrator as it was: itself, or a copy of it where it cannot be changed back."""
    if not _has_own(calibrator):
        return checkpoint
    calibrator.rollback(checkpoint)
    return calibrator


def _has_own(calibrator: Any) -> bool:
    return hasattr(calibrator, "checkpoint") and hasattr(calibrator, "rollback")
