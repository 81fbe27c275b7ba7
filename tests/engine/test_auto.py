"""The compiled engine of AutoLARC: equal to the formulas, and capped."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from engine.auto_reference import Reference
from localarc.engine.auto import layout
from localarc.engine.auto.engine import AutoEngine, Rules
from localarc.engine.auto.loops import ASK, PEEK, STEP
from localarc.engine.auto.nodes import GROUP, KIND_SHIFT

INF = math.inf


@dataclass(frozen=True)
class Case:
    """A random stream."""

    d: int
    rounds: int = 200
    groups: int = 0
    delay: int = 0
    two: bool = True
    limits: tuple[float, float] = (-INF, INF)
    alpha: float = 0.1
    bound: float = 1.0
    missing: float = 0.0
    harmless: float = 0.05
    unavoidable: float = 0.02
    start: float = 0.0
    silent: float = 0.1  # losses without a score


CASES = {
    "no features": Case(0),
    "one feature": Case(1),
    "two features": Case(2),
    "three features": Case(3, rounds=120),
    "at most": Case(2, two=False),
    "limits": Case(1, limits=(0.2, 1.2), alpha=0.3, bound=2.0),
    "groups": Case(1, groups=4),
    "late": Case(1, groups=2, delay=9),
    "late, limits": Case(2, rounds=120, delay=20, limits=(0.0, 1.0), groups=1),
    "late, at most": Case(0, delay=5, two=False, limits=(0.0, INF)),
    "missing features": Case(2, missing=0.2, groups=1),
    "harmless rounds": Case(1, harmless=0.9),
    "large losses": Case(1, groups=1, alpha=3.0, bound=10.0),
    "unavoidable losses": Case(0, rounds=1500, unavoidable=0.999),
    "unavoidable losses, late": Case(0, rounds=1500, delay=3, two=False, unavoidable=0.999),
    "full sets first": Case(2, start=INF, groups=2),
    "full sets first, late": Case(1, start=INF, delay=30, groups=2, silent=0.0),
    "full sets first, limits": Case(1, start=INF, delay=4, limits=(0.2, 1.2), bound=2.0, alpha=0.3),
    "full sets first, few misses": Case(1, start=INF, delay=20, alpha=0.01, two=False, silent=0.0),
    "full sets first, harmless": Case(0, start=INF, delay=3, harmless=0.9, silent=0.0),
    "full sets first, no scores": Case(1, start=INF, delay=3, limits=(0.0, INF), silent=1.0),
}


def key(label: int) -> int:
    return 1000 + label | (GROUP + 1) << KIND_SHIFT


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_the_engine_is_the_formulas_bit_for_bit(case: Case) -> None:
    random = np.random.default_rng(7)
    floor, ceiling = case.limits
    rules = Rules(
        case.alpha, case.bound, floor, ceiling, case.two, initial_threshold=case.start, slots=2**12
    )
    engine = AutoEngine(rules, case.d)
    slow = Reference(case.alpha, case.d, case.bound, case.limits, case.two, case.start)
    pending: list[Any] = []
    for _ in range(case.rounds):
        x, score = draw(random, case)
        labels = np.flatnonzero(random.random(case.groups) < 0.5).tolist()
        groups = [(label, float(random.choice([0.5, 1.0]))) for label in labels]
        where = x, np.array([key(g) for g, _ in groups], np.int64), np.array([w for _, w in groups])
        engine.reserve(len(groups), 1)
        peeked = engine.serve(PEEK, *where, math.nan, math.nan, 0.0, 0.0)
        assert slow.threshold(x, groups) == peeked
        ticket = slow.ask(x, groups)
        assert engine.serve(ASK, *where, math.nan, math.nan, 0.0, 0.0) == peeked == ticket.threshold
        pending.append((int(engine.numbers[layout.ISSUED]), ticket, score))
        while len(pending) > case.delay or (pending and random.random() < 0.1):
            settle_one(random, case, engine, slow, pending)
    assert engine.numbers[layout.UNINFORMED] == len(slow.uninformed)
    assert engine.numbers[layout.UNINFORMED_LOSSES] == sum(slow.uninformed)
    assert bool(slow.uninformed) == (case.start == INF)


def draw(random: np.random.Generator, case: Case) -> tuple[Any, float]:
    x = random.normal(size=case.d) * 10.0 ** np.arange(case.d)
    score = abs(random.normal()) * (0.3 + (abs(x[0]) if case.d else 0.0))
    x[random.random(case.d) < case.missing] = np.nan
    luck = random.random()
    return x, -INF if luck < case.harmless else INF if luck > 1.0 - case.unavoidable else float(
        score
    )


def settle_one(
    random: np.random.Generator, case: Case, engine: Any, slow: Reference, pending: list[Any]
) -> None:
    """The loss of any pending round, in any order; or none, ever."""
    number, ticket, score = pending.pop(int(random.integers(len(pending))))
    if case.delay and random.random() < 0.1:
        slow.forget(ticket)
        assert engine.forget(number)
        return
    loss = case.bound if score > ticket.threshold else 0.0
    told = math.nan if random.random() < case.silent else score
    slow.tell(ticket, loss, told)
    assert engine.tell(number, loss, told)
    assert not engine.tell(number, loss, told)


def test_bets_are_capped_one_by_one() -> None:
    engine, none = AutoEngine(Rules(0.1), 0), (np.empty(0), np.empty(0, np.int64), np.empty(0))
    engine.reserve(0, 100)

    def check(largest: float) -> None:
        node, betas = engine.node(), 2.0 ** -np.arange(1.0, 17.0)
        power = betas * node[layout.UP_GAIN] - betas**2 * node[layout.UP_COST]
        terms = betas * np.exp(np.minimum(power, math.log(1e150)))
        expected = terms[betas <= largest].sum() / 16.0
        assert 2.0 * node[layout.UP_BET] == pytest.approx(expected, rel=1e-6)

    for t in range(1, 8001):
        engine.serve(STEP, *none, math.nan, math.nan, 1.0, math.nan)
        if t % 500 == 0:
            check(0.5)
    for pending in range(1, 40):
        engine.serve(ASK, *none, math.nan, math.nan, 0.0, 0.0)
        most = engine.node()[layout.MOST_WEIGHT]
        assert most >= pending - 1
        check(0.5 if most == 0.0 else 1.0 / (1.0 + most))


def test_an_interrupt_while_the_ledger_grows_changes_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def interrupt(self: AutoEngine, arrays: Any) -> None:
        raise KeyboardInterrupt

    def ask(engine: AutoEngine, label: int) -> float:
        keys, weights = np.array([key(label)], np.int64), np.ones(1)
        engine.reserve(1, 1)
        return engine.serve(ASK, np.empty(0), keys, weights, math.nan, math.nan, 0.0, 0.0)

    engine, twin = (AutoEngine(Rules(0.1, slots=2**8), 0, groups=1) for _ in range(2))
    for each in (engine, twin):
        ask(each, 1)
        ask(each, 1)
    with monkeypatch.context() as patch:
        patch.setattr(AutoEngine, "_bind", interrupt)
        with pytest.raises(KeyboardInterrupt):
            engine.reserve(3, 8)
    for each in (engine, twin):
        ask(each, 1)
        for number in (1, 2, 3):
            assert each.tell(number, 1.0, 0.5)
    assert np.array_equal(engine.nodes, twin.nodes)
