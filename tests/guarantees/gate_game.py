"""A gate beside theorem E, on the base thresholds that it had."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

from guarantees import verdict_oracle
from guarantees.oracle_checks import close
from guarantees.theorem_e_oracle import ALL, UP, Round, Rules, TheoremE
from guarantees.verdict_oracle import Seen
from localarc import Gate
from localarc.calibrators.gate.bettors import GateBettors


@dataclass(frozen=True)
class Questions:
    """A random stream of questions, and the gate that decides about them."""

    topics: tuple[str, ...] = ()
    rounds: int = 300
    delay: int = 0
    alpha: float = 0.2
    credit: float = 0.01
    wrong: float = 0.2  # how often an answer of confidence 1/2 is wrong
    seed: int = 5


@dataclass
class Terms:
    """What happened, by weight."""

    answered: float = 0.0
    wrong: float = 0.0
    withheld: float = 0.0
    checked: float = 0.0
    checked_wrong: float = 0.0


@dataclass
class GateSent:
    """An answer that waits for its outcome."""

    id: Any
    round: Round
    topics: dict[str, float]
    bad: bool


@dataclass
class GateGame:
    """The same rounds for a gate and for theorem E, whose withheld rounds cost alpha - credit."""

    stream: Questions
    patch: pytest.MonkeyPatch
    pending: list[GateSent] = field(default_factory=list)
    terms: defaultdict[Hashable, Terms] = field(default_factory=lambda: defaultdict(Terms))

    def __post_init__(self) -> None:
        stream = self.stream
        self.gate = Gate(stream.alpha, credit=stream.credit)
        self.theorem = TheoremE(Rules(stream.alpha, 1.0, False, 0.0, 1.0))
        self.random = np.random.default_rng(stream.seed)
        self.given = math.nan, math.nan
        given = GateBettors._given

        def spy(bettors: GateBettors, point: Any, groups: Any) -> tuple[float, float]:
            self.given = given(bettors, point, groups)
            return self.given

        self.patch.setattr(GateBettors, "_given", spy)

    def play(self) -> GateGame:
        for t in range(self.stream.rounds):
            self.decide()
            while len(self.pending) > self.stream.delay:
                self.report(self.pending.pop(int(self.random.integers(len(self.pending)))))
            if t % 90 == 17:
                self.check()
        self.check()
        return self

    def decide(self) -> None:
        random, stream = self.random, self.stream
        topics = {
            n: float(random.choice([0.5, 1.0])) for n in stream.topics if random.random() < 0.6
        }
        sure = float(random.uniform(0.4, 1.0))
        bad = bool(random.random() < 2.0 * stream.wrong * (1.0 - sure) + (0.4 * ("b" in topics)))
        made = self.gate.decide(groups=topics, confidence=sure)
        nodes = {ALL: 1.0} | {("group", name): weight for name, weight in topics.items()}
        base, unit = self.given
        play = self.theorem.play(nodes, min(max(base, 0.0), 1.0), unit)
        assert made.threshold == close(play.threshold)
        assert made.answer == (sure > made.threshold)
        sent = self.theorem.ask(nodes, play)
        if made.answer:
            self.pending.append(GateSent(made.id, sent, topics, bad))
            return
        self.theorem.tell(sent, stream.alpha - stream.credit)
        self.count(topics, withheld=1.0)
        if random.random() < 0.2:
            self.gate.audit(made.id, wrong=bad)
            self.count(topics, checked=1.0, checked_wrong=float(bad))

    def report(self, sent: GateSent) -> None:
        if self.stream.delay and self.random.random() < 0.1:
            self.gate.forget(sent.id)
            self.theorem.forget(sent.round)
            return
        self.gate.tell(sent.id, wrong=sent.bad)
        self.theorem.tell(sent.round, float(sent.bad))
        self.count(sent.topics, answered=1.0, wrong=float(sent.bad))

    def count(self, topics: dict[str, float], **what: float) -> None:
        for name, weight in [(ALL, 1.0), *topics.items()]:
            for part, number in what.items():
                terms = self.terms[name]
                setattr(terms, part, getattr(terms, part) + weight * number)

    # ---- what it says ------------------------------------------------------------------------

    def check(self) -> None:
        summary, certificate = self.gate.summary(), self.gate.certificate()
        names = {name for name, terms in self.terms.items() if terms != Terms()} - {ALL}
        assert {*summary.topics} == {*certificate.groups} == names
        self.check_terms(ALL, summary, certificate)
        for name in names:
            self.check_terms(name, summary.topics[name], certificate.groups[name])
        assert summary.pending == len(self.pending)
        assert certificate.rounds == int(self.terms[ALL].answered)
        assert certificate.observed == certificate.above
        assert certificate.consistent
        self.check_verdict(summary, names)

    def check_terms(self, name: Hashable, part: Any, node: Any) -> None:
        stream, terms = self.stream, self.terms[name]
        key = name if name == ALL else ("group", name)
        theorem = self.theorem
        assert theorem.lost(UP) == 0.0
        bound = theorem.rules.top * theorem.gain(key, UP, theorem.granted())
        limit = stream.alpha * terms.answered + stream.credit * terms.withheld + bound
        for field_name in ("answered", "wrong", "withheld", "checked", "checked_wrong"):
            assert getattr(part, field_name) == pytest.approx(getattr(terms, field_name))
        assert (part.bound, part.limit) == (close(bound), close(limit))
        assert part.consistent
        assert (node.rounds, node.alpha) == (pytest.approx(terms.answered), stream.alpha)
        assert node.excess == close(terms.wrong - stream.alpha * terms.answered)
        assert node.worst_stretch == close(theorem.at(key).worst_stretch)
        assert node.below.value == stream.alpha
        assert node.above.holds == bool(terms.answered)
        if terms.answered:
            share = terms.wrong / terms.answered
            above = min(limit / terms.answered - stream.alpha, 1.0 - stream.alpha)
            assert (node.risk, part.wrong_share) == (close(share), close(share))
            assert node.above.value == close(above)

    def check_verdict(self, summary: Any, names: set[Hashable]) -> None:
        alpha, terms = self.stream.alpha, self.terms
        parts = [
            Seen(terms[name].answered, terms[name].wrong / terms[name].answered)
            for name in names
            if terms[name].answered
        ]
        everyone = terms[ALL]
        risk = everyone.wrong / everyone.answered if everyone.answered else math.nan
        expected = verdict_oracle.state(alpha, risk, int(everyone.answered), parts=parts)
        assert summary.verdict.state == expected
