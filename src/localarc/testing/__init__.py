"""Checks for calibrators, ours and yours: promises that must hold, and adversaries."""

from localarc.testing.adversary import STRATEGIES, attack
from localarc.testing.betting_adversary import Played, attack_tickets
from localarc.testing.betting_scenarios import Scenario
from localarc.testing.gate_adversary import PlayedGate, attack_gate
from localarc.testing.promises import check_calibrator
from localarc.testing.role import check_online_calibrator, check_online_method

__all__ = [
    "STRATEGIES",
    "Played",
    "PlayedGate",
    "Scenario",
    "attack",
    "attack_gate",
    "attack_tickets",
    "check_calibrator",
    "check_online_calibrator",
    "check_online_method",
]
