"""Gate: decisions, outcomes, shadow mode, and a state with everything open inside."""

import dataclasses
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from localarc import AutoLARC, Decision, Gate, StateError
from localarc.calibrators.gate.certificate import certify
from localarc.calibrators.gate.closed import Closed
from localarc.calibrators.tickets import TicketError
from localarc.engine.auto import layout

TOPICS = ["billing", "legal", "returns"]


def stream(count: int, seed: int = 0) -> list[tuple[list[Any], float, bool]]:
    """Inputs, confidences and whether the answer is wrong; "legal" is over-confident."""
    random = np.random.default_rng(seed)
    found = []
    for _ in range(count):
        topic, similarity = TOPICS[random.integers(3)], float(random.random())
        right = float(random.beta(3, 1))
        confidence = math.sqrt(math.sqrt(right)) if topic == "legal" else right
        found.append(([topic, similarity], confidence, bool(random.random() >= right)))
    return found


def play(gate: Gate, count: int, seed: int = 0, late: int = 0) -> list[Decision]:
    """Decisions with feedback for what went out, `late` answers later."""
    made, waiting = [], []
    for x, confidence, wrong in stream(count, seed):
        decision = gate.decide(x, confidence=confidence)
        made.append(decision)
        if decision.answer:
            waiting.append((decision.id, wrong))
        while len(waiting) > late:
            number, was_wrong = waiting.pop(0)
            gate.tell(number, wrong=was_wrong)
    return made


def test_an_answer_goes_out_if_the_confidence_exceeds_the_threshold() -> None:
    gate = Gate(0.1)
    for x, confidence, wrong in stream(500):
        threshold = gate.threshold(x)
        decision = gate.decide(x, confidence=confidence)
        assert decision.threshold == threshold
        assert decision.answer == decision.would_answer == (confidence > threshold)
        if decision.answer:
            gate.tell(decision, wrong=wrong)


def test_the_threshold_that_decided_is_the_one_that_the_bettors_are_charged_for() -> None:
    gate = Gate(0.1)
    play(gate, 800, late=40)
    tickets = gate._bettors.pending
    assert len(tickets) == 40
    assert [(t.id, t.threshold) for t in tickets] == [(d.id, d.threshold) for d in gate.pending]


@pytest.mark.slow
@pytest.mark.parametrize("late", [0, 50])
def test_few_answers_are_wrong_in_every_topic_and_many_go_out(late: int) -> None:
    gate = Gate(0.1)
    play(gate, 6000, late=late)
    summary = gate.summary()
    assert set(summary.topics) == set(TOPICS)
    for part in (summary, *summary.topics.values()):
        assert part.consistent
        assert part.wrong <= part.limit
        assert part.wrong_share < 0.14
    assert summary.answered_share > 0.4


def test_the_summary_counts_what_happened() -> None:
    gate = Gate(0.1)
    made = play(gate, 1000)
    wrong = [w for (_, _, w), d in zip(stream(1000), made, strict=True) if d.answer]
    summary = gate.summary()
    assert summary.answered == len(wrong) == sum(d.answer for d in made)
    assert summary.wrong == sum(wrong)
    assert summary.withheld == 1000 - len(wrong)
    assert summary.limit == pytest.approx(
        0.1 * summary.answered + 0.001 * summary.withheld + summary.bound
    )
    parts = list(summary.topics.values())
    assert sum(part.wrong for part in parts) == summary.wrong
    assert sum(part.withheld for part in parts) == summary.withheld


def test_the_summary_prints_the_verdict_first_and_the_three_terms_of_every_topic() -> None:
    gate = Gate(0.1)
    play(gate, 1000)
    summary = gate.summary()
    first, head, *rows, least = str(summary).split("\n")
    assert first == str(summary.verdict)
    assert head.split("  ")[-1] == "of the known, at most"
    assert len(rows) == 4
    for row, part in zip(rows, (summary, *summary.topics.values()), strict=True):
        assert f"0.1 x {part.answered:,.0f} + 0.001 x {part.withheld:,.0f}" in row
    assert "unknown until some are audited" in least


def reported(counts: dict[str, tuple[int, int]]) -> str:
    """The verdict after so many answers and wrong ones by topic."""
    gate = Gate(0.05, credit=0.05)
    for topic, (answers, wrong) in counts.items():
        asked = [gate.decide(topic, confidence=1.0) for _ in range(answers)]
        for t, decision in enumerate(asked):
            gate.tell(decision, wrong=t * wrong // answers != (t + 1) * wrong // answers)
    return str(gate.summary().verdict)


def test_the_verdict_says_which_topics_it_looked_at() -> None:
    text = reported({"a": (500, 26), "b": (400, 16), "c": (66, 9)})
    assert "; of 2 topics with 200 answers or more, a is the worst, 5.2 % of 500 wrong" in text
    assert "; c: 13.6 % of 66, too few to judge." in text
    text = reported({"a": (500, 26), "c": (66, 5), "d": (60, 1)})
    assert "; the only topic with 200 answers or more is a, 5.2 % of 500 wrong" in text
    assert "; c: 7.58 % of 66 and 1 more, too few to judge." in text
    text = reported({"a": (500, 26), "c": (66, 9), "one": (1, 1), "none": (9, 0)})
    assert "; c: 13.6 % of 66 and 2 more, too few to judge." in text


def test_a_topic_with_few_answers_leads_if_chance_does_not_explain_it() -> None:
    text = reported({"a": (500, 26), "b": (400, 16), "c": (66, 22)})
    assert text.startswith("c: 33.3 % of 66 wrong, more than chance explains; in all")


def test_without_rounds_there_is_a_summary_too() -> None:
    text = str(Gate(0.05).summary())
    assert text.startswith("No outcome so far, target 5 %.")
    assert "nan" not in text


def test_the_least_share_to_withhold_is_that_of_an_oracle() -> None:
    gate = Gate(0.1, shadow=True)
    wrong = [w for _, _, w in stream(900)]
    for x, confidence, bad in stream(900):
        gate.tell(gate.decide(x, confidence=confidence), wrong=bad)
    least = gate.summary().least_withheld
    right = len(wrong) - sum(wrong)
    affordable = int(right * 0.1 / 0.9)  # wrong answers that go out with all right ones
    assert least == pytest.approx((sum(wrong) - affordable) / len(wrong), abs=1 / len(wrong))
    assert f"at least {100 * least:.3g} %" in str(gate.summary())


@pytest.mark.slow
def test_audits_estimate_the_least_share_to_withhold() -> None:
    gate, exact = Gate(0.1), Gate(0.1, shadow=True)
    for t, (x, confidence, wrong) in enumerate(stream(4000)):
        decision = gate.decide(x, confidence=confidence)
        if decision.answer:
            gate.tell(decision, wrong=wrong)
        elif t % 5 == 0:
            gate.audit(decision, wrong=wrong)
        exact.tell(exact.decide(x, confidence=confidence), wrong=wrong)
    assert gate.summary().least_withheld == pytest.approx(exact.summary().least_withheld, abs=0.03)


# ---- what each report teaches ------------------------------------------------------------------


def bets(gate: Gate) -> Any:
    """All sums of the bettors."""
    return gate._bettors.engine.nodes.copy()


def test_an_audit_teaches_the_base_and_never_the_bettors() -> None:
    gate = Gate(0.1)
    play(gate, 600)
    withheld = gate.decide(["billing", 0.5], confidence=0.2)
    before, threshold = bets(gate), gate._base.decide({"billing": 1.0})
    gate.audit(withheld, wrong=False)
    np.testing.assert_array_equal(bets(gate), before)
    assert gate._base.decide({"billing": 1.0}) != threshold


def test_a_withheld_round_is_charged_the_target_less_the_credit() -> None:
    gate = Gate(0.1, credit=0.02)
    for _ in range(10):
        gate.decide("billing", confidence=0.0)
    charged = gate._bettors.certificate().groups["billing"]
    assert charged.rounds == 10.0
    assert charged.excess == pytest.approx(-0.2)


def test_the_certificate_is_about_the_share_of_wrong_answers() -> None:
    gate = Gate(0.1)
    play(gate, 1500)
    summary, certificate = gate.summary(), gate.certificate()
    assert certificate.risk == summary.wrong_share
    assert certificate.rounds == summary.answered
    assert certificate.alpha + certificate.above.value == pytest.approx(
        summary.limit / summary.answered
    )
    legal = certificate.groups["legal"]
    assert legal.risk <= 0.1 + legal.above.value == summary.topics["legal"].limit / legal.rounds
    assert certificate.verdict == summary.verdict
    assert certificate.consistent


def test_a_bound_without_assumptions_names_none() -> None:
    gate = Gate(0.1)
    gate.tell(gate.decide("mail", confidence=0.99), wrong=False)
    assert str(gate.certificate().above) == "theorem E, above: mean loss - target <= 0.9"


def test_a_bound_that_the_wrong_answers_have_passed_is_withdrawn() -> None:
    gate = Gate(0.1)
    play(gate, 600)
    summary, charged = gate.summary(), gate._bettors.certificate()
    wrong = dataclasses.replace(summary.topics["legal"], wrong=summary.topics["legal"].limit + 1.0)
    topics = {**summary.topics, "legal": wrong}
    made = certify(
        dataclasses.replace(summary, bound=-0.2 * summary.answered, topics=topics), charged
    )
    assert made.above.passed
    assert made.observed.passed
    assert made.groups["legal"].above.passed
    assert not made.groups["billing"].above.passed


def test_a_gate_does_not_know_how_many_rounds_it_will_answer() -> None:
    gate = Gate(0.1)
    play(gate, 20)
    with pytest.raises(ValueError, match="unknown how many"):
        gate.certificate().forward(100)


def test_outcomes_can_be_reported_with_a_key_of_the_callers_own() -> None:
    gate = Gate(0.1, auditable=1)
    decision = gate.decide("a", confidence=0.99, key="mail-1")
    assert decision.id == "mail-1"
    assert Gate.from_state(gate.state()).tell("mail-1", wrong=False).summary().answered == 1.0
    with pytest.raises(ValueError, match="waits for its outcome"):
        gate.decide("a", confidence=0.5, key="mail-1")
    gate.tell("mail-1", wrong=False)
    gate.decide("a", confidence=0.1, key="mail-1")
    gate.decide("a", confidence=0.1, key="mail-2")
    with pytest.raises(TicketError, match="'mail-1' waits for no outcome"):
        gate.audit("mail-1", wrong=True)
    assert gate.audit("mail-2", wrong=True).summary().checked == 1.0
    assert not gate._records.keys


def test_a_gate_that_remembers_nothing_withheld_frees_keys_at_once() -> None:
    gate = Gate(0.1, auditable=0)
    for _ in range(2):
        assert not gate.decide("a", confidence=0.1, key="mail-1").answer
    assert not gate._records.keys


def test_a_state_is_restored_into_a_gate_with_the_same_settings_only() -> None:
    gate, other = Gate(0.1), Gate(0.1)
    play(gate, 200, late=3)
    assert other.restore(gate.state()).state() == gate.state()
    assert play(other, 50, seed=2) == play(gate, 50, seed=2)
    with pytest.raises(StateError, match="from_state"):
        Gate(0.2).restore(gate.state())


def test_a_topic_that_is_always_right_is_answered_in_the_end() -> None:
    gate, answered = Gate(0.1), []
    for t in range(6000):
        decision = gate.decide("easy", confidence=0.2 + 0.6 * (t % 7) / 6)
        answered.append(decision.answer)
        if decision.answer:
            gate.tell(decision, wrong=False)
    assert not answered[0]
    assert np.mean(answered[-1000:]) > 0.99


def first_answer(gate: Gate, confidences: list[float]) -> tuple[int, float]:
    """The round of the first answer, and the share of answers in 2,000 rounds; all are right."""
    answered = []
    for t in range(2000):
        decision = gate.decide("easy", confidence=confidences[t % len(confidences)])
        answered.append(decision.answer)
        if decision.answer:
            gate.tell(decision, wrong=False)
    return int(np.argmax(answered)), float(np.mean(answered))


@pytest.mark.parametrize("confidences", [[0.9], [0.9, 0.91], [0.9, 0.9, 0.9, 0.91]])
def test_a_gate_opens_when_confidences_are_next_to_constant(confidences: list[float]) -> None:
    first, share = first_answer(Gate(0.05), confidences)
    assert 100 < first < 400
    assert share > 0.4


def test_the_gap_above_all_confidences_is_crossed_in_larger_steps_but_not_passed() -> None:
    gate, low = Gate(0.05), []
    for t in range(2000):
        decision = gate.decide(confidence=(0.9, 0.91)[t % 2])
        low.append(decision.threshold)
        if decision.answer:
            gate.tell(decision, wrong=decision.threshold < 0.9)
    assert low[400] < 0.91
    assert np.diff(low[50:200]).min() == pytest.approx(-0.5 * 0.003 * 0.1, rel=0.03)
    assert np.diff(low[400:600]).min() > -1e-4


def test_where_nothing_is_answered_the_summary_says_why_and_what_to_do() -> None:
    gate = Gate(0.05)
    for _ in range(100):
        gate.decide("mail", confidence=0.8)
    text = str(gate.summary().verdict)
    assert text.startswith("Nothing was answered in 100 rounds: recent confidences reach 0.8 and")
    assert "initial_threshold=0.79" in text
    assert "Nothing about mail is answered at present" in str(gate.summary())
    rounds = int(text.split("about ")[1].split(" ")[0].replace(",", ""))
    first = next(t for t in range(5000) if gate.decide("mail", confidence=0.8).answer)
    assert first == pytest.approx(rounds, abs=5)
    assert gate.summary().topics["mail"].closed is None


def test_a_gate_that_stays_closed_says_so() -> None:
    stays, never, owing = Gate(0.05, idle=0.0), Gate(0.05), Gate(0.05, credit=0.0)
    for _ in range(40):
        stays.decide("mail", confidence=0.8)
        never.decide("mail", confidence=0.0)
        decision = owing.decide("mail", confidence=0.97)
        if decision.answer:
            owing.tell(decision, wrong=True)
    assert "Settings never lower the threshold: audit" in str(stays.summary().verdict)
    assert "A confidence of 0 is never answered" in str(never.summary().verdict)
    assert "Too many answers were wrong" in str(owing.summary())
    assert "raise credit" in str(owing.summary())


@pytest.mark.parametrize(("credit", "way"), [(0.001, "pays for 0.001"), (0.0, "never")])
def test_a_topic_that_bets_keep_closed_says_so(credit: float, way: str) -> None:
    gate = Gate(0.05, credit=credit)
    for t in range(2300):
        decision = gate.decide("news", confidence=0.8 + 0.2 * (t % 50) / 50)
        if decision.answer:
            gate.tell(decision, wrong=t >= 2000)
    assert not any(gate.decide("news", confidence=0.98).answer for _ in range(50))
    text = str(gate.summary())
    assert "Nothing about news is answered at present: recent confidences reach 0.99" in text
    assert "must exceed 1. Bets have raised it from 0.8" in text
    assert way in text
    assert "raise credit." in text


def test_a_confidence_and_the_threshold_above_it_are_told_apart() -> None:
    assert "reach 0.9996 and must exceed 1." in str(Closed(1.0, 0.9996, 9.0, 0.0))
    assert "reach 0.9 and must exceed 0.9." in str(Closed(0.9, 0.9, 9.0, 0.0))


@pytest.mark.slow
def test_a_topic_that_turns_wrong_is_closed_soon_and_opened_again_when_it_is_right() -> None:
    gate, wrong, answered = Gate(0.1), 0, []
    for t in range(9000):
        decision = gate.decide("news", confidence=0.5 + 0.4 * (t % 11) / 10)
        bad = 3000 <= t < 4000
        answered.append(decision.answer)
        wrong += bad and decision.answer
        if decision.answer:
            gate.tell(decision, wrong=bad)
    assert np.mean(answered[2000:3000]) > 0.9
    assert wrong < 100
    assert np.mean(answered[-1000:]) > 0.5


def test_without_credit_and_idle_a_closed_topic_stays_closed() -> None:
    gate = Gate(0.1, credit=0.0, idle=0.0)
    for _ in range(200):
        decision = gate.decide("bad", confidence=0.99)
        if decision.answer:
            gate.tell(decision, wrong=True)
    assert not any(gate.decide("bad", confidence=0.99).answer for _ in range(2000))


def test_a_forgotten_answer_counts_neither_way() -> None:
    gate = Gate(0.1)
    decision = gate.decide("a", confidence=0.99)
    summary = gate.forget(decision).summary()
    assert (summary.answered, summary.wrong, summary.pending) == (0.0, 0.0, 0)
    assert summary.consistent
    with pytest.raises(TicketError, match="waits for no outcome"):
        gate.tell(decision, wrong=False)


def test_confidences_between_98_and_100_percent_are_told_apart() -> None:
    random, gate, made = np.random.default_rng(0), Gate(0.1), []
    for _ in range(4000):
        part = float(random.random())  # of the model's narrow range
        decision = gate.decide("a", confidence=0.98 + 0.02 * part)
        wrong = bool(random.random() > part)
        made.append((decision.answer, part, wrong))
        if decision.answer:
            gate.tell(decision, wrong=wrong)
    answered = [part for answer, part, _ in made[2000:] if answer]
    assert 0.05 < len(answered) / 2000 < 0.35  # 0.2 for the ideal threshold
    assert np.mean(answered) > 0.8


# ---- shadow mode -------------------------------------------------------------------------------


def test_in_shadow_mode_everything_goes_out_and_the_decisions_are_those_of_a_live_gate() -> None:
    live, shadow = Gate(0.1), Gate(0.1, shadow=True)
    for x, confidence, wrong in stream(1500):
        mine, rehearsed = (gate.decide(x, confidence=confidence) for gate in (live, shadow))
        assert rehearsed.answer
        assert (rehearsed.would_answer, rehearsed.threshold) == (mine.answer, mine.threshold)
        shadow.tell(rehearsed, wrong=wrong)  # known for every answer
        if mine.answer:
            live.tell(mine, wrong=wrong)
    ours, theirs = live.summary(), shadow.summary()
    assert (ours.wrong, ours.answered, ours.bound) == (theirs.wrong, theirs.answered, theirs.bound)
    assert theirs.checked == theirs.withheld
    assert "Shadow mode" in str(theirs)


def test_a_shadow_gate_goes_live_with_what_it_has_learned() -> None:
    gate = Gate(0.1, shadow=True)
    for x, confidence, wrong in stream(1500):
        gate.tell(gate.decide(x, confidence=confidence), wrong=wrong)
    threshold = gate.threshold(["legal", 0.5])
    gate.shadow = False
    decision = gate.decide(["legal", 0.5], confidence=threshold)
    assert not decision.answer
    assert decision.threshold == threshold


# ---- inputs ------------------------------------------------------------------------------------


def test_texts_are_topics_and_numbers_are_features() -> None:
    gate = Gate(0.1)
    gate.decide(["billing", 0.5, "en"], confidence=0.1)
    gate.decide(["billing", None, None], confidence=0.1, groups={"gold": 0.5})
    summary = gate.summary()
    counts = {name: topic.withheld for name, topic in summary.topics.items()}
    assert counts == {"billing": 2.0, "en": 1.0, "gold": 0.5}
    assert gate._bettors.engine.dimensions == 1


def test_an_array_of_numbers_a_text_and_nothing_are_inputs_too() -> None:
    for x in (np.array([0.1, 0.2]), [0.1, 0.2], "billing", None, 0.3):
        gate = Gate(0.1)
        assert not gate.decide(x, confidence=0.1).answer
        assert math.isfinite(gate.threshold(x))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda g: g.decide("a", confidence=1.2), "confidence must lie in"),
        (lambda g: g.decide("a", confidence="high"), "confidence must be a number"),
        (lambda g: g.decide("a", confidence=math.nan), "confidence must be finite"),
        (lambda g: g.decide([0.5, "a"], confidence=0.5), "text where the first x had text"),
        (lambda g: g.decide(["a", 0.5, 1.0], confidence=0.5), "x must have 2 values"),
        (lambda g: g.decide(["a", "b"], confidence=0.5), "text where the first x had text"),
        (lambda g: g.decide(["a", 0.5], confidence=0.5, groups={"b": 2.0}), "must lie in"),
        (lambda g: g.tell(1, wrong=0.5), "wrong must be True or False"),
        (lambda g: g.tell(2, wrong=True), "was withheld"),
        (lambda g: g.audit(1, wrong=True), "went out"),
        (lambda g: g.audit(9, wrong=True), "waits for no outcome"),
        (lambda g: g.tell(9, wrong=True), "waits for no outcome"),
        (lambda g: g.forget(9), "waits for no outcome"),
        (lambda g: g.tell(1.0, wrong=True), "id must be a whole number"),
        (lambda g: g.tell("1", wrong=True), "'1' waits for no outcome"),
        (lambda g: g.decide(["a", 0.5], confidence=0.5, key=""), "key must be text"),
    ],
)
def test_a_call_that_fails_says_why_and_changes_nothing(call: Any, message: str) -> None:
    gate = Gate(0.1)
    gate.decide(["a", 0.5], confidence=0.99)
    gate.decide(["a", 0.5], confidence=0.1)
    before = gate.state()
    with pytest.raises((TypeError, ValueError, TicketError), match=message):
        call(gate)
    assert gate.state() == before


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"wrong_at_most": 0.0}, "wrong_at_most must lie strictly"),
        ({"wrong_at_most": 1.0}, "wrong_at_most must lie strictly"),
        ({"wrong_at_most": 0.05, "credit": 0.06}, "credit must be at most"),
        ({"wrong_at_most": 0.05, "credit": -0.1}, "credit must not be negative"),
        ({"wrong_at_most": 0.05, "idle": -0.1}, "idle must not be negative"),
        ({"wrong_at_most": 0.05, "initial_threshold": 1.5}, "initial_threshold must lie in"),
        ({"wrong_at_most": 0.05, "auditable": 0.5}, "auditable must be a whole number"),
    ],
)
def test_settings_that_make_no_sense_are_rejected(arguments: Any, message: str) -> None:
    with pytest.raises((TypeError, ValueError), match=message):
        Gate(**arguments)


def test_only_the_last_withheld_decisions_can_be_audited() -> None:
    gate = Gate(0.1, auditable=3)
    made = [gate.decide("a", confidence=0.1) for _ in range(5)]
    with pytest.raises(TicketError, match="auditable"):
        gate.audit(made[1], wrong=True)
    assert gate.audit(made[2], wrong=True).summary().checked == 1.0


# ---- state -------------------------------------------------------------------------------------


def test_a_state_resumes_bit_for_bit_with_everything_open(tmp_path: Path) -> None:
    gate = Gate(0.1, idle=0.01)
    play(gate, 700, late=20)
    gate.save(tmp_path / "gate")
    other = Gate.load(tmp_path / "gate")
    assert other.pending == gate.pending
    assert other.state() == gate.state()
    for each in (gate, other):
        for decision in each.pending:
            each.tell(decision.id, wrong=decision.id % 9 == 0)
        each.audit(next(iter(each._records.withheld)), wrong=True)
    assert play(other, 300, seed=1) == play(gate, 300, seed=1)
    assert other.state() == gate.state()


def test_a_state_of_an_earlier_release_counts_what_went_out() -> None:
    gate = Gate.load(Path(__file__).parents[1] / "golden" / "models_v4" / "gate.bin")
    summary = gate.summary()
    assert summary.waiting == len(gate.pending) > 0
    assert summary.sent == summary.answered + summary.waiting
    parts = summary.topics.values()
    assert sum(part.waiting for part in parts) == summary.waiting
    assert Gate.from_state(gate.state()).summary() == summary


def test_a_fresh_gate_has_a_state() -> None:
    gate = Gate(0.1, shadow=True, credit=0.0)
    other = Gate.from_state(gate.state())
    assert other.shadow
    assert other.credit == 0.0
    assert play(other, 50) == play(gate, 50)


def test_a_state_of_something_else_or_a_damaged_one_is_rejected() -> None:
    gate = Gate(0.1)
    play(gate, 50, late=5)
    with pytest.raises(StateError, match="AutoLARC"):
        Gate.from_state(AutoLARC(0.1).state())
    gate._records.sent.popitem()
    gate._records.sent[10**6] = gate._records.sent[next(iter(gate._records.sent))]
    with pytest.raises(StateError, match="not those of its bettors"):
        Gate.from_state(gate.state())


def test_resetting_is_starting_anew() -> None:
    gate = Gate(0.1)
    first = play(gate, 200)
    assert play(gate.reset(), 200) == first


def test_a_topic_that_a_full_table_has_no_room_for_has_no_bound() -> None:
    gate = Gate(0.1, max_bytes=40_000)
    for name in range(500):
        gate.decide(groups=name, confidence=0.1)
    bounds = [part.bound for part in gate.summary().topics.values()]
    assert math.isinf(max(bounds))
    assert math.isfinite(min(bounds))
    assert gate.summary().consistent
    assert gate._bettors.engine.numbers[layout.REFUSED_GROUPS] > 0.0


def test_a_round_that_was_lost_between_counts_and_bettors_is_reported() -> None:
    gate = Gate(0.1)
    play(gate, 300)
    assert gate.summary().verdict.state != "inconsistent"
    records = gate._records
    records.everyone = replace(records.everyone, wrong=records.everyone.wrong + 1.0)
    assert gate.summary().verdict.state == "inconsistent"


def test_a_gate_in_use_by_another_thread_raises() -> None:
    gate = Gate(0.1)

    def meanwhile() -> None:
        with pytest.raises(RuntimeError, match="another thread"):
            gate.decide("a", confidence=0.5)

    gate._alone(meanwhile)
