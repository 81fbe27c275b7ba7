"""Open rounds: bettors as in theorem E, whatever the order in which scores become known."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import bettors as oracle
from localarc.forecasting.rounds import Places, Rounds
from localarc.validation import IntArray
from oracle_constants import STAKE_ALL

ALPHA = 0.1


def integers(*values: int) -> IntArray:
    return np.array(values, np.int64)


class Twin:
    """One cell, and the theorem's bettors beside it."""

    def __init__(self, alpha: float, rounds: int) -> None:
        self.mine = Rounds(np.array([alpha]), 1, start=0.0)
        self.mine.reserve(1)
        self.alpha, self.top = alpha, max(alpha, 1.0 - alpha)
        self.state = oracle.new_bettors(alpha, 1.0, [STAKE_ALL], [[0.5, 0.5]], [True, False])
        self.book = oracle.new_rounds(rounds, 1)
        self.book.b[:], self.book.unit[:] = 1.0, 1.0
        self.rows: dict[int, int] = {}
        self.last = -1

    def ask(self) -> None:
        self.last += 1
        places = Places(integers(0), integers(0), integers(5))
        rows, _ = self.mine.ask(places, np.zeros(1))
        self.rows[self.last] = int(rows[0])
        oracle.touch(self.state, self.book.b[self.last])
        up, down = oracle.bets(self.state, self.book.b[self.last])
        oracle.ask(self.state, self.book, self.last, up, down, -np.inf, np.inf)
        row, played = self.rows[self.last], self.book.played[self.last]
        played[1] = self.mine._open["share"][row, 0]
        assert self.mine._open["bet"][row, 0] == pytest.approx(up - played[1] * down, abs=1e-12)

    def tell(self, t: int, score: float) -> None:
        row = self.rows.pop(t)
        missed = float(score > self.mine._open["threshold"][row, 0])
        self.mine.tell(integers(row), np.array([score]))
        oracle.tell(self.state, self.book, t, (missed - self.alpha) / self.top, self.last)

    def forget(self, t: int) -> None:
        self.mine.forget(integers(self.rows.pop(t)))
        oracle.tell(self.state, self.book, t, 0.0, self.last)

    def assert_equal(self) -> None:
        sums = self.mine.bettors.cells
        names = ("up gain", "down gain"), ("up cost", "down cost")
        for kind, expected in zip(names, (self.state.G, self.state.W), strict=True):
            found = [sums[name][0, 0] for name in kind]
            assert found == pytest.approx(expected[0], rel=1e-9, abs=1e-9)


@pytest.mark.slow
@settings(max_examples=15, deadline=None)
@given(st.sampled_from([0.05, 0.1, 0.5, 0.8]), st.integers(0, 10**6))
def test_the_bettors_are_those_of_the_theorem_in_any_order_of_arrival(
    alpha: float, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    twin = Twin(alpha, 100)
    for _ in range(100):
        twin.ask()
        while len(twin.rows) > rng.integers(0, 12):
            t = int(rng.choice(list(twin.rows)))
            if rng.random() < 0.1:
                twin.forget(t)
            else:
                twin.tell(t, float(rng.exponential() * (3.0 if rng.random() < 0.3 else 1.0)))
        twin.assert_equal()


@pytest.mark.slow
def test_several_scores_of_one_cell_at_one_time_count_in_order_of_prediction() -> None:
    twin, one_by_one = Twin(ALPHA, 20), Twin(ALPHA, 20)
    for _ in range(5):
        twin.ask()
        one_by_one.ask()
    scores = [3.0, 0.1, 2.0, 0.4, 5.0]
    rows = [twin.rows[t] for t in (2, 0, 4, 1, 3)]
    twin.mine.tell(integers(*rows), np.array([scores[t] for t in (2, 0, 4, 1, 3)]))
    for t in range(5):
        one_by_one.tell(t, scores[t])
    for name in ("up gain", "up cost", "down gain", "down cost", "paid"):
        found, expected = (b.mine.bettors.cells[name][0] for b in (twin, one_by_one))
        assert found == pytest.approx(expected, abs=1e-12)


def test_rounds_of_other_cells_do_not_move_the_bettors_of_a_cell() -> None:
    def gains(other: float) -> list[float]:
        rounds = Rounds(np.array([ALPHA]), 2, start=0.0)
        rounds.reserve(2)
        for _ in range(30):
            places = Places(integers(0, 1), integers(0, 1), integers(0, 0))
            rows, thresholds = rounds.ask(places, np.full(2, -np.inf))
            rounds.tell(rows, np.array([thresholds[0, 0] - 1.0, thresholds[1, 0] + other]))
        return [float(rounds.bettors.cells[name][0, 0]) for name in ("down gain", "up cost")]

    assert gains(1.0) == gains(-1.0)


def test_freed_rows_are_used_again() -> None:
    rounds = Rounds(np.array([ALPHA]), 1)
    rounds.reserve(1)
    places = Places(integers(0), integers(0), integers(0))
    for _ in range(1000):
        rows, _ = rounds.ask(places, np.zeros(1))
        rounds.tell(rows, np.ones(1))
    assert rounds.capacity <= 16
    assert rounds.pending == 0
