"""Stored monitors: plain numbers and lists, read back with every value checked."""

from __future__ import annotations

from array import array
from collections.abc import Mapping
from typing import Any

from localarc import validation
from localarc.monitoring.bets import FALLS, SIZES, Sums, Tally
from localarc.monitoring.change import MOST
from localarc.monitoring.health import Moment
from localarc.monitoring.intervals import BUCKETS, Intervals
from localarc.monitoring.recent import Recent
from localarc.monitoring.recovery import Recovery
from localarc.serialization import StateError

VERSION = 1
_HINT = "Pass what Monitor.to_state() returned."
_KEYS = {
    *("version", "settings", "total", "since_round", "since", "broken", "reached"),
    *("all", "recent", "money", "intervals"),
}
"""The others are optional: states had none of them when nothing recovered by itself."""


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


def settings(parts: Mapping[str, Any]) -> list[Any]:
    """Return stored settings, which the monitor checks; older ones know no usual silence."""
    return [*_listed("settings", parts["settings"], 5), parts.get("stale_after", 0.0)]


def recovery(values: Any, mean: float, level: float) -> Recovery:
    """Return the stored bets on a recovery; states without them begin with the next round."""
    if values is None:
        return Recovery(mean, level)
    rounds, won = _listed("recovery", values, 2)
    return Recovery(mean, level, count("rounds", rounds), _monies("recovery", won, len(FALLS)))


def stored_recovery(made: Recovery | None) -> list[Any] | None:
    """The same as plain numbers."""
    return None if made is None else [made.rounds, list(made.bets.money)]


def moment(values: Any, most: int) -> Moment | None:
    """Return the stored moment of a recovery."""
    if values is None:
        return None
    rounds, at = _listed("recovered", values, 2)
    return Moment(count("recovered", rounds, most), time("recovered", at))


def count(name: str, value: Any, most: float = validation.LARGEST) -> int:
    """Return a stored number of rounds."""
    return validation.integer(name, value, 0, _HINT, maximum=most)


def time(name: str, value: Any) -> float | None:
    """Return a stored time."""
    return None if value is None else validation.finite(name, value, _HINT)


def flag(name: str, value: Any) -> bool:
    """Return a stored truth value."""
    if not isinstance(value, bool):
        raise StateError(f"{name} must be true or false, got {validation.shown(value)}. {_HINT}")
    return value


def tally(values: Any, most: int) -> Tally:
    """Return the stored tally of all rounds."""
    rounds, losses, won = _listed("all", values, 3)
    numbers = [validation.finite("won", each, _HINT) for each in _listed("won", won, len(SIZES))]
    played = count("rounds", rounds, most)
    return Tally(played, _amount("losses", losses, played), numbers)


def recent(values: Any, window: int, rounds: int) -> Recent:
    """Return the stored blocks of recent rounds."""
    made = Recent(window, map(_block, _listed("recent", values)))
    if not made.is_possible_after(rounds):
        raise StateError(f"recent does not fit {rounds} rounds in a window of {window}. {_HINT}")
    return made


def _block(values: Any) -> Sums:
    """Return the stored sums of a block of rounds."""
    rounds, losses, spread = _listed("recent", values, 3)
    played = count("rounds", rounds)
    return Sums(played, _amount("losses", losses, played), _amount("spread", spread, played))


def money(values: Any) -> list[float]:
    """Return the stored money of a change detector."""
    return _monies("money", values, len(SIZES))


def _monies(name: str, values: Any, length: int) -> list[float]:
    """Return what each of some bets has made."""
    return [_amount(name, value, MOST) for value in _listed(name, values, length)]


def intervals(values: Any) -> Intervals:
    """Return stored intervals."""
    last, known, median, total, weights = _listed("intervals", values, 5)
    made = Intervals()
    made.last, made.known = time("last", last), count("known", known)
    made.median = None if median is None else validation.positive("median", median, _HINT)
    made.total = _amount("total", total)
    if weights:
        made.weights = array("d", bytes(8 * BUCKETS))
    for bucket, weight in (_listed("weights", pair, 2) for pair in _listed("weights", weights)):
        index = validation.integer("bucket", bucket, 0, _HINT, maximum=BUCKETS - 1)
        made.weights[index] = _amount("weights", weight)
    return made


def stored_intervals(made: Intervals) -> list[Any]:
    """The same as plain numbers, without empty buckets."""
    weights = [[bucket, weight] for bucket, weight in enumerate(made.weights) if weight]
    return [made.last, made.known, made.median, made.total, weights]


def _amount(name: str, value: Any, most: float = validation.LARGEST) -> float:
    """Return a stored sum of numbers that are not negative."""
    number = validation.not_negative(name, value, _HINT)
    if number > most * (1.0 + 1e-9):
        raise StateError(f"{name} must be at most {most:g}, got {number}. {_HINT}")
    return number


def _listed(name: str, values: Any, length: int | None = None) -> list[Any]:
    """Return a list, of a fixed length if there is one."""
    if not isinstance(values, list | tuple) or length not in (None, len(values)):
        wanted = "a list" if length is None else f"a list of {length}"
        raise StateError(f"{name} must be {wanted}, got {validation.shown(values)}. {_HINT}")
    return list(values)
