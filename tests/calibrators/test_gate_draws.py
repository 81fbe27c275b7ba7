"""Draws: what the outcomes of some answers, looked at by chance, say about all of them."""

import math
from typing import Any

import numpy as np
import pytest

from localarc import Gate
from localarc.calibrators.gate import Draws
from localarc.calibrators.gate.draws import STAKES
from localarc.validation import FloatArray

DELTA = 0.05


def wealth(wrong: float, losses: FloatArray, valid: Any) -> float:
    """Of all bets together, written out slowly: at most 1 on average, whatever is wrong."""
    gains = [(1.0 - u) ** -wrong * math.exp(-lost) for u, lost in zip(STAKES, losses, strict=True)]
    return float(np.mean(np.where(valid, gains, 0.0)))


def test_the_bound_is_where_the_bets_would_have_won_as_much_as_chance_allows() -> None:
    draws, random = Draws(), np.random.default_rng(0)
    losses = np.zeros(len(STAKES))
    for p in random.choice([0.2, 0.5, 0.9], 60):
        draws = draws.look(1.0, True, float(p)).look(1.0, False, float(p)).pass_over(1.0, float(p))
        losses += [-math.log(1 - u / p) if u < p else math.nan for u in STAKES]
    valid = np.array(STAKES) < 0.2
    most = draws.most_wrong()
    assert wealth(most, losses, valid) == pytest.approx(1.0 / DELTA)
    assert draws.estimate < most < 2.0 * draws.estimate
    assert draws.most_wrong(confidence=0.99) > most
    more = losses + [5 * -math.log(1 - u / 0.2) if u < 0.2 else 0.0 for u in STAKES]
    assert wealth(draws.most_wrong(missing=5.0), more, valid) == pytest.approx(1.0 / DELTA)


def violations(choose: Any, runs: int, answers: int, weighted: bool = False) -> float:
    """The share of runs in which more were wrong than the bets allow, at any time.

    `choose(t, excess)` is the probability of the next draw, given what happened before; all
    answers are wrong, since the others change nothing.
    """
    random = np.random.default_rng(1)
    wrong, broken = np.zeros(runs), np.zeros(runs, bool)
    losses, least = np.zeros((runs, len(STAKES))), np.ones(runs)
    stakes = np.array(STAKES)
    for t in range(answers):
        p = np.broadcast_to(choose(t, wrong, losses[:, 3]), runs)
        weight = random.random(runs) if weighted else np.ones(runs)
        looked = random.random(runs) < p
        least, wrong = np.minimum(least, p), wrong + weight
        inside = np.minimum(stakes / p[:, None], 0.999999)
        losses += np.where(looked, weight, 0.0)[:, None] * -np.log1p(-inside)
        exponents = -np.log1p(-stakes) * wrong[:, None] - losses
        gains = np.where(stakes < least[:, None], np.exp(exponents), 0.0)
        broken |= gains.mean(axis=1) > 1.0 / DELTA
    return float(broken.mean())


CHOICES = {
    "a fifth": lambda t, wrong, lost: 0.2,
    "half": lambda t, wrong, lost: 0.5,
    "few": lambda t, wrong, lost: 0.01,
    "in turns": lambda t, wrong, lost: 0.6 if t % 2 else 0.05,
    "fewer when it pays": lambda t, wrong, lost: np.where(0.1 * wrong > lost, 0.15, 0.6),
}


@pytest.mark.parametrize("choose", CHOICES.values(), ids=CHOICES)
@pytest.mark.parametrize("weighted", [False, True], ids=["whole", "weighted"])
def test_bounds_on_all_answers_fail_as_seldom_as_stated(choose: Any, weighted: bool) -> None:
    assert violations(choose, runs=2000, answers=300, weighted=weighted) <= DELTA


def test_without_the_price_of_chance_the_bound_would_fail_often(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(globals(), "DELTA", 1.0)
    assert violations(CHOICES["a fifth"], runs=500, answers=300) > 0.5


# ---- gates -------------------------------------------------------------------------------------


def sampled(
    gate: Gate, rounds: int, seed: int, share: float = 0.2, late: int = 0, pass_over: bool = True
) -> tuple[Gate, int, int]:
    """A share of the answers is drawn; restarts in between. The gate, and what is the case."""
    random, sent, wrong = np.random.default_rng(seed), 0, 0
    waiting: list[tuple[int | str, bool]] = []
    for t in range(rounds):
        right = 1.0 - 0.2 * random.random()
        decision = gate.decide(["a", "b"][t % 2], confidence=right)
        if decision.answer:
            bad = bool(random.random() > right)
            sent, wrong = sent + 1, wrong + bad
            if random.random() < share:
                waiting.append((decision.id, bad))
            elif pass_over:
                gate.forget(decision, probability=share)
        while len(waiting) > late:
            number, was_bad = waiting.pop(0)
            gate.tell(number, wrong=was_bad, probability=share)
        if t % 97 == 0:
            gate = Gate.from_state(gate.state())
    return gate, sent, wrong


def test_all_answers_are_counted_and_bounded_when_some_are_looked_at() -> None:
    gate, sent, wrong = sampled(Gate(0.1), 1500, seed=0)
    summary = gate.summary()
    assert summary.sent == sent
    assert summary.answered == summary.draws.looked_at < 0.25 * sent
    assert summary.missing == summary.waiting == 0.0
    assert summary.answered_share == sent / 1500
    assert summary.estimated_wrong == pytest.approx(wrong, rel=0.5)
    assert wrong <= summary.most_wrong == summary.most_wrong_anyway < sent
    assert f"at most {math.ceil(summary.most_wrong)} of all {sent:,} answers wrong" in str(summary)
    assert "95 % confidence" in str(summary)
    assert f"({sent:,} answers went out, with 95 % confidence at most" in str(summary.verdict)
    assert f"this gate withheld {100 * (1 - sent / 1500):.3g} %" in str(summary)
    parts = summary.topics.values()
    assert sum(part.sent for part in parts) == sent
    assert all(part.most_wrong < part.sent for part in parts)


def test_what_is_not_known_is_named() -> None:
    gate, sent, wrong = sampled(Gate(0.1), 1500, seed=0, pass_over=False)
    summary = gate.summary()
    assert summary.sent == sent
    assert summary.waiting == sent - summary.answered
    text = str(summary)
    assert f"{summary.waiting:,.0f} answers wait for their outcome: nothing is known" in text
    assert f"if the {summary.waiting:,.0f} of which nothing is known were passed over" in text
    assert wrong <= summary.most_wrong < sent
    assert summary.most_wrong_anyway == sent - (summary.answered - summary.wrong)


def test_late_outcomes_of_drawn_answers_count_as_wrong_until_they_come() -> None:
    gate, sent, _ = sampled(Gate(0.1), 1500, seed=0, late=20)
    summary = gate.summary()
    assert summary.waiting == 20
    assert summary.most_wrong + 20 < summary.most_wrong_anyway < sent
    assert f"otherwise at most {math.ceil(summary.most_wrong_anyway)}" in str(summary)


def test_outcomes_that_are_known_without_a_draw_count_as_they_are() -> None:
    drawn, complaints = Gate(0.1), Gate(0.1)
    for gate in (drawn, complaints):
        made = [gate.decide(confidence=0.999) for _ in range(200)]
        for t, decision in enumerate(made[:100]):
            gate.tell(decision, wrong=t < 10, probability=0.5)
        for decision in made[100:]:
            gate.forget(decision, probability=0.5)
    for decision in [complaints.decide(confidence=1.0) for _ in range(5)]:
        complaints.tell(decision, wrong=True)
    before, after = drawn.summary(), complaints.summary()
    assert before.estimated_wrong == before.draws.estimate == 20.0
    assert after.estimated_wrong == 25.0
    assert after.most_wrong == before.most_wrong + 5.0 < 60.0


def test_without_a_stated_probability_nothing_is_said_about_all_answers() -> None:
    gate = Gate(0.1)
    for t in range(100):
        decision = gate.decide(confidence=0.99)
        if t % 5 == 0:
            gate.tell(decision, wrong=False)
        elif t % 5 == 1:
            gate.forget(decision)
    summary = gate.summary()
    assert (summary.sent, summary.answered, summary.forgotten, summary.waiting) == (100, 20, 20, 60)
    assert math.isinf(summary.most_wrong)
    assert "confidence at most" not in str(summary)
    assert "The bound grows with them: call forget" in str(summary)
    assert "20 answers were forgotten: nothing is known of them" in str(summary)
    assert "probability=0.2" in str(summary)
    assert "0 % of 20 known outcomes wrong (100 answers went out)" in str(summary.verdict)


def test_drawn_outcomes_are_weighted_in_the_base() -> None:
    """Of low confidences many are looked at, of high ones few: none counts more for it."""
    gate, random = Gate(0.1), np.random.default_rng(0)
    for _ in range(4000):
        sure = float(random.random())
        decision = gate.decide(confidence=sure)
        if decision.answer:
            share = 0.9 if sure < 0.9 else 0.1
            if random.random() < share:
                wrong = bool(random.random() > (0.995 if sure > 0.9 else 0.8))
                gate.tell(decision, wrong=wrong, probability=share)
            else:
                gate.forget(decision, probability=share)
    known = gate._base.by_topic[None].known
    assert {*known[:, 2].round(3)} == {round(1 / 0.9, 3), 10.0}


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda g: g.tell(1, wrong=False, probability=0.0), "probability must lie in"),
        (lambda g: g.tell(1, wrong=False, probability=1.5), "probability must lie in"),
        (lambda g: g.tell(1, wrong=False, probability="often"), "probability must be a number"),
        (lambda g: g.forget(1, probability=1.0), "probability must be below 1"),
        (lambda g: g.forget(1, probability=math.nan), "probability must be finite"),
    ],
)
def test_a_probability_that_makes_no_sense_is_rejected(call: Any, message: str) -> None:
    gate = Gate(0.1)
    gate.decide("a", confidence=0.99)
    before = gate.state()
    with pytest.raises((TypeError, ValueError), match=message):
        call(gate)
    assert gate.state() == before


@pytest.mark.slow
def test_at_any_time_the_bound_of_a_gate_holds_in_nineteen_of_twenty_runs() -> None:
    broken = 0
    for seed in range(400):
        gate, random, wrong, failed = Gate(0.2), np.random.default_rng(seed), 0, False
        for t in range(300):
            decision = gate.decide(confidence=1.0 - 0.3 * float(random.random()))
            if decision.answer:
                bad = bool(random.random() < 0.2)
                wrong += bad
                if random.random() < 0.3:
                    gate.tell(decision, wrong=bad, probability=0.3)
                else:
                    gate.forget(decision, probability=0.3)
            if t % 10 == 9:
                failed |= wrong > gate.summary().most_wrong
        broken += failed
    assert broken <= 0.05 * 400
