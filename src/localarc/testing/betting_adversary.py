"""An adversary for calibrators with tickets: it chooses points, losses and their order.

Everything that theorem E leaves open is chosen after the thresholds are known, against the sums of
losses so far. The rounds satisfy what a scenario says: with stated limits, any loss at any
threshold; otherwise a threshold of at least the largest score costs at most the target (A2).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from localarc import validation
from localarc.calibrators.tickets import Ticket
from localarc.testing.betting_scenarios import Scenario
from localarc.validation import FloatArray

Groups = dict[str, float]
ALL = "everyone"


class TicketCalibrator(Protocol):
    """What the adversary plays against."""

    def ask(self, x: Any, groups: Any = ()) -> Ticket:
        """Return a threshold whose loss arrives later."""

    def tell(self, ticket: Ticket, loss: float, score: float | None = None) -> Any:
        """Receive a loss."""

    def forget(self, ticket: Ticket) -> Any:
        """Give up on a loss."""


@dataclass
class Played:
    """What the adversary did, by round, in the order of prediction.

    Parameters
    ----------
    alpha : float
        Target risk.
    thresholds : list of float
        Thresholds, as returned.
    losses : list of float
        Losses; NaN where none has arrived, or none ever will.
    groups : list of dict
        Weights by group.
    arrived : list of int
        Rounds in the order in which their losses arrived.

    Examples
    --------
    >>> played = Played(0.1, [0.5, 0.5], [1.0, 0.0], [{"a": 1.0}, {}], [0, 1])
    >>> played.excess("a"), round(played.worst_stretch(ALL), 9)
    (0.9, 0.8)
    """

    alpha: float
    thresholds: list[float] = field(default_factory=list)
    losses: list[float] = field(default_factory=list)
    groups: list[Groups] = field(default_factory=list)
    arrived: list[int] = field(default_factory=list)

    def steps(self, group: str) -> FloatArray:
        """Return `(loss - alpha) * weight` of a group, in the order of arrival.

        Parameters
        ----------
        group : str
            A group, or `ALL`.
        """
        weights = [1.0 if group == ALL else self.groups[t].get(group, 0.0) for t in self.arrived]
        return (np.array([self.losses[t] for t in self.arrived]) - self.alpha) * weights

    def excess(self, group: str) -> float:
        """Return the sum of a group's steps.

        Parameters
        ----------
        group : str
            A group, or `ALL`.
        """
        return float(self.steps(group).sum())

    def worst_stretch(self, group: str) -> float:
        """Return the largest sum of steps since any arrival, at least 0.

        Parameters
        ----------
        group : str
            A group, or `ALL`.
        """
        return float(np.cumsum(self.steps(group)[::-1]).max(initial=0.0))


def attack_tickets(
    calibrator: TicketCalibrator,
    scenario: Scenario,
    rounds: int,
    *,
    dimension: int = 1,
    after_loss: Callable[[Played], None] | None = None,
) -> Played:
    """Play a scenario against a calibrator with `ask`, `tell` and `forget`.

    Scores agree with the losses: above the threshold where the loss exceeds the target. Some are
    not passed, and some harmless rounds have the score minus infinity.

    Parameters
    ----------
    calibrator : object with ask, tell and forget
        Learns as it plays. It should have the scenario's target, loss bound, sides and limits.
    scenario : Scenario
        What the adversary does. Its base and unit concern the calibrator, not this function.
    rounds : int
        Number of rounds.
    dimension : int, default 1
        Number of features of the inputs.
    after_loss : callable or None, default None
        Called with everything played so far after each loss.

    Returns
    -------
    Played
        Thresholds, losses, groups and the order of arrival.

    Examples
    --------
    >>> from localarc import AutoLARC
    >>> scenario = Scenario.draw(2)
    >>> cal = AutoLARC(scenario.alpha, loss_bound=scenario.loss_bound)
    >>> len(attack_tickets(cal, scenario, 50).thresholds)
    50
    """
    validation.integer("rounds", rounds, 1, "It is the number of rounds to play.")
    adversary = _Adversary(scenario, dimension, rounds)
    waiting: dict[int, Ticket] = {}
    for t in range(rounds):
        x, groups = adversary.choose_point(t)
        waiting[t] = ticket = calibrator.ask(x, groups=groups)
        adversary.note(ticket.threshold, groups)
        for s in adversary.choose_arrivals(list(waiting), last=t == rounds - 1):
            loss, score = adversary.choose_loss(s)
            if loss is None:
                calibrator.forget(waiting.pop(s))
            else:
                calibrator.tell(waiting.pop(s), loss, score=score)
                adversary.note_loss(s, loss)
                if after_loss is not None:
                    after_loss(adversary.played)
    return adversary.played


class _Adversary:
    """The choices of a scenario, against the sums of losses so far."""

    def __init__(self, scenario: Scenario, dimension: int, rounds: int) -> None:
        self.scenario, self.dimension, self.rounds = scenario, dimension, rounds
        self.random = np.random.default_rng(scenario.seed)
        self.names = [f"group {n}" for n in range(scenario.nodes)]
        self.gains = dict.fromkeys([ALL, *self.names], 0.0)
        self.scale = 10.0 ** self.random.uniform(-3, 3)
        self.played = Played(scenario.alpha)

    def choose_point(self, t: int) -> tuple[FloatArray, Groups]:
        """An input and the groups of a round."""
        if self.scenario.places in ("random groups", "random weights"):
            x = self.random.normal(size=self.dimension)
        else:
            x = np.sin(0.01 * t * np.arange(1, self.dimension + 1)) + 3.0 * ((t // 50) % 2)
        weights = {name: self._weight(n, name, t) for n, name in enumerate(self.names)}
        return x * self.scale, {name: w for name, w in weights.items() if w > 0.0}

    def _weight(self, n: int, name: str, t: int) -> float:
        match self.scenario.places:
            case "random groups":
                return float(self.random.random() < 0.4)
            case "random weights":
                return float(self.random.random())
            case "blocks of rounds":
                return float((t // 20) % len(self.names) == n)
            case _:
                return float(self.gains[name] > 3.0 or self.random.random() < 0.2)

    def note(self, threshold: float, groups: Groups) -> None:
        """A threshold was returned."""
        self.played.thresholds.append(threshold)
        self.played.losses.append(float("nan"))
        self.played.groups.append(groups)

    def note_loss(self, s: int, loss: float) -> None:
        """A loss was reported; gains start anew when they fall below zero."""
        self.played.losses[s] = loss
        self.played.arrived.append(s)
        for name, weight in {ALL: 1.0, **self.played.groups[s]}.items():
            gain = self.gains[name] + weight * (loss - self.scenario.alpha)
            self.gains[name] = max(0.0, gain)

    def choose_arrivals(self, waiting: list[int], last: bool) -> list[int]:
        """The rounds whose losses arrive now, in this order."""
        order, most = self.scenario.order, self.scenario.max_pending
        few = len(waiting) <= most and not last
        if few and (order == "in batches" or (order != "at once" and self.random.random() < 0.7)):
            return []
        everything = last or order == "in batches"
        ranked = self._ranked(waiting)
        return ranked if everything else ranked[: max(1, len(ranked) - most)]

    def _ranked(self, waiting: list[int]) -> list[int]:
        thresholds = self.played.thresholds
        match self.scenario.order:
            case "newest first":
                return waiting[::-1]
            case "random":
                return [waiting[i] for i in self.random.permutation(len(waiting))]
            case "highest threshold first":
                return sorted(waiting, key=lambda s: -thresholds[s])
            case "lowest threshold first":
                return sorted(waiting, key=lambda s: thresholds[s])
            case "newest half first":
                half = len(waiting) // 2
                return waiting[half:] + waiting[:half]
            case _:
                return waiting

    def choose_loss(self, s: int) -> tuple[float | None, float | None]:
        """The loss and the score of a round; no loss if it never arrives."""
        scenario, coin = self.scenario, float(self.random.random())
        if scenario.forgets and self.random.random() < 0.1:
            return None, None
        low, high = scenario.score_range
        threshold = self.played.thresholds[s]
        free = scenario.limited or threshold < high
        loss = scenario.loss_bound if free else scenario.alpha
        if scenario.losses == "coin" and coin < 0.25:
            loss *= float(self.random.random())
        elif not self._wants_loss(s, coin):
            loss = 0.0
        return loss, self._score(threshold, loss, low, high)

    def _wants_loss(self, s: int, coin: float) -> bool:
        scenario, everyone = self.scenario, self.gains[ALL]
        wanted = {
            "always": True,
            "never": False,
            "long phases": int(np.log2(s + 1)) % 2 == 0,
            "short phases": (s // 50) % 2 == 0,
            "coin": coin < 0.5,
            "target": coin < scenario.alpha / scenario.loss_bound,
            "against one node": self._last_gain(s) > 0.0 or coin < 0.2,
            "against the constant": everyone > 0.0 or s == 0,
            "against the constant, two in three": (everyone <= 0.0) != (s % 3 == 0),
            "second half": s > self.rounds // 2,
        }
        return wanted[scenario.losses]

    def _last_gain(self, s: int) -> float:
        """The gain of the last group, if the round belongs to it."""
        inside = self.names and self.names[-1] in self.played.groups[s]
        return self.gains[self.names[-1]] if inside else 0.0

    def _score(self, threshold: float, loss: float, low: float, high: float) -> float | None:
        """A score that agrees with the loss, or none."""
        kind = self.random.random()
        if loss > self.scenario.alpha:
            top = max(high, np.nextafter(threshold, np.inf))
            near = np.nextafter(threshold, np.inf)
            return float(near if kind < 0.6 else near + self.random.random() * (top - near))
        if kind < 0.1:
            return -np.inf
        return float(min(threshold, low + (high - low) * self.random.random()))
