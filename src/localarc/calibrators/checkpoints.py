"""Checkpoints of any calibrator, one of ours or a user's: what a failed call goes back to."""

from __future__ import annotations

import copy
from typing import Any

from localarc.calibrators.base import BaseCalibrator


def checkpoint(calibrator: Any) -> Any:
    """A copy of everything learned, for `rolled_back`."""
    if isinstance(calibrator, BaseCalibrator):
        return calibrator.checkpoint()
    return copy.deepcopy(calibrator)


def rolled_back(calibrator: Any, checkpoint: Any) -> Any:
    """The calibrator as it was: itself, or a copy of it where it cannot be changed back."""
    if not isinstance(calibrator, BaseCalibrator):
        return checkpoint
    calibrator.rollback(checkpoint)
    return calibrator
