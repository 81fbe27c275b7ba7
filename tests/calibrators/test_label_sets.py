"""LabelSets: one threshold per candidate label, so that every true class is covered."""

import math
from collections import defaultdict
from collections.abc import Hashable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from localarc import LabelSets, StateError
from localarc.calibrators.auto.groups import key_of
from localarc.calibrators.auto.label_base import LabelBase
from localarc.calibrators.tickets import TicketError
from localarc.engine.auto import label_rounds, layout
from localarc.engine.auto.label_scores import COUNT, KEPT, LATEST, QUANTILE
from localarc.validation import FloatArray

LABELS = ["a", "b", "c"]


def rounds(count: int, seed: int = 0) -> list[tuple[FloatArray, str]]:
    """Scores of three labels whose scales differ by a factor of 30, and the true label."""
    random = np.random.default_rng(seed)
    true = random.integers(3, size=count)
    scores = (1.5 + 1.5 * np.abs(random.normal(size=(count, 3)))) * 30.0 ** np.linspace(0, 1, 3)
    own = np.abs(random.normal(size=count)) * 30.0 ** (true / 2)
    scores[np.arange(count), true] = own
    return [(row, LABELS[label]) for row, label in zip(scores, true, strict=True)]


def missed(cal: LabelSets, scores: FloatArray, label: str, **where: Any) -> float:
    return float(label not in cal.predict(None, scores, **where))


def test_every_class_is_covered_although_scores_differ_by_a_factor_of_30() -> None:
    cal, losses, sizes = LabelSets(0.1, LABELS), defaultdict(list), []
    for scores, label in rounds(3000):
        labels = cal.predict(None, scores)
        sizes.append(len(labels))
        losses[label].append(label not in labels)
        cal.update(None, scores, label)
    assert all(abs(np.mean(part) - 0.1) < 0.02 for part in losses.values())
    assert np.mean(sizes) < 1.3


def test_a_class_whose_scores_double_is_covered_soon_after() -> None:
    cal, late = LabelSets(0.1, LABELS), defaultdict(list)
    for t, (scores, label) in enumerate(rounds(3000)):
        row = scores * (2.0 if t >= 1500 else 1.0)
        if t >= 1500:
            late[label].append(missed(cal, row, label))
        cal.update(None, row, label)
    assert all(abs(np.mean(part) - 0.1) < 0.04 for part in late.values())


def test_the_set_is_made_of_the_labels_whose_score_is_at_most_their_threshold() -> None:
    cal = LabelSets(0.1, LABELS)
    for scores, label in rounds(100):
        thresholds = cal.thresholds()
        expected = tuple(
            name for name, score in zip(LABELS, scores, strict=True) if score <= thresholds[name]
        )
        ticket = cal.ask(None, scores)
        assert cal.forget(ticket).predict(None, scores) == ticket.labels == expected
        assert ticket.thresholds == thresholds
        cal.update(None, dict(zip(LABELS, scores, strict=True)), label)


def test_asking_and_telling_at_once_is_updating() -> None:
    one, other = LabelSets(0.1, LABELS), LabelSets(0.1, LABELS)
    for t, (scores, label) in enumerate(rounds(200)):
        where: Any = ["even", str(t % 3)] if t % 2 else ()
        one.update(None, scores, label, groups=where)
        other.tell(other.ask(None, scores, groups=where), label)
        assert one.thresholds(groups="even") == other.thresholds(groups="even")
    assert one.risk == other.risk
    mine, theirs = one.certificate(), other.certificate()
    assert mine.groups.keys() == theirs.groups.keys()
    for name, part in mine.groups.items():
        assert (part.rounds, part.excess) == (
            theirs.groups[name].rounds,
            theirs.groups[name].excess,
        )


def waiting(cal: LabelSets) -> dict[str, float]:
    """The weight that is pending at the node of each label."""
    engine: Any = cal._engine
    return {name: engine.node(key_of(name))[layout.WEIGHT_PENDING] for name in LABELS}


def test_only_the_true_label_learns_and_the_others_wait_no_longer() -> None:
    cal = LabelSets(0.1, LABELS)
    for scores, label in rounds(50):
        cal.update(None, scores, label)
    seen = {name: part.rounds for name, part in cal.certificate().groups.items()}
    wrong = {"a": 9e3, "b": 0.0, "c": 0.0}
    tickets = [cal.ask(None, wrong) for _ in range(3)]
    cal.tell(tickets[1], "a")
    found = {name: part.rounds for name, part in cal.certificate().groups.items()}
    assert found == seen | {"a": seen["a"] + 1}
    assert waiting(cal) == dict.fromkeys(LABELS, 2.0)
    cal.tell(tickets[0], "b").forget(tickets[2])
    assert waiting(cal) == dict.fromkeys(LABELS, 0.0)


def test_a_label_with_few_scores_is_excluded_only_beyond_every_score_seen() -> None:
    cal = LabelSets(0.1)
    for score in np.linspace(0.0, 0.9, 91):
        cal.update(None, {"common": score, "rare": 0.6}, "common")
    assert "rare" in cal.predict(None, {"common": 0.1, "rare": 0.89})
    for score in np.linspace(0.0, 0.3, 91):
        cal.update(None, {"common": 0.9, "rare": score}, "rare")
    assert "rare" not in cal.predict(None, {"common": 0.1, "rare": 0.89})


def test_a_rare_label_with_the_largest_scores_is_covered() -> None:
    random = np.random.default_rng(0)
    cal, losses = LabelSets(0.1, ["common", "rare"]), []
    for _ in range(12_000):
        scores = random.random(2) + np.array([0.0, 10.0])
        if random.random() < 0.98:
            cal.update(None, scores, "common")
            continue
        losses.append("rare" not in cal.predict(None, scores))
        cal.update(None, scores, "rare")
    assert len(losses) > 200
    assert abs(np.mean(losses) - 0.1) < 0.03


def test_labels_are_added_when_they_first_appear() -> None:
    cal = LabelSets(0.1, initial_threshold=1.0)
    cal.update(None, {"a": 0.2, "b": 0.4}, "a")
    assert [*cal.thresholds()] == ["a"]
    cal.update(None, {"a": 0.2, "new": 0.4}, "a")
    cal.update(None, {"a": 0.2, "new": 0.4}, "new")
    assert [*cal.certificate().groups] == ["a", "new"]


def test_a_label_in_a_group_has_a_certificate_of_its_own() -> None:
    cal, losses = LabelSets(0.1, LABELS, initial_threshold=1.0), defaultdict(list)
    for t, (scores, label) in enumerate(rounds(300)):
        group = "odd" if t % 2 else "even"
        losses[label, group].append(missed(cal, scores, label, groups=group))
        cal.update(None, scores, label, groups=group)
    found = cal.certificate().groups
    for node, part in losses.items():
        assert found[node].rounds == len(part)
        assert found[node].risk == pytest.approx(np.mean(part), abs=1e-12)


# ---- adversaries: the bound of theorem E, against a log of losses kept here ----------------------


@pytest.mark.slow
@given(
    seed=st.integers(0, 2**32 - 1),
    delay=st.sampled_from([0, 1, 7]),
    alpha=st.sampled_from([0.05, 0.1, 0.4]),
    promise=st.sampled_from(["both", "at most"]),
)
def test_no_order_of_labels_and_scores_breaks_the_bound_of_a_label(
    seed: int, delay: int, alpha: float, promise: str
) -> None:
    log = Attack(LabelSets(alpha, LABELS, promise=promise, initial_threshold=0.0), seed, delay)
    certificate = log.cal.certificate(losses=log.all)
    assert certificate.consistent
    for name, losses in log.losses.items():
        part, excess = certificate.groups[name], float(np.mean(losses)) - alpha
        assert part.rounds == len(losses)
        assert part.risk == pytest.approx(np.mean(losses), abs=1e-9)
        assert -part.below.value - 1e-9 <= excess <= part.above.value + 1e-9
        assert not part.above.unmet


class Attack:
    """Labels and scores against the thresholds in play; labels arrive late, in any order."""

    def __init__(self, cal: LabelSets, seed: int, delay: int) -> None:
        self.cal, self.random = cal, np.random.default_rng(seed)
        self.losses: dict[Hashable, list[float]] = defaultdict(list)
        self.all: list[float] = []
        waiting: list[tuple[Any, str]] = []
        for _ in range(250):
            label = LABELS[int(self.random.integers(3) * self.random.random())]
            waiting.append((cal.ask(None, self.scores(label)), label))
            while len(waiting) > delay:
                self.tell(*waiting.pop(int(self.random.integers(len(waiting)))))
        while waiting:
            self.tell(*waiting.pop())

    def scores(self, label: str) -> dict[Hashable, float]:
        """Just above the threshold of the label that will be true, or just below it."""
        found = dict(self.cal.thresholds(labels=LABELS))
        away = 1e-3 if self.random.random() < 0.3 else -1e-3
        return found | {label: float(np.clip(found[label] + away, 0.0, 5.0))}

    def tell(self, ticket: Any, label: str) -> None:
        loss = float(label not in ticket.labels)
        self.losses[label].append(loss)
        self.all.append(loss)
        self.cal.tell(ticket, label)


# ---- state ---------------------------------------------------------------------------------------


def test_a_stored_state_continues_bit_for_bit_with_its_pending_tickets(tmp_path: Any) -> None:
    cal = LabelSets(0.1, LABELS)
    for scores, label in rounds(60):
        cal.update([0.5], scores, label, groups="g")
    tickets = [cal.ask([0.2], scores, groups="g") for scores, _ in rounds(5, seed=1)]
    cal.save(tmp_path / "state")
    again = LabelSets.load(tmp_path / "state")
    assert again.pending == cal.pending == tuple(tickets)
    for ticket in (tickets[3], tickets[0]):
        cal.tell(ticket, "b")
        again.tell(ticket.id, "b")
    for scores, label in rounds(60, seed=2):
        cal.update([0.5], scores, label)
        again.update([0.5], scores, label)
    assert cal.state() == again.state()


def test_a_state_is_restored_only_into_the_same_labels() -> None:
    cal = LabelSets(0.1, LABELS).update(None, [0.1, 0.2, 0.3], "a")
    state = cal.state()
    with pytest.raises(StateError, match="labels"):
        LabelSets(0.1, ["a", "b"]).restore(state)
    with pytest.raises(StateError, match="other settings"):
        LabelSets(0.2, LABELS).restore(state)
    assert LabelSets(0.1, LABELS).restore(state).thresholds() == cal.thresholds()


# ---- input ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("scores", "label", "message"),
    [
        ([0.1, 0.2], "a", "one number for each of the 3"),
        ([0.1, 0.2, math.nan], "a", "must be a number"),
        ({}, "a", "at least one candidate"),
        ({"a": 1e300}, "a", "magnitude"),
        ({("a", 1): 0.3}, "a", "text or a number"),
        ([0.1, 0.2, 0.3], "z", "has no score"),
    ],
)
def test_a_call_with_invalid_scores_changes_nothing(scores: Any, label: str, message: str) -> None:
    cal = LabelSets(0.1, LABELS).update(None, [0.1, 0.2, 0.3], "a")
    before = cal.state()
    with pytest.raises(ValueError, match=message):
        cal.update(None, scores, label)
    assert cal.state() == before


def test_an_array_of_scores_requires_the_order_of_labels() -> None:
    with pytest.raises(ValueError, match=r"labels=\[...\]"):
        LabelSets(0.1).update(None, [0.1, 0.2], "a")


@pytest.mark.parametrize("labels", ["abc", [], ["a", "a"], [("a", "b")], [math.nan], [math.inf]])
def test_labels_are_distinct_texts_or_numbers(labels: Any) -> None:
    with pytest.raises(ValueError, match="label"):
        LabelSets(0.1, labels)


def test_a_label_is_told_once_and_only_if_it_was_a_candidate() -> None:
    cal = LabelSets(0.1)
    ticket = cal.ask(None, {"a": 0.2, "b": 0.4})
    with pytest.raises(ValueError, match="has no score"):
        cal.tell(ticket, "z")
    cal.tell(ticket, "b")
    with pytest.raises(TicketError):
        cal.tell(ticket, "b")
    with pytest.raises(TicketError):
        cal.forget(ticket)


def test_an_impossible_label_that_was_true_is_a_miss_and_no_score() -> None:
    cal = LabelSets(0.1, initial_threshold=1.0).update(None, {"a": 0.2, "b": 0.4}, "a")
    cal.update(None, {"a": 0.2, "b": math.inf}, "b")
    assert cal.certificate().groups["b"].risk == 1.0
    assert all(map(math.isfinite, cal.thresholds().values()))


def test_a_call_while_another_thread_is_inside_raises() -> None:
    cal = LabelSets(0.1, LABELS).update(None, [0.1, 0.2, 0.3], "a")
    with cal._exclusive():
        for call in (
            lambda: cal.update(None, [0.1, 0.2, 0.3], "a"),
            lambda: cal.predict(None, [0.1, 0.2, 0.3]),
            lambda: cal.ask(None, [0.1, 0.2, 0.3]),
            lambda: cal.thresholds(),
        ):
            with pytest.raises(RuntimeError, match="another thread"):
                call()
    assert cal.update(None, [0.1, 0.2, 0.3], "a").rounds == 2


def test_an_interrupt_after_the_bettors_have_learned_leaves_no_ticket_behind(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    cal = LabelSets(0.1, LABELS)
    first, second = (cal.ask(None, [0.1, 0.2, 0.3]) for _ in range(2))
    told = label_rounds.tell

    def interrupted(*arguments: Any) -> int:
        told(*arguments)
        raise KeyboardInterrupt

    monkeypatch.setattr(label_rounds, "tell", interrupted)
    with pytest.raises(KeyboardInterrupt):
        cal.tell(first, "a")
    monkeypatch.undo()
    assert (cal.rounds, cal.pending) == (1, (second,))
    with pytest.raises(TicketError):
        cal.tell(first, "a")
    assert (
        LabelSets.from_state(cal.state()).tell(second, "b").state() == cal.tell(second, "b").state()
    )


# ---- recent scores -------------------------------------------------------------------------------


def taught(scores: Any, alpha: float = 0.1) -> LabelBase:
    base = LabelBase(alpha, 1.0)
    for score in scores:
        base.learn("a", score, 0.0, 0)
    return base


def facts(base: LabelBase) -> FloatArray:
    row: FloatArray = base.tables.facts[base.rows["a"]]
    return row


@pytest.mark.slow
@given(st.lists(st.floats(-1e6, 1e6), max_size=40), st.sampled_from([0.05, 0.1, 0.5]))
def test_recent_scores_are_those_of_a_sorted_list(scores: list[float], alpha: float) -> None:
    given = [*np.linspace(-1.0, 1.0, 50).tolist(), *scores]
    base, kept = taught(given, alpha), sorted(given)
    found = base.tables.ordered[base.rows["a"], : len(kept)]
    assert (int(facts(base)[COUNT]), found.tolist()) == (len(kept), kept)
    rank = math.ceil(round((1 - alpha) * (len(kept) + 1), 9))
    assert facts(base)[QUANTILE] == kept[rank - 1]


@pytest.mark.slow
def test_the_oldest_of_many_scores_is_forgotten() -> None:
    scores = np.random.default_rng(0).uniform(size=2 * KEPT)
    base = taught(scores)
    assert base.arrays()["label scores"].tolist() == scores[-KEPT:].tolist()


@pytest.mark.slow
def test_nine_scores_are_the_fewest_for_a_quantile_of_a_tenth() -> None:
    assert facts(taught(range(8)))[QUANTILE] == math.inf
    assert facts(taught(range(9)))[QUANTILE] == 8


@pytest.mark.parametrize("factor", [3.0, 1.0 / 3.0])
def test_scores_before_a_sudden_change_are_forgotten_soon(factor: float) -> None:
    random = np.random.default_rng(1)
    before, after = random.exponential(size=KEPT), factor * random.exponential(size=2 * LATEST)
    base = taught([*before, *after])
    assert LATEST <= facts(base)[COUNT] < 3 * LATEST
    assert facts(base)[QUANTILE] == pytest.approx(factor * math.log(10.0), rel=0.5)


def test_scores_without_a_change_are_seldom_forgotten() -> None:
    counts = []
    for seed in range(20):
        base = taught(np.random.default_rng(seed).exponential(size=2000))
        counts.append(facts(base)[COUNT])
    assert np.mean(counts) > 0.7 * KEPT


def test_a_base_that_forgot_continues_from_its_state_bit_for_bit() -> None:
    random = np.random.default_rng(1)
    base = taught([*random.exponential(size=KEPT), *(3.0 * random.exponential(size=2 * LATEST))])
    again = LabelBase(0.1, 1.0)
    again.restore(base.to_json(), base.arrays())
    for score in random.exponential(size=100):
        for each in (base, again):
            each.learn("a", float(score), float(score > 2.0), 1.0)
    assert [part.tolist() for part in base.arrays().values()] == [
        part.tolist() for part in again.arrays().values()
    ]
    assert np.array_equal(base.thresholds(["a", "b"]), again.thresholds(["a", "b"]))
