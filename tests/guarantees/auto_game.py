"""AutoLARC beside its formulas and theorem E, round by round, on one random stream."""

from __future__ import annotations

import math
from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from engine.auto_reference import Pending, Reference
from guarantees.oracle_checks import assert_certificate, close
from guarantees.theorem_e_oracle import ALL, Play, Round, Rules, TheoremE
from localarc import AutoLARC


@dataclass(frozen=True)
class Stream:
    """A random stream, and the calibrator that it is for."""

    d: int = 0
    rounds: int = 200
    groups: tuple[Hashable, ...] = ()
    delay: int = 0  # the most rounds that are pending at once
    two: bool = True
    limits: tuple[float | None, float | None] = (None, None)
    alpha: float = 0.1
    bound: float = 1.0
    harmless: float = 0.05
    adverse: float = 0.0  # how often a score is above every threshold so far
    hopeless: tuple[int, int] = (0, 0)  # from and up to which round a score is above any threshold
    fractional: bool = False
    grows: float = 0.0  # how much larger scores become
    start: float | None = 0.0  # the initial threshold, None for the default
    seed: int = 1

    @property
    def rules(self) -> Rules:
        low, high = self.limits
        floor = -math.inf if low is None else low
        return Rules(self.alpha, self.bound, self.two, floor, math.inf if high is None else high)

    def settings(self) -> dict[str, Any]:
        """The arguments of AutoLARC and Safeguard."""
        promise = "both" if self.two else "at most"
        return {"limits": self.limits, "promise": promise, "loss_bound": self.bound}


@dataclass
class Sent:
    """A threshold that went out, to all players."""

    ticket: Any
    reference: Pending
    round: Round
    x: Any
    groups: dict[Hashable, float]
    score: float


@dataclass
class Draw:
    """What the stream brings."""

    stream: Stream
    random: np.random.Generator = field(init=False)
    asked: int = 0

    def __post_init__(self) -> None:
        self.random = np.random.default_rng(self.stream.seed)

    def input(self) -> tuple[Any, dict[Hashable, float], float]:
        """Features, groups with weights, and the score."""
        stream, random = self.stream, self.random
        self.asked += 1
        x = random.normal(size=stream.d)
        groups: dict[Hashable, float] = {}
        for name in stream.groups:
            if random.random() < 0.6:
                groups[name] = float(random.choice([0.25, 0.5, 1.0]))
        trend = 1.0 + stream.grows * self.asked / stream.rounds
        score = trend * abs(random.normal()) * (0.3 + (abs(x[0]) if stream.d else 0.0))
        return x, groups, -math.inf if random.random() < stream.harmless else float(score)

    def outcome(self, score: float, threshold: float) -> tuple[float, float]:
        """The loss, and the score as it becomes known."""
        stream, random = self.stream, self.random
        if random.random() < stream.adverse:
            score = threshold + 0.1
        if stream.hopeless[0] < self.asked <= stream.hopeless[1]:
            score = math.inf
        size = float(random.uniform(0.5, 1.0)) if stream.fractional else 1.0
        return (stream.bound * size if score > threshold else 0.0), score


class AutoGame:
    """The same rounds for AutoLARC, for the formulas of its base, and for theorem E."""

    def __init__(self, stream: Stream) -> None:
        self.stream, self.draw = stream, Draw(stream)
        self.theorem = TheoremE(stream.rules)
        self.cal, self.reference = self.players()
        self.pending: list[Sent] = []
        self.losses: list[float] = []
        self.widest = 0  # groups of a round

    def players(self) -> tuple[Any, Reference]:
        stream, rules = self.stream, self.stream.rules
        limits = rules.floor, rules.ceiling
        given: dict[str, Any] = {} if stream.start is None else {"initial_threshold": stream.start}
        start = default_start(stream.alpha) if stream.start is None else stream.start
        reference = Reference(stream.alpha, stream.d, stream.bound, limits, stream.two, start)
        return AutoLARC(stream.alpha, **stream.settings(), **given), reference

    def play(self) -> AutoGame:
        """All rounds, with certificates on the way; some losses never come."""
        for t in range(self.stream.rounds):
            self.ask()
            random = self.draw.random
            while len(self.pending) > self.stream.delay or (self.pending and random.random() < 0.2):
                self.settle(self.pending.pop(int(random.integers(len(self.pending)))))
            if t % max(60, self.stream.rounds // 4) == 17:
                self.check()
        self.check()
        return self

    def ask(self) -> None:
        x, groups, score = self.draw.input()
        given = [(name, groups[name]) for name in groups]
        reference = self.reference.ask(x, given)
        ticket = self.cal.ask(x, groups)
        weights = {key: weight for key, weight, _ in reference.nodes}
        self.widest = max(self.widest, len(groups))
        play = self.played(weights, reference)
        assert ticket.threshold == close(play.threshold)
        made = self.theorem.ask(weights, play)
        self.pending.append(Sent(ticket, reference, made, x, groups, score))

    def played(self, weights: dict[Any, float], reference: Pending) -> Play:
        """What theorem E makes of the base: the threshold that went out; no bets without nodes."""
        if not weights:
            return Play(reference.base, reference.unit, -math.inf, reference.threshold)
        play = self.theorem.play(weights, reference.base, reference.unit)
        assert play.threshold == close(reference.threshold)
        return play

    def settle(self, sent: Sent) -> None:
        if self.stream.delay and self.draw.random.random() < 0.1:
            self.cal.forget(sent.ticket)
            self.reference.forget(sent.reference)
            self.theorem.forget(sent.round)
            return
        loss, score = self.draw.outcome(sent.score, sent.ticket.threshold)
        self.cal.tell(sent.ticket, loss, score)
        self.reference.tell(sent.reference, loss, score)
        self.theorem.tell(sent.round, loss, score)
        self.losses.append(loss)

    @property
    def names(self) -> dict[Hashable, Any]:
        """What the oracle calls each group."""
        return {key[1]: key for key in self.theorem.sides if key != ALL and key[0] == "group"}

    def check(self) -> None:
        """Everything that the certificate says now."""
        d = self.stream.d
        hats = 6 * (3 * d + 1 if d > 1 else 2 * d)
        found = self.cal.certificate(losses=self.losses)
        assert_certificate(found, self.theorem, self.names, nodes=1 + hats + self.widest)


def default_start(alpha: float) -> float:
    """The threshold before anything is known."""
    return AutoLARC(alpha).threshold(None)
