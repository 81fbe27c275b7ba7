"""Checks for calibrators, ours and yours: promises that must hold, and adversaries."""

from localarc.testing.adversary import STRATEGIES, attack
from localarc.testing.promises import check_calibrator

__all__ = ["STRATEGIES", "attack", "check_calibrator"]
