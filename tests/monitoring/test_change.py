"""Changes: bets that start at every round, and the blocks of recent rounds."""

import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from localarc.monitoring.bets import SHARES, SIZES, Sums
from localarc.monitoring.change import ChangeDetector, start_money
from localarc.monitoring.recent import Recent


def paid(losses: list[float], mean: float, size: float) -> float:
    return math.prod((1.0 + size * loss) / (1.0 + size * mean) for loss in losses)


def test_all_starts_together_have_at_most_one_unit() -> None:
    rounds = 200_000
    tail = 2.0 * start_money(rounds) * (rounds + 1001.0)  # the integral over all later rounds
    total = math.fsum(map(start_money, range(rounds))) + tail
    assert 0.99 < total <= 1.0


@given(st.lists(st.floats(0.0, 1.0), max_size=40), st.floats(0.01, 0.9))
def test_one_sum_per_bet_is_that_of_all_starting_rounds(losses: list[float], mean: float) -> None:
    detector = ChangeDetector(mean, level=1e-300)
    for earlier, loss in enumerate(losses):
        detector.add(loss, earlier)
    for money, size, share in zip(detector.money, SIZES, SHARES, strict=True):
        starts = range(len(losses))
        slow = math.fsum(share * start_money(s) * paid(losses[s:], mean, size) for s in starts)
        assert money == pytest.approx(slow, rel=1e-9)


def test_money_is_evidence_from_the_cap_on_and_can_be_cut() -> None:
    detector = ChangeDetector(0.1, level=0.01)
    found = [detector.add(1.0, earlier) for earlier in range(50)]
    assert found == sorted(found)
    assert sum(detector.money) > 1e6
    detector.cut(100.0)
    assert sum(detector.money) == pytest.approx(100.0)
    detector.cut(200.0)
    assert sum(detector.money) == pytest.approx(100.0)


def test_money_stays_finite_without_end() -> None:
    detector, recent = ChangeDetector(0.1, level=0.01), Recent(2000)
    for earlier in range(2000):
        recent.add(1.0)
        assert detector.add(1.0, earlier) or earlier < 20
    assert 1e140 < sum(detector.money) <= 1.01e150
    detector.forget_all_but(recent, 2000)
    assert 1e140 < sum(detector.money) < 1e152


def test_forgetting_keeps_the_bets_that_started_with_a_recent_block() -> None:
    rng = random.Random(0)
    losses = [float(rng.random() < 0.2) for _ in range(103)]
    recent, detector = Recent(window=40), ChangeDetector(0.1, level=1e-300)
    for earlier, loss in enumerate(losses):
        recent.add(loss)
        detector.add(loss, earlier)
    detector.forget_all_but(recent, len(losses))
    starts = range(65, 103, 5)  # 38 rounds in 8 blocks of 5
    for money, size, share in zip(detector.money, SIZES, SHARES, strict=True):
        slow = sum(share * start_money(s) * paid(losses[s:], 0.1, size) for s in starts)
        assert money == pytest.approx(slow)


@given(st.integers(1, 70), st.integers(0, 300))
def test_recent_rounds_are_at_most_the_window_and_a_block_less_at_least(
    window: int, rounds: int
) -> None:
    recent = Recent(window)
    losses = [((t * 7919) % 101) / 100 for t in range(rounds)]
    for loss in losses:
        recent.add(loss)
    found, block = recent.sums, -(-window // 8)
    assert found.rounds <= min(window, rounds)
    assert found.rounds >= min(rounds, window - 2 * block + 2)
    last = losses[rounds - found.rounds :]
    assert found.losses == pytest.approx(math.fsum(last))
    assert found.spread == pytest.approx(math.fsum(x * (1 - x) for x in last))


def test_a_window_of_1000_has_876_rounds_at_least() -> None:
    recent, seen = Recent(1000), set()
    for t in range(5000):
        recent.add(0.0)
        if t >= 1000:
            seen.add(recent.sums.rounds)
    assert (min(seen), max(seen)) == (876, 1000)


def test_blocks_are_stored_and_restored() -> None:
    recent = Recent(20)
    for t in range(33):
        recent.add(t / 40)
    again = Recent(20, recent.blocks)
    assert again.blocks == recent.blocks
    assert again.sums == recent.sums != Sums()
