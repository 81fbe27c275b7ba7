"""The promise of a gate, against adversaries: wrong <= alpha answered + credit withheld + bound."""

import numpy as np
import pytest

from localarc import Decision, Gate
from localarc.calibrators.gate.base import Topics
from localarc.calibrators.gate.bettors import GateBettors
from localarc.calibrators.gate.decisions import decision_id
from localarc.engine.auto import layout
from localarc.testing import PlayedGate, attack_gate
from localarc.testing.gate_adversary import ORDERS


def gate_for(seed: int, kind: type[Gate] = Gate) -> Gate:
    random = np.random.default_rng(seed)
    return kind(
        float(random.choice([0.02, 0.1, 0.3, 0.6])),
        credit=float(random.choice([0.0, 0.001, 0.01])),
        idle=float(random.choice([0.0, 0.003, 0.1])),
    )


def worst_ratio(gate: Gate, played: PlayedGate) -> float:
    """The largest excess over any stretch up to now, as a part of the bound; at most 1."""
    summary = gate.summary()
    parts = {"everyone": summary, **summary.topics}
    return max(played.worst_stretch(str(name)) / part.bound for name, part in parts.items())


def attack_and_check(seed: int, rounds: int, every: int) -> float:
    """The largest ratio at any checked moment."""
    gate, worst = gate_for(seed), 0.0

    def check(played: PlayedGate) -> None:
        nonlocal worst
        if len(played.charges) % every == 0:
            worst = max(worst, worst_ratio(gate, played))

    played = attack_gate(gate, rounds, seed, after_round=check)
    summary = gate.summary()
    assert all(part.consistent for part in (summary, *summary.topics.values()))
    assert gate._bettors.engine.numbers[layout.LOST_UP] == 0.0  # nothing is answered at the ceiling
    assert summary.wrong - summary.limit <= 0.0
    return max(worst, worst_ratio(gate, played))


@pytest.mark.slow
def test_no_adversary_breaks_the_promise_for_any_topic_or_stretch_of_time() -> None:
    assert max(attack_and_check(seed, 300, every=25) for seed in range(24)) <= 1.0


@pytest.mark.slow
def test_no_adversary_breaks_the_promise_in_hundreds_of_streams() -> None:
    assert max(attack_and_check(seed, 600, every=20) for seed in range(300)) <= 1.0


@pytest.mark.slow
def test_without_bets_adversaries_break_the_promise(monkeypatch: pytest.MonkeyPatch) -> None:
    def base_alone(self: GateBettors, x: object, groups: Topics) -> float:
        return min(self.base.decide(groups)[0], 1.0)

    monkeypatch.setattr(GateBettors, "threshold", base_alone)
    broken = [seed for seed in range(24) if _ratio(gate_for(seed), seed) > 1.0]
    assert len(broken) >= 3


class TaughtByAudits(Gate):
    """The mistake that the promise rules out: an audit is charged to the bettors as an answer."""

    def audit(self, decision: Decision | int | str, wrong: bool) -> "TaughtByAudits":
        made = self._records.withheld[self._records.number(decision_id(decision))]
        super().audit(decision, wrong)
        features = np.full(self._bettors.engine.dimensions, 0.0)
        self._bettors.update(features, float(wrong), groups=made.topics)
        return self


@pytest.mark.slow
def test_if_audits_taught_the_bettors_adversaries_would_break_the_promise() -> None:
    """Every other round is withheld and audited as right, every answer is wrong."""
    excess = {}
    for kind in (Gate, TaughtByAudits):
        gate, charges = kind(0.1), 0.0
        for t in range(4000):
            threshold = gate.threshold()
            wanted = min(np.nextafter(threshold, 2.0), 1.0) if t % 12 == 0 else 0.0
            decision = gate.decide(confidence=float(wanted))
            if decision.answer:
                gate.tell(decision, wrong=True)
                charges += 0.9
            else:
                gate.audit(decision, wrong=False)
                charges -= gate.credit
        excess[kind] = charges
        if kind is Gate:
            limit = gate.summary().bound
    assert excess[Gate] <= limit
    assert excess[TaughtByAudits] > 2.0 * limit


def test_the_adversary_plays_every_order_of_feedback() -> None:
    from localarc.testing.gate_adversary import _Adversary

    assert {_Adversary(Gate(0.1), seed, 1).order for seed in range(60)} == set(ORDERS)


def test_a_topic_that_turns_from_always_right_to_always_wrong_costs_few_answers() -> None:
    gate, wrong = Gate(0.1), 0
    for t in range(4000):
        decision = gate.decide("news", confidence=0.95)
        bad = t >= 2000
        if decision.answer:
            gate.tell(decision, wrong=bad)
            wrong += bad
    assert wrong <= 40
    assert wrong <= gate.summary().bound + 0.001 * 2000


def _ratio(gate: Gate, seed: int) -> float:
    return worst_ratio(gate, attack_gate(gate, 600, seed))
