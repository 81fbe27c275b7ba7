"""The adversary for tickets keeps to its scenario, so that what it breaks is really broken."""

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from localarc.calibrators.tickets import Ticket
from localarc.testing import attack_tickets
from localarc.testing.betting_adversary import ALL, Played
from localarc.testing.betting_scenarios import Scenario

seeds = st.integers(0, 500)


@dataclass
class Recorder:
    """Answers with random thresholds and writes everything down."""

    scenario: Scenario
    asked: list[Ticket] = field(default_factory=list)
    told: dict[int, tuple[float, float | None]] = field(default_factory=dict)
    forgotten: set[int] = field(default_factory=set)
    most_pending: int = 0

    def ask(self, x: Any, groups: Any = ()) -> Ticket:
        done = len(self.told) + len(self.forgotten)
        self.most_pending = max(self.most_pending, len(self.asked) - done)
        low, high = self.scenario.score_range
        share = np.random.default_rng(len(self.asked)).uniform(-0.5, 1.5)
        self.asked.append(Ticket(len(self.asked) + 1, low + share * (high - low)))
        return self.asked[-1]

    def tell(self, ticket: Ticket, loss: float, score: float | None = None) -> None:
        assert ticket.id not in self.told
        assert ticket.id not in self.forgotten
        self.told[ticket.id] = loss, score

    def forget(self, ticket: Ticket) -> None:
        assert ticket.id not in self.told
        self.forgotten.add(ticket.id)


def record(seed: int, rounds: int = 60) -> tuple[Recorder, Played]:
    recorder = Recorder(Scenario.draw(seed))
    return recorder, attack_tickets(recorder, recorder.scenario, rounds)


@given(seeds)
def test_every_round_gets_its_loss_once_or_is_forgotten(seed: int) -> None:
    recorder, played = record(seed)
    assert len(recorder.asked) == len(recorder.told) + len(recorder.forgotten) == 60
    assert sorted(played.arrived) == sorted(number - 1 for number in recorder.told)


@given(seeds)
def test_no_more_losses_are_pending_than_the_scenario_allows(seed: int) -> None:
    recorder, _ = record(seed)
    assert recorder.most_pending <= recorder.scenario.max_pending


@given(seeds)
def test_losses_respect_the_bound_and_without_limits_the_largest_score(seed: int) -> None:
    recorder, _ = record(seed)
    scenario = recorder.scenario
    for ticket in recorder.asked:
        if ticket.id in recorder.told:
            loss, _ = recorder.told[ticket.id]
            assert 0.0 <= loss <= scenario.loss_bound
            if not scenario.limited and ticket.threshold >= scenario.score_range[1]:
                assert loss <= scenario.alpha


@given(seeds)
def test_a_score_lies_above_the_threshold_exactly_where_the_loss_exceeds_the_target(
    seed: int,
) -> None:
    recorder, _ = record(seed)
    for ticket in recorder.asked:
        loss, score = recorder.told.get(ticket.id, (0.0, None))
        if score is not None:
            assert (score > ticket.threshold) == (loss > recorder.scenario.alpha)


@given(seeds)
def test_the_same_scenario_is_played_twice_alike(seed: int) -> None:
    (first, _), (second, _) = record(seed), record(seed)
    assert first.told == second.told
    assert list(first.told) == list(second.told)


def test_scenarios_cover_every_strategy() -> None:
    drawn = [Scenario.draw(seed) for seed in range(300)]
    for name, number in (("places", 4), ("base", 4), ("unit", 2), ("losses", 10), ("order", 8)):
        assert len({getattr(scenario, name) for scenario in drawn}) == number


def test_sums_are_those_of_the_losses_that_arrived() -> None:
    played = Played(0.5, [0.0] * 3, [1.0, 0.0, math.nan], [{"a": 0.5}, {"a": 1.0}, {}], [1, 0])
    assert played.excess(ALL) == 0.0
    assert played.excess("a") == -0.25
    assert played.worst_stretch("a") == 0.25


def test_a_number_of_rounds_below_one_is_rejected() -> None:
    scenario = Scenario.draw(0)
    with pytest.raises(ValueError, match="rounds"):
        attack_tickets(Recorder(scenario), scenario, 0)
