"""Stored monitors: plain numbers and lists, read back with every value checked."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from localarc import validation
from localarc.monitoring.bets import SIZES, Sums
from localarc.monitoring.intervals import Intervals
from localarc.monitoring.settings import Settings
from localarc.serialization import StateError

VERSION = 1
_HINT = "Pass what Monitor.to_state() returned."
_KEYS = {
    *("version", "settings", "total", "since_round", "since", "broken", "reached"),
    *("sums", "recent", "money", "intervals"),
}


def checked(state: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a state of this version with all its parts."""
    if not isinstance(state, Mapping) or "version" not in state:
        raise StateError(f"not the state of a monitor: {validation.shown(state)}. {_HINT}")
    if state["version"] != VERSION:
        raise StateError(
            f"the state has version {validation.shown(state['version'])}, this localarc reads "
            f"version {VERSION}. Upgrade localarc."
        )
    if missing := sorted(_KEYS - set(state)):
        raise StateError(f"the state has no {', '.join(missing)}. {_HINT}")
    return state


def settings(values: Any) -> Settings:
    """Return stored settings."""
    return Settings.checked(*_listed("settings", values, 5))


def count(name: str, value: Any) -> int:
    """Return a stored number of rounds."""
    return validation.integer(name, value, 0, _HINT)


def time(name: str, value: Any) -> float | None:
    """Return a stored time."""
    return None if value is None else validation.finite(name, value, _HINT)


def sums(values: Any) -> Sums:
    """Return stored sums of rounds."""
    rounds, losses, spread = _listed("sums", values, 3)
    made = Sums(count("rounds", rounds), _amount("losses", losses), _amount("spread", spread))
    if made.losses > made.rounds or made.spread > made.losses:
        raise StateError(f"the state's sums contradict each other: {made}. {_HINT}")
    return made


def money(values: Any) -> list[float]:
    """Return the stored money of a change detector."""
    return [_amount("money", value) for value in _listed("money", values, len(SIZES))]


def intervals(values: Any) -> Intervals:
    """Return stored intervals."""
    last, known, median, weights = _listed("intervals", values, 4)
    made = Intervals()
    made.last, made.known = time("last", last), count("known", known)
    made.median = None if median is None else validation.positive("median", median, _HINT)
    for bucket, weight in (_listed("weights", pair, 2) for pair in weights):
        made.weights[int(bucket)] = _amount("weights", weight)
    return made


def stored_intervals(made: Intervals) -> list[Any]:
    """The same as plain numbers; the order of the weights is that of their sum."""
    return [made.last, made.known, made.median, [list(pair) for pair in made.weights.items()]]


def _amount(name: str, value: Any) -> float:
    return validation.not_negative(name, value, _HINT)


def _listed(name: str, values: Any, length: int) -> list[Any]:
    """Return a list of a fixed length."""
    if not isinstance(values, list | tuple) or len(values) != length:
        raise StateError(
            f"{name} must be a list of {length}, got {validation.shown(values)}. {_HINT}"
        )
    return list(values)
