"""Chance and the state of verdicts against their rules, at and around every limit."""

from __future__ import annotations

import itertools
import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from guarantees import verdict_oracle
from guarantees.verdict_oracle import Seen
from localarc.guarantees import chance
from localarc.guarantees.verdict import Part, verdict

ROUNDS = [1, 5, 99, 100, 101, 127, 128, 129, 256, 257, 1000, 4096, 4097, 123_456]
TARGETS = [(0.1, 1.0), (0.5, 1.0), (0.9, 1.0), (0.3, 2.0), (1.5, 2.0), (0.01, 0.25)]
NEAR = [-1e-6, 0.0, 1e-6]


@pytest.mark.parametrize(("alpha", "B"), TARGETS)
def test_the_limit_of_chance_is_its_formula(alpha: float, B: float) -> None:
    for rounds, tries in itertools.product(ROUNDS, [1, 2, 100]):
        expected = verdict_oracle.limit(rounds, alpha, B, tries)
        assert chance.deviation(rounds, alpha, B, tries) == pytest.approx(expected, rel=1e-12)
        assert chance.is_too_early(rounds, alpha, B) == (rounds * alpha < 10 * B)


def test_ten_losses_that_were_expected_are_enough_and_so_are_ten_that_were_seen() -> None:
    assert not chance.is_too_early(20, 0.5, 1.0)
    assert chance.is_too_early(19, 0.5, 1.0)
    assert chance.is_excess(1.0, 10, 0.001, 1.0)
    assert not chance.is_excess(1.0, 9, 0.001, 1.0)  # however rare losses should be


@pytest.mark.parametrize(("alpha", "B"), TARGETS)
def test_an_excess_begins_at_the_limit_of_chance(alpha: float, B: float) -> None:
    for rounds, tries in itertools.product(ROUNDS, [1, 100]):
        limit = alpha + verdict_oracle.limit(rounds, alpha, B, tries)
        for risk in (0.0, alpha, limit - 1e-9, limit + 1e-9, 10 * B / rounds, B):
            if 0.0 <= risk <= B:
                expected = verdict_oracle.excess(risk, rounds, alpha, B, tries)
                assert chance.is_excess(risk, rounds, alpha, B, tries) == expected


def interesting_risks(alpha: float, B: float, rounds: int, bound: float | None) -> list[float]:
    """Around every limit that changes a verdict."""
    distance = verdict_oracle.limit(rounds, alpha, B) + 0.05 * alpha
    limits = [0.0, alpha, B, alpha - distance, alpha + distance, 10 * B / rounds]
    limits += [alpha + verdict_oracle.limit(rounds, alpha, B)]
    limits += [] if bound is None else [alpha - bound, alpha + bound]
    return [risk for limit in limits for near in NEAR if 0.0 <= (risk := limit + near) <= B]


@pytest.mark.parametrize(("alpha", "B"), TARGETS)
def test_the_state_without_groups_is_that_of_the_rules(alpha: float, B: float) -> None:
    states = set()
    for rounds, bound in itertools.product(ROUNDS, [None, 0.05, 0.2]):
        for risk in interesting_risks(alpha, B, rounds, bound):
            expected = verdict_oracle.state(alpha, risk, rounds, bound, (), B)
            assert verdict(alpha, risk, rounds, bound=bound, loss_bound=B).state == expected
            states.add(expected)
    assert states == {"kept", "cautious", "not kept", "too early"}


def test_a_failed_check_comes_before_everything_and_no_round_before_a_bound() -> None:
    assert verdict(0.1, 0.9, 10_000, bound=0.1, consistent=False).state == "inconsistent"
    assert verdict(0.1, math.nan, 0, bound=0.0).state == "too early"


risks = st.floats(0.0, 1.0)
parts = st.builds(
    Seen,
    st.sampled_from([3.0, 12.0, 40.5, 130.0, 700.0, 20_000.0]),
    risks,
    st.sampled_from(["group", "neighbourhood", "third"]),
    st.sampled_from([None, 0.002, 0.03]),
)


@settings(max_examples=400)
@given(
    st.sampled_from([0.02, 0.1, 0.5]),
    st.sampled_from([1.0, 2.0]),
    st.sampled_from([50, 200, 5000]),
    st.lists(parts, max_size=6),
)
def test_the_state_with_parts_is_that_of_the_rules(
    alpha: float, B: float, rounds: int, seen: list[Seen]
) -> None:
    made = [
        Part(f"part {i}", p.rounds, p.risk, math.nan if p.error is None else p.error, kind=p.kind)  # type: ignore[arg-type]
        for i, p in enumerate(seen)
    ]
    expected = verdict_oracle.state(alpha, alpha, rounds, None, seen, B)
    found = verdict(alpha, alpha, rounds, parts=made, loss_bound=B)
    assert found.state == expected
    above = sorted(verdict_oracle.worst_parts(seen, alpha, B), key=lambda part: -part.risk)
    if found.state == "not kept" and above:
        assert any(
            found.text.casefold().startswith(part.title.casefold())
            for part in made
            if part.risk == above[0].risk
        )


@pytest.mark.parametrize("kind", ["group", "neighbourhood", "third"])
@pytest.mark.parametrize("others", [0, 7])
@pytest.mark.parametrize(("alpha", "B"), TARGETS)
def test_a_part_counts_from_its_limit_on(kind: str, others: int, alpha: float, B: float) -> None:
    """Many parts looked at make chance a better explanation of the worst one."""
    rounds = max(120.0, 40.0 * B / alpha)
    fine = [Seen(rounds, alpha, kind)] * others

    def state(risk: float) -> str:
        seen = [Seen(rounds, risk, kind), *fine]
        made = [Part(i, p.rounds, p.risk, kind=kind) for i, p in enumerate(seen)]  # type: ignore[arg-type]
        found = verdict(alpha, alpha, 5000, parts=made, loss_bound=B).state
        assert found == verdict_oracle.state(alpha, alpha, 5000, None, seen, B)
        return found

    low, high = alpha, B
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (low, middle) if state(middle) == "not kept" else (middle, high)
    assert alpha < high < B


@pytest.mark.parametrize("error", [None, 0.002])
@pytest.mark.parametrize("kind", ["group", "neighbourhood", "third"])
def test_few_rounds_count_from_an_excess_on(kind: str, error: float | None) -> None:
    """Of a hundred neighbourhoods looked at, one is worse by chance."""
    states = []
    for misses in range(8, 40):
        seen = [Seen(110.0, misses / 110.0, kind, error)]
        made = [Part("a", 110.0, misses / 110.0, error or math.nan, kind=kind)]  # type: ignore[arg-type]
        states.append(verdict_oracle.state(0.02, 0.02, 5000, None, seen))
        assert verdict(0.02, 0.02, 5000, parts=made).state == states[-1]
    assert states == sorted(states)  # kept, then not kept
    assert {*states} == {"kept", "not kept"}


@pytest.mark.parametrize("rounds", [99.0, 100.0])
def test_neighbourhoods_and_thirds_count_from_100_rounds_on(rounds: float) -> None:
    for kind in ("group", "neighbourhood", "third"):
        made = [Part("a", rounds, 0.9, kind=kind)]
        expected = verdict_oracle.state(0.2, 0.2, 5000, None, [Seen(rounds, 0.9, kind)])
        assert verdict(0.2, 0.2, 5000, parts=made).state == expected
        assert (expected == "kept") == (rounds < 100 and kind != "group")
