"""An adversary for gates: it chooses topics, confidences, outcomes, audits and their order.

It sees the threshold before it chooses a confidence, and the gate's sums before it chooses an
outcome. What it cannot do is report the outcome of an answer that was withheld as feedback.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from localarc import validation
from localarc.calibrators.gate import Decision, Gate
from localarc.validation import FloatArray

CONFIDENCES = ("just above", "mostly just above", "random", "certain", "in turns")
"""How sure the model is: above the threshold is answered."""

OUTCOMES = ("wrong", "right, then wrong", "short phases", "coin", "while it gains", "one topic")
"""When an answer is wrong."""

ORDERS = ("at once", "oldest first", "newest first", "random", "in batches")
"""The order in which outcomes arrive."""

_EVERYONE = "everyone"


@dataclass
class PlayedGate:
    """What the adversary did, in the order in which rounds were counted.

    Parameters
    ----------
    alpha, credit : float
        The target of the gate, and what a withheld round adds to its promise.
    charges : list of float
        `wrong - alpha` for an answer, `-credit` for a withheld round.
    topics : list of dict
        The topics of each round, with weights.

    Examples
    --------
    >>> played = PlayedGate(0.1, 0.0, [0.9, -0.1, 0.9], [{"a": 1.0}, {"a": 1.0}, {}])
    >>> round(played.excess("a"), 9), round(played.worst_stretch("everyone"), 9)
    (0.8, 1.7)
    """

    alpha: float
    credit: float
    charges: list[float] = field(default_factory=list)
    topics: list[dict[str, float]] = field(default_factory=list)

    def steps(self, topic: str) -> FloatArray:
        """Return the weighted charges of a topic.

        Parameters
        ----------
        topic : str
            A topic, or "everyone".
        """
        weights = [1.0 if topic == _EVERYONE else each.get(topic, 0.0) for each in self.topics]
        return np.array(self.charges) * weights

    def excess(self, topic: str) -> float:
        """Return `wrong - alpha x answered - credit x withheld` of a topic.

        Parameters
        ----------
        topic : str
            A topic, or "everyone".
        """
        return float(self.steps(topic).sum())

    def worst_stretch(self, topic: str) -> float:
        """Return the largest such excess since any moment, at least 0.

        Parameters
        ----------
        topic : str
            A topic, or "everyone".
        """
        return float(np.cumsum(self.steps(topic)[::-1]).max(initial=0.0))


def attack_gate(
    gate: Gate,
    rounds: int,
    seed: int,
    *,
    after_round: Callable[[PlayedGate], None] | None = None,
) -> PlayedGate:
    """Play a random strategy against a gate.

    Parameters
    ----------
    gate : Gate
        Learns as it plays; not in shadow mode.
    rounds : int
        Number of decisions.
    seed : int
        Same seed, same strategy.
    after_round : callable or None, default None
        Called with everything played so far after each decision and its arrivals.

    Returns
    -------
    PlayedGate
        What was charged, by topic.

    Examples
    --------
    >>> gate = Gate(wrong_at_most=0.1)
    >>> played = attack_gate(gate, 200, seed=0)
    >>> played.worst_stretch("everyone") <= gate.summary().bound
    True
    """
    validation.integer("rounds", rounds, 1, "It is the number of decisions.")
    adversary = _Adversary(gate, seed, rounds)
    for t in range(rounds):
        adversary.play(t)
        if after_round is not None:
            after_round(adversary.played)
    adversary.settle(everything=True)
    return adversary.played


class _Adversary:
    """A strategy drawn from a seed, against a gate."""

    def __init__(self, gate: Gate, seed: int, rounds: int) -> None:
        self.gate, self.rounds = gate, rounds
        self.random = random = np.random.default_rng(seed)
        self.confidences = str(random.choice(CONFIDENCES))
        self.outcomes = str(random.choice(OUTCOMES))
        self.most = int(random.choice([0, 0, 3, 30, 200]))
        self.order = str(random.choice(ORDERS[1:])) if self.most else ORDERS[0]
        self.names = [f"topic {k}" for k in range(int(random.choice([0, 1, 4])))]
        self.dimension, self.weighted = int(random.choice([0, 1, 2])), random.random() < 0.3
        self.audits, self.forgets = float(random.choice([0.0, 0.1, 1.0])), random.random() < 0.2
        self.played = PlayedGate(gate.alpha, gate.credit)
        self.gains = dict.fromkeys([_EVERYONE, *self.names], 0.0)
        self.waiting: dict[int, tuple[Decision, dict[str, float]]] = {}

    def play(self, t: int) -> None:
        """One decision, and the outcomes that arrive after it."""
        x, topics = self.random.normal(size=self.dimension), self._topics()
        threshold = self.gate.threshold(x, groups=topics)
        decision = self.gate.decide(x, confidence=self._confidence(t, threshold), groups=topics)
        if decision.answer:
            self.waiting[t] = decision, topics
        else:
            self._note(-self.gate.credit, topics)
            if self.random.random() < self.audits:
                self.gate.audit(decision, wrong=False)  # a lie, if need be: audits promise nothing
        self.settle(everything=False)

    def _topics(self) -> dict[str, float]:
        chosen = [name for name in self.names if self.random.random() < 0.5]
        weights = self.random.random(len(chosen)) if self.weighted else np.ones(len(chosen))
        return dict(zip(chosen, weights.tolist(), strict=True))

    def _confidence(self, t: int, threshold: float) -> float:
        above = min(float(np.nextafter(threshold, 2.0)), 1.0)
        options = {
            "just above": above,
            "mostly just above": above if self.random.random() < 0.7 else threshold,
            "random": float(self.random.random()),
            "certain": 1.0,
            "in turns": above if t % 2 else 0.5 * threshold,
        }
        return options[self.confidences]

    def settle(self, everything: bool) -> None:
        """Report the outcomes whose time has come."""
        waiting = list(self.waiting)
        if self.order == "newest first":
            waiting.reverse()
        elif self.order == "random":
            waiting = [waiting[i] for i in self.random.permutation(len(waiting))]
        batch = self.order == "in batches" and len(waiting) > self.most
        count = len(waiting) if everything or batch else max(0, len(waiting) - self.most)
        for t in waiting[:count]:
            decision, topics = self.waiting.pop(t)
            if self.forgets and self.random.random() < 0.1:
                self.gate.forget(decision)
                continue
            wrong = self._wrong(t, topics)
            self.gate.tell(decision, wrong=wrong)
            self._note(wrong - self.gate.alpha, topics)

    def _wrong(self, t: int, topics: dict[str, float]) -> bool:
        last = self.names[-1] if self.names else _EVERYONE
        options = {
            "wrong": True,
            "right, then wrong": t > self.rounds // 2,
            "short phases": (t // 50) % 2 == 0,
            "coin": self.random.random() < 0.5,
            "while it gains": self.gains[_EVERYONE] > 0.0 or self.random.random() < 0.2,
            "one topic": last in topics or last == _EVERYONE,
        }
        return bool(options[self.outcomes])

    def _note(self, charge: float, topics: dict[str, float]) -> None:
        self.played.charges.append(float(charge))
        self.played.topics.append(topics)
        for name, weight in {_EVERYONE: 1.0, **topics}.items():
            self.gains[name] = max(0.0, self.gains[name] + weight * charge)
