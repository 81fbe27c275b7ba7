"""Wrong input to a public call: an error that names the argument, and nothing has changed.

Each argument is given wrong shapes, NaN, wrong types, numbers out of range, and nothing at all.
"""

import re
from collections.abc import Callable, Iterator
from functools import cache
from math import inf, nan
from typing import Any

import numpy as np
import pytest

from localarc import (
    ARC,
    LARC,
    RBF,
    AutoLARC,
    Custom,
    Evidence,
    Gate,
    KeepLast,
    LabelSets,
    Mondrian,
    Panel,
    Radial,
    Safeguard,
    replay,
    tune,
)
from localarc.calibrators.tickets import TicketError
from localarc.curves import miscoverage
from localarc.monitoring import Monitor


class Opaque:
    """Nothing that any argument could be."""


X = np.array([[0.1, 0.2], [0.3, 0.4]])
CURVES = miscoverage([0.1, 0.2])
RAGGED = [[1.0, 2.0], [3.0]]
ANYTHING_ELSE: tuple[Any, ...] = (Opaque(), Opaque, 1j, np.datetime64("2020-01-01"))

NUMBER = (*ANYTHING_ELSE, None, "text", nan, inf, 1e200, [], [1.0, 2.0], RAGGED)
LOSS = (*NUMBER, -0.1, 1.1)
TARGET = (*NUMBER, 0.0, 1.0)
COUNT = (*NUMBER, -1, 0.5, True)
FLAG = (*ANYTHING_ELSE, None, "no", nan, 2, [], [True])
FUNCTION: tuple[Any, ...] = (Opaque(), None, "text", nan, 1, [])
POINT = (*ANYTHING_ELSE, "text", inf, 1e200, [], [1.0, 2.0, 3.0], RAGGED, X)
ROWS = (*ANYTHING_ELSE, "text", inf, [[inf, 0.0]] * 2, RAGGED, np.zeros((2, 2, 2)))
PER_ROUND = (*ANYTHING_ELSE, "ab", {1.0, 2.0}, {0: 1.0, 1: 0.0}, [], [1.0], 5)
LOSSES = (*PER_ROUND, [0.0, nan], [0.0, 1.1], [0.0, "text"], RAGGED)
PAIR = (*ANYTHING_ELSE, "ab", b"ab", {0.0, 1.0}, [], [0.0], [0.0, nan], [1.0, 0.0], (0.0, 1.0, 2.0))
LABELS = (*ANYTHING_ELSE, "ab", {"a", "b"}, [], ["a", "a"], [nan], [[]])
SCORES = (*ANYTHING_ELSE, "ab", None, [], [0.1], [0.1, nan], [0.1, "text"], {}, {"a": nan}, RAGGED)
TICKET = (*ANYTHING_ELSE, None, "text", nan, 1.0, 0, -1, 99, 2**70, [], [1])
TICKETS = (*ANYTHING_ELSE, None, "1", nan, 1, [0], [99], [1.5], [2**70], ["a"], [1, 1])
STATE = (*ANYTHING_ELSE, None, "text", b"", b"text", 1, [])
EVIDENCE = (*ANYTHING_ELSE, "text", nan, 1, [], (0.0, 1.0))


@cache  # a call that fails changes nothing, so that all tests can share one
def example(name: str) -> Any:
    return EXAMPLES[name]()


def gate() -> Gate:
    gate = Gate(wrong_at_most=0.05)
    gate.decide(["billing", 0.2], confidence=0.99)
    gate.decide(["billing", 0.2], confidence=0.1)
    return gate


def pending(calibrator: Any, *inputs: Any, **groups: Any) -> Any:
    """With a round whose loss was learned, and another whose loss is to come."""
    calibrator.tell(calibrator.ask(*inputs, **groups), 1.0)
    calibrator.ask(*inputs, **groups)
    return calibrator


EXAMPLES: dict[str, Callable[[], Any]] = {
    "ARC": lambda: pending(ARC(0.1), None),
    "LARC": lambda: pending(LARC(0.1, RBF()), [0.1, 0.2]),
    "Mondrian": lambda: pending(Mondrian(lambda: ARC(0.1)), None, groups="a"),
    "AutoLARC": lambda: pending(AutoLARC(0.1, promise="at most", unit=1.0), [0.1, 0.2]),
    "Safeguard": lambda: Safeguard(ARC(0.1)).update([0.1, 0.2], 1.0, 0.5),
    "LabelSets": lambda: LabelSets(0.1, ["a", "b"]).update([0.1, 0.2], [0.1, 0.2], "a"),
    "Gate": gate,
    "Panel": lambda: Panel(ARC(0.1)).update(["a", "b"], None, [0.0, 1.0]),
    "Monitor": lambda: Monitor(0.1),
}
ADAPTIVE: dict[str, dict[str, Any]] = {
    "update": {"x": ([0.1, 0.2], POINT), "loss": (1.0, LOSS)},
    "ask": {"x": ([0.1, 0.2], POINT)},
    "tell": {"ticket": (2, TICKET), "loss": (1.0, LOSS)},
    "forget": {"ticket": (2, TICKET)},
    "threshold": {"x": ([0.1, 0.2], POINT[:-1])},
    "partial_fit": {"X": (X, ROWS), "losses": ([0.0, 1.0], LOSSES)},
    "certificate": {"evidence": (None, EVIDENCE)},
    "restore": {"data": (b"", STATE)},
}
WITHOUT_INPUTS: dict[str, dict[str, Any]] = {  # ARC ignores them
    **ADAPTIVE,
    "update": {"x": (None, ()), "loss": (1.0, LOSS)},
    "ask": {"x": (None, (X, RAGGED))},
    "threshold": {"x": (None, (RAGGED,))},
}
GUARDED: dict[str, dict[str, Any]] = {
    **ADAPTIVE,
    "update": {**ADAPTIVE["update"], "score": (0.5, ("text", 1j, [], Opaque()))},
    "ask_many": {"X": (X, ROWS[:-1])},
    "tell_many": {"tickets": ([2], TICKETS), "losses": ([1.0], ("a", {1.0}, [], [nan], [1.1], 5))},
    "forget_many": {"tickets": ([2], TICKETS)},
    "cover": {"X": (X, ROWS), "scores": ([0.5, 0.6], ("ab", Opaque(), [0.5], [0.5, nan]))},
    "places": {"count": (10, COUNT), "min_weight": (20.0, NUMBER)},
}
NO_PENDING = {name: part for name, part in GUARDED.items() if name not in ("tell", "forget")}
CALLS: dict[str, dict[str, dict[str, Any]]] = {
    "ARC": WITHOUT_INPUTS,
    "LARC": ADAPTIVE | {"localized_bound": {"weight_norm": (1.0, NUMBER)}},
    "Mondrian": {
        "update": {"loss": (1.0, LOSS), "x": (None, ()), "groups": ("a", (nan, [], None))},
        "tell": {"ticket": (2, TICKET), "loss": (1.0, LOSS)},
        "certificate": {"evidence": (None, EVIDENCE)},
        "partial_fit": {
            "X": (X, ROWS),
            "losses": ([0.0, 1.0], LOSSES),
            "groups": (["a", "b"], PER_ROUND[:-3]),
        },
        "restore": {"data": (b"", STATE)},
    },
    "AutoLARC": GUARDED,
    "Safeguard": NO_PENDING,
    "LabelSets": {
        "update": {
            "x": ([0.1, 0.2], POINT[:-1]),
            "scores": ([0.1, 0.2], SCORES),
            "label": ("a", (Opaque(), nan, None, "c", [])),
        },
        "thresholds": {"labels": (None, LABELS)},
        "tell": {"ticket": (1, TICKET), "label": ("a", ())},
        "restore": {"data": (b"", STATE)},
    },
    "Gate": {
        "decide": {"confidence": (0.5, LOSS), "key": (None, (Opaque(), 1, nan, "", []))},
        "tell": {"decision": (1, (*ANYTHING_ELSE, None, nan, 0, 99)), "wrong": (True, FLAG)},
        "audit": {"decision": (2, (*ANYTHING_ELSE, None, nan, 0, 99)), "wrong": (True, FLAG)},
        "restore": {"data": (b"", STATE)},
    },
    "Panel": {
        "update": {
            "keys": (["a", "b"], (*ANYTHING_ELSE, None, "ab", ["a"], [[]])),
            "X": (None, ()),
            "losses": ([0.0, 1.0], LOSSES),
        },
        "restore": {"data": (b"", STATE)},
    },
    "Monitor": {"update": {"loss": (0.0, LOSS), "at": (None, ("text", nan, [], Opaque()))}},
}
SETTINGS: dict[Callable[..., Any], dict[str, Any]] = {
    ARC: {"alpha": (0.1, TARGET), "score_range": ((0.0, 1.0), PAIR), "rate": (1.0, ("a", nan, 0))},
    LARC: {"alpha": (0.1, TARGET), "kernel": (RBF(), FUNCTION)},
    AutoLARC: {
        "alpha": (0.1, TARGET),
        "limits": ((None, None), PAIR),
        "promise": ("both", (*ANYTHING_ELSE, None, "text", nan, [])),
    },
    LabelSets: {"alpha": (0.1, TARGET), "labels": (["a", "b"], LABELS)},
    Gate: {"wrong_at_most": (0.1, TARGET), "shadow": (False, FLAG), "auditable": (9, COUNT)},
    Mondrian: {"make_calibrator": (lambda: ARC(0.1), FUNCTION), "group_of": (None, FUNCTION[2:])},
    Panel: {"prototype": (ARC(0.1), (*ANYTHING_ELSE, None, "text", 1))},
    Monitor: {"target": (0.1, NUMBER), "window": (1000, COUNT)},
    RBF: {"length_scale": (1.0, (*NUMBER[:-2], 0.0, -1.0, RAGGED)), "scale": (1.0, NUMBER)},
    Custom: {
        "function": (np.dot, FUNCTION),
        "nonnegative": (False, FLAG),
        "rho": (None, ("text", nan, -1.0, [], Opaque())),
        "factor": (1.0, NUMBER),
    },
    Radial: {"function": (lambda u: np.exp(-u), FUNCTION), "nonnegative": (True, FLAG)},
    KeepLast: {"m": (9, COUNT), "archive": (True, FLAG)},
    Evidence: {"score_range": ((0.0, 1.0), PAIR), "rounds": (None, ("text", nan, -1, [], 0.5))},
    replay: {"calibrator": (ARC(0.1), FUNCTION), "X": (X, ROWS), "curves": (CURVES, FUNCTION)},
    tune: {"X": (X, ROWS), "curves": (CURVES, FUNCTION)},
}


def wrong_arguments(call: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """A call with one wrong argument: its name, and all arguments."""
    good = {name: value for name, (value, _) in call.items()}
    for name, (_, values) in call.items():
        yield from ((name, {**good, name: value}) for value in values)


def message_of(call: Callable[..., Any], arguments: dict[str, Any]) -> str:
    with pytest.raises((ValueError, TypeError, TicketError)) as raised:
        call(**arguments)
    return str(raised.value)


METHODS = [(name, method) for name, methods in CALLS.items() for method in methods]


@pytest.mark.parametrize(("name", "method"), METHODS)
def test_a_call_names_the_wrong_argument_and_changes_nothing(name: str, method: str) -> None:
    subject = example(name)
    stored = subject.to_state if name == "Monitor" else subject.state
    before = stored()
    for argument, arguments in wrong_arguments(CALLS[name][method]):
        message = message_of(getattr(subject, method), arguments)
        assert names(argument, message), f"{argument}={arguments[argument]!r}: {message}"
        assert stored() == before, f"{argument}={arguments[argument]!r}"


@pytest.mark.parametrize("made", SETTINGS, ids=lambda made: made.__name__)
def test_a_constructor_names_the_wrong_argument(made: Callable[..., Any]) -> None:
    for argument, arguments in wrong_arguments(SETTINGS[made]):
        message = message_of(made, arguments)
        assert names(argument, message), f"{argument}={arguments[argument]!r}: {message}"


SPOKEN_OF_AS = {  # where not by its own name
    "x": "inputs",
    "X": "inputs",
    "data": "state",
    "losses": "loss",
    "tickets": "ticket",
    "decision": "id",
    "keys": "key",
    "labels": "label",
    "scores": "score",
    "groups": "group",
    "function": "kernel",
    "calibrator": "alpha",  # which it has none of
}


def names(argument: str, message: str) -> bool:
    """Whether a message speaks of the argument."""
    words = (argument, SPOKEN_OF_AS.get(argument, argument))
    return any(re.search(rf"\b{word}\b", message) for word in words)
