"""LabelSets beside theorem E, on the base thresholds that it had."""

from __future__ import annotations

import math
from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from guarantees.oracle_checks import assert_certificate, close
from guarantees.theorem_e_oracle import ALL, Play, Round, Rules, TheoremE
from localarc import LabelSets
from localarc.calibrators.auto.label_base import LabelBase


@dataclass(frozen=True)
class LabelStream:
    """A random stream of labels."""

    labels: tuple[str, ...] = ("cat", "dog", "emu")
    rounds: int = 300
    groups: tuple[Hashable, ...] = ()
    delay: int = 0
    alpha: float = 0.3
    two: bool = True
    limits: tuple[float | None, float | None] = (None, None)
    seed: int = 3


@dataclass
class LabelSent:
    """A round that waits for its label."""

    ticket: Any
    plays: dict[str, Play]
    nodes: dict[str, dict[Any, float]]
    scores: dict[str, float]
    label: str
    round: Round


def spied_bases(patch: pytest.MonkeyPatch) -> dict[Hashable, tuple[float, float]]:
    """The base and the unit that each label had when it was asked for last."""
    seen: dict[Hashable, tuple[float, float]] = {}
    thresholds = LabelBase.thresholds

    def spy(self: LabelBase, labels: Any) -> Any:
        bases, units = thresholds(self, labels)
        seen.update(zip(labels, zip(bases.tolist(), units.tolist(), strict=True), strict=True))
        return bases, units

    patch.setattr(LabelBase, "thresholds", spy)
    return seen


class LabelGame:
    """The same rounds for LabelSets and for theorem E: only the true label is charged."""

    def __init__(self, stream: LabelStream, patch: pytest.MonkeyPatch) -> None:
        self.stream, self.bases = stream, spied_bases(patch)
        low, high = (-math.inf if v is None else v for v in stream.limits)
        high = math.inf if stream.limits[1] is None else high
        self.theorem = TheoremE(Rules(stream.alpha, 1.0, stream.two, low, high))
        promise = "both" if stream.two else "at most"
        self.cal = LabelSets(
            stream.alpha, limits=stream.limits, promise=promise, initial_threshold=1.0
        )
        self.random = np.random.default_rng(stream.seed)
        self.pending: list[LabelSent] = []
        self.losses: list[float] = []

    def play(self) -> LabelGame:
        for t in range(self.stream.rounds):
            self.ask()
            while len(self.pending) > self.stream.delay or (
                self.pending and self.random.random() < 0.3
            ):
                self.settle(self.pending.pop(int(self.random.integers(len(self.pending)))))
            if t % 90 == 17:
                self.check()
        self.check()
        return self

    def ask(self) -> None:
        random, stream = self.random, self.stream
        label = str(random.choice(stream.labels))
        size = 1.0 + stream.labels.index(label)
        scores = {name: size * float(abs(random.normal())) for name in stream.labels}
        scores[label] *= 0.6
        groups = {
            name: float(random.choice([0.5, 1.0]))
            for name in stream.groups
            if random.random() < 0.5
        }
        ticket = self.cal.ask(None, scores, groups)
        nodes = {name: nodes_of(name, groups) for name in stream.labels}
        plays = {name: self.decided(name, nodes[name]) for name in stream.labels}
        for name in stream.labels:
            assert ticket.thresholds[name] == close(plays[name].threshold)
        made = self.theorem.ask(
            {n: b for part in nodes.values() for n, b in part.items()}, plays[label]
        )
        self.pending.append(LabelSent(ticket, plays, nodes, scores, label, made))

    def decided(self, name: str, nodes: dict[Any, float]) -> Play:
        given, unit = self.bases[name]
        ceiling = self.theorem.rules.ceiling
        base = min(max(given, self.theorem.floor(given)), ceiling)
        return self.theorem.play(nodes, base, unit)

    def settle(self, sent: LabelSent) -> None:
        if self.stream.delay and self.random.random() < 0.1:
            self.cal.forget(sent.ticket)
            self.theorem.forget(sent.round)
            return
        label = sent.label
        loss = float(sent.scores[label] > sent.ticket.thresholds[label])
        assert (label in sent.ticket.labels) == (loss == 0.0)
        self.cal.tell(sent.ticket, label)
        score, nodes = sent.scores[label], sent.nodes[label]
        self.theorem.tell(sent.round, loss, score, play=sent.plays[label], nodes=nodes)
        self.losses.append(loss)

    def check(self) -> None:
        names = {
            key[1]: key
            for key in self.theorem.sides
            if key != ALL and self.theorem.weight(key) > 0.0
        }
        found = self.cal.certificate(losses=self.losses)
        widest = max(sum(n != ALL for n in r.asked) for r in self.theorem.rounds)
        assert_certificate(found, self.theorem, names, nodes=1 + widest)


def nodes_of(label: str, groups: dict[Hashable, float]) -> dict[Any, float]:
    """Everyone, the label, and the label in each group."""
    inner = {("group", (label, group)): weight for group, weight in groups.items()}
    return {ALL: 1.0, ("group", label): 1.0} | inner
