"""A state that was sealed correctly but makes no sense is refused, with one kind of error."""

import contextlib
import hashlib
import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from localarc import ARC, LARC, RBF, KeepAll, Mondrian, Panel, StateError
from localarc.serialization import decode, encode

LOSSES = np.tile([1.0, 0.0, 0.0, 0.0], 10)
X = np.random.default_rng(0).random((40, 2))


def forged(state: bytes, change: Callable[[dict[str, Any], dict[str, Any]], None]) -> bytes:
    """The state with something changed, sealed again."""
    kind, content, arrays = decode(state)
    content = json.loads(json.dumps(content))
    copies = {name: np.array(array) for name, array in arrays.items()}
    change(content, copies)
    return encode(kind, content, copies)


def trace(name: str, value: float) -> Callable[[dict[str, Any], dict[str, Any]], None]:
    def change(content: dict[str, Any], arrays: dict[str, Any]) -> None:
        content["trace"][name] = value

    return change


NONSENSE = {
    "c above its highest": trace("highest", -5.0),
    "c below its lowest": trace("lowest", 5.0),
    "a sum of losses that is too large": trace("loss_sum", 41.0),
    "a negative sum of losses": trace("loss_sum", -1.0),
    "a lost loss": trace("loss_sum", 9.0),
    "a constant that does not account for the losses": trace("constant", 0.01),
    "too many rounds": trace("rounds", 10**18),
    "half a round": trace("rounds", 39.5),
    "rounds as text": trace("rounds", "40"),  # type: ignore[arg-type]
    "a rate of 0": trace("inverse_rate", 0.0),
    "a violation in the future": trace("empty_since", 99),
    "a negative count": trace("full_fails", -1),
    "no number at all": trace("weighted", None),  # type: ignore[arg-type]
}


@pytest.mark.parametrize("change", NONSENSE.values(), ids=NONSENSE)
@pytest.mark.parametrize("kind", [ARC, LARC])
def test_a_running_constant_that_no_run_leaves_is_refused(kind: Any, change: Any) -> None:
    cal = ARC(0.25) if kind is ARC else LARC(0.25, RBF(0.3), memory=KeepAll())
    cal.partial_fit(X, LOSSES)
    state = cal.state()
    assert kind.from_state(forged(state, lambda content, arrays: None)).state() == state
    bad = forged(state, change)
    with pytest.raises(StateError):
        kind.from_state(bad)
    with pytest.raises(StateError):
        cal.restore(bad)
    assert cal.state() == state


def drop_a_term(content: dict[str, Any], arrays: dict[str, Any]) -> None:
    arrays["rounds"] = np.array(39)


def spoil(content: dict[str, Any], arrays: dict[str, Any]) -> None:
    arrays["weights"][3] = np.nan


def many_features(content: dict[str, Any], arrays: dict[str, Any]) -> None:
    content["dimension"] = 10**12


@pytest.mark.parametrize("change", [drop_a_term, spoil, many_features])
def test_a_local_part_that_does_not_fit_is_refused(change: Any) -> None:
    cal = LARC(0.25, RBF(0.3), memory=KeepAll()).partial_fit(X, LOSSES)
    with pytest.raises(StateError):
        LARC.from_state(forged(cal.state(), change))


def test_spare_bytes_and_missing_ones_are_refused() -> None:
    state = LARC(0.25, RBF(0.3), memory=KeepAll()).partial_fit(X, LOSSES).state()
    kind, content, arrays = decode(state)
    longer = encode(kind, content, {**arrays, "zz": np.zeros(2)})
    with_spare = reseal(longer[:-32].replace(b', "zz": ["f8", [2]]', b"" + b" " * 19))
    with pytest.raises(StateError, match="bytes are left over"):
        decode(with_spare)
    shorter = reseal(state[:-32].replace(b'"weights": ["f8", [40]]', b'"weights": ["f8", [99]]'))
    with pytest.raises(StateError, match="cut short"):
        decode(shorter)
    huge = reseal(
        state[:-32].replace(b'"joined": ["f8", [40]]', b'"joined": ["f8", [1,1,-9]]'[:22])
    )
    with pytest.raises(StateError):
        decode(huge)


def reseal(body: bytes) -> bytes:
    return body + hashlib.sha256(body).digest()


def test_tickets_that_were_never_issued_are_refused() -> None:
    cal = ARC(0.25)
    cal.ask(None)
    for number in (0, 2, -1):

        def change(content: dict[str, Any], arrays: dict[str, Any], number: int = number) -> None:
            arrays["ticket ids"][0] = number

        with pytest.raises(StateError):
            ARC.from_state(forged(cal.state(), change))


def test_a_panel_and_a_mondrian_are_checked_too() -> None:
    panel = Panel(ARC(0.25)).update(["a", "b"] * 20, None, LOSSES)

    def swap(content: dict[str, Any], arrays: dict[str, Any]) -> None:
        arrays["traces"][0, 6] = 77.0

    def twice(content: dict[str, Any], arrays: dict[str, Any]) -> None:
        content["keys"] = ["a", "a"]

    for change in (swap, twice):
        with pytest.raises(StateError):
            Panel.from_state(forged(panel.state(), change))
    groups = Mondrian(lambda: ARC(0.25)).partial_fit(X, LOSSES, groups=["a", "b"] * 20)

    def missing(content: dict[str, Any], arrays: dict[str, Any]) -> None:
        content["groups"].append("c")

    with pytest.raises(StateError):
        Mondrian.from_state(forged(groups.state(), missing))


WRONG: list[Any] = [None, -1, 1e308, "x", [], {}, 10**400, True]


def test_no_forged_header_ends_in_anything_but_a_state_error() -> None:
    """Every entry of a stored header, replaced by values of the wrong kind."""
    state = LARC(0.25, RBF(0.3), memory=KeepAll()).partial_fit(X, LOSSES).state()
    kind, content, arrays = decode(state)
    for path in paths(content):
        for value in WRONG:
            changed = json.loads(json.dumps(content))
            place = changed
            for name in path[:-1]:
                place = place[name]
            place[path[-1]] = value
            try:
                data = encode(kind, changed, arrays)
            except ValueError:
                continue
            with contextlib.suppress(StateError):
                LARC.from_state(data)


def paths(content: Any) -> list[list[Any]]:
    if not isinstance(content, dict):
        return []
    found = []
    for name, value in content.items():
        found.append([name])
        found += [[name, *rest] for rest in paths(value)]
    return found
