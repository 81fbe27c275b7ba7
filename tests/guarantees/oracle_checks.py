"""A certificate beside the oracle of theorem E: every number that it has."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Hashable, Mapping
from typing import Any

import pytest

from guarantees import verdict_oracle
from guarantees.theorem_e_oracle import ALL, Expected, TheoremE
from guarantees.verdict_oracle import Seen

CLOSE = 1e-6
"""The engine squares its way to the larger bets, which costs seven digits of a cut-back bet."""


def close(value: float) -> Any:
    return pytest.approx(value, rel=CLOSE, abs=CLOSE, nan_ok=True)


def passed(deviation: float, bound: float) -> bool:
    return deviation > bound * (1.0 + 1e-9) + 1e-12


def assert_node(node: Any, theorem: TheoremE, name: Any, stated: float | None = None) -> Expected:
    """What is said about everyone or a group."""
    expected, seen = theorem.at(name, stated), theorem.weight(name) > 0.0
    assert node.rounds == close(expected.rounds)
    assert node.alpha == theorem.rules.alpha
    assert node.excess == close(expected.excess)
    assert node.worst_stretch == close(expected.worst_stretch)
    assert node.risk == close(expected.risk)
    assert (node.above.value, node.below.value) == (close(expected.above), close(expected.below))
    assert (node.above.side, node.below.side) == ("above", "below")
    deviation = expected.risk - theorem.rules.alpha
    costly = theorem.ceiling_fails(stated)
    assert node.above.holds == (seen and not costly and not passed(deviation, expected.above))
    if theorem.rules.two:
        cheap = costly or theorem.floor_fails()
        assert node.below.holds == (seen and not cheap and not passed(-deviation, expected.below))
        assert node.bound.value == max(node.above.value, node.below.value)
        assert node.bound.holds == (node.above.holds and node.below.holds)
        assert node.bound.side == "both"
    else:
        assert node.below.holds == seen
        assert (node.bound.value, node.bound.side) == (node.above.value, "above")
        assert node.bound.holds == node.above.holds
    assert_dictionary(node)
    return expected


def assert_dictionary(node: Any) -> None:
    """What goes out as JSON is what the object says."""
    found = node.to_dict()
    for name in ("rounds", "alpha", "excess", "worst_stretch"):
        assert found[name] == getattr(node, name)
    assert found["risk"] == (node.risk if node.rounds else None)
    for side in ("above", "below"):
        assert found[side] == getattr(node, side).to_dict()


def assert_certificate(
    found: Any,
    theorem: TheoremE,
    groups: Mapping[Hashable, Any],
    *,
    nodes: int,
    stated: float | None = None,
) -> None:
    """What is said about everyone; `groups` has the oracle's name of each that was seen."""
    assert_node(found, theorem, ALL, stated)
    losses = [r.loss for r in theorem.arrived]
    if losses:
        assert found.risk == pytest.approx(math.fsum(losses) / len(losses), rel=1e-12)
    assert found.rounds == len(losses)
    assert getattr(found, "uninformed", 0) == len(theorem.uninformed)
    assert found.loss_bound == theorem.rules.B
    assert found.pending == len(theorem.waiting)
    assert found.most_pending == theorem.most_pending
    assert found.consistent
    assert found.consistency_gap < 1e-9
    assert found.evicted == found.refused == {"hats": 0, "groups": 0}
    assert found.observed.value == close(theorem.observed())
    assert found.observed.side == ("both" if theorem.rules.two else "above")
    deviation = found.risk - found.alpha
    distance = abs(deviation) if theorem.rules.two else deviation
    assert found.observed.holds == (bool(losses) and not passed(distance, theorem.observed()))
    assert found.bounds == (found.observed, found.above, found.below)
    assert found.to_dict()["rounds"] == len(losses)
    assert {*found.groups} == {*groups}
    for label, name in groups.items():
        assert_node(found.groups[label], theorem, name, stated)
    assert_tightest(found, theorem)
    assert_verdict(found, theorem)
    assert_printed(found)
    if theorem.scores and losses:
        for later in (len(losses) + 1, 3 * len(losses), 100_000):
            assert_forward(found, theorem, later, nodes, stated)


def assert_forward(
    found: Any, theorem: TheoremE, rounds: int, nodes: int, stated: float | None
) -> None:
    """What is said about a later round: it rests on what the bounds of today rest on."""
    ahead, expected = found.forward(rounds), theorem.forward(rounds, nodes, stated)
    assert ahead.value == close(expected)
    assert ahead.side == found.observed.side
    today = found.above.holds and (found.below.holds or not theorem.rules.two)
    nearest = theorem.nearest(rounds)
    beyond = passed(abs(nearest) if theorem.rules.two else nearest, expected)
    assert ahead.holds == (today and not beyond)


def assert_tightest(found: Any, theorem: TheoremE) -> None:
    above = found.above if found.above.holds else None
    values = [bound.value for bound in (found.observed, found.bound) if bound.holds]
    if theorem.rules.two and values:
        assert found.tightest.value == min(values)
    else:
        assert found.tightest == above


def assert_verdict(found: Any, theorem: TheoremE) -> None:
    parts = [Seen(part.rounds, part.risk) for part in found.groups.values()]
    claimed = [b.value for b in found.bounds if b.holds and b.side == "both"]
    withdrawn = [b.value for b in found.bounds if b.passed]
    bound = min(withdrawn or claimed, default=None)
    rules = theorem.rules
    expected = verdict_oracle.state(rules.alpha, found.risk, found.rounds, bound, parts, rules.B)
    assert found.verdict.state == expected


def judgements(
    patch: pytest.MonkeyPatch, module: Any, judge: Callable[[], object]
) -> list[dict[str, Any]]:
    """The keyword arguments with which a module asks for verdicts."""
    calls: list[dict[str, Any]] = []
    verdict = module.verdict

    def spy(*numbers: float, **rest: Any) -> Any:
        calls.append(rest)
        return verdict(*numbers, **rest)

    with patch.context() as inner:
        inner.setattr(module, "verdict", spy)
        judge()
    return calls


def assert_printed(found: Any) -> None:
    """The line of each group has its numbers, in the order risk, rounds, at most, at least."""
    lines = str(found).splitlines()
    for label, part in found.groups.items():
        (line,) = [each for each in lines if each.startswith(f"group {label}:")]
        printed = [float(n) for n in re.findall(r"-?\d[\d.]*(?:e[-+]\d+)?|nan|inf", line[8:])]
        most, least = part.alpha + part.above.value, part.alpha - part.below.value
        shown = [most] * part.above.holds + [least] * part.below.holds
        for value in (part.risk, part.rounds, *shown):
            assert any(n == pytest.approx(value, rel=1e-3, abs=1e-4, nan_ok=True) for n in printed)


def assert_place(place: Any, theorem: TheoremE, name: Any, stated: float | None = None) -> None:
    """What is said about a hat."""
    expected = theorem.at(name, stated)
    assert place.weight == close(expected.rounds)
    assert place.risk == close(expected.risk)
    assert place.deviation == close(expected.risk - theorem.rules.alpha)
    assert place.above.value == close(expected.above)
    costly = theorem.ceiling_fails(stated)
    beyond = passed(expected.risk - theorem.rules.alpha, expected.above)
    assert place.above.holds == (not costly and not beyond)
    assert place.to_dict()["weight"] == place.weight
    assert place.to_dict()["risk"] == place.risk
    assert place.to_dict()["above"] == place.above.to_dict()
