"""Bets: the evidence is at most 1 on average, and its bound is exact for losses of 0 and 1."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from localarc.monitoring.bets import (
    SHARES,
    SIZES,
    Sums,
    Tally,
    log_evidence,
    log_money,
    lower_limit,
)

LOSSES = st.lists(st.floats(0.0, 1.0), min_size=1, max_size=60)
MISSES = st.lists(st.sampled_from([0.0, 1.0]), min_size=1, max_size=60)
MEANS = st.floats(0.0, 0.99)


def tally_of(losses: list[float]) -> Tally:
    tally = Tally()
    for loss in losses:
        tally.add(loss)
    return tally


def sums_of(losses: list[float]) -> Sums:
    return Sums(len(losses), sum(losses), sum(loss * (1.0 - loss) for loss in losses))


def played(losses: list[float], mean: float) -> list[float]:
    """Logarithm of the money of each bet, round by round."""
    return [
        math.log(share) + sum(math.log1p(a * x) - math.log1p(a * mean) for x in losses)
        for a, share in zip(SIZES, SHARES, strict=True)
    ]


def test_the_shares_are_one_unit_of_money() -> None:
    assert sum(SHARES) == 1.0
    assert len(SHARES) == len(SIZES)


@given(LOSSES, MEANS)
def test_a_tally_is_the_money_of_every_bet(losses: list[float], mean: float) -> None:
    assert log_money(tally_of(losses), mean) == pytest.approx(played(losses, mean), abs=1e-9)


@given(LOSSES, MEANS)
def test_three_sums_bound_the_money_of_every_bet_from_below(
    losses: list[float], mean: float
) -> None:
    for bound, exact in zip(log_money(sums_of(losses), mean), played(losses, mean), strict=True):
        assert bound <= exact + 1e-9


@given(MISSES, MEANS)
def test_the_bound_is_the_money_for_losses_of_0_and_1(losses: list[float], mean: float) -> None:
    assert log_money(sums_of(losses), mean) == pytest.approx(played(losses, mean), abs=1e-9)


@pytest.mark.parametrize("mean", [0.001, 0.12, 0.5, 0.9])
@pytest.mark.parametrize("rounds", [1, 7, 200])
def test_the_evidence_against_the_true_risk_is_1_on_average(mean: float, rounds: int) -> None:
    average = math.fsum(
        math.comb(rounds, k) * mean**k * (1.0 - mean) ** (rounds - k) * math.exp(log)
        for k in range(rounds + 1)
        for log in log_money(Sums(rounds, float(k)), mean)
    )
    assert average == pytest.approx(1.0)


@pytest.mark.slow
@pytest.mark.parametrize(("mean", "lowest"), [(0.001, 0.03), (0.12, 0.1), (0.5, 0.1)])
def test_a_true_risk_is_refuted_ever_with_a_probability_of_at_most_the_level(
    mean: float, lowest: float
) -> None:
    """The distribution of the number of misses among streams that were not refuted, exactly."""
    level, rounds = 0.05, 1500
    kept = {0: 1.0}
    for t in range(1, rounds + 1):
        after: dict[int, float] = {}
        for misses, probability in kept.items():
            if probability > 1e-12:
                after[misses] = after.get(misses, 0.0) + probability * (1.0 - mean)
                after[misses + 1] = after.get(misses + 1, 0.0) + probability * mean
        needed = -math.log(level)
        kept = {k: p for k, p in after.items() if log_evidence(Sums(t, float(k)), mean) < needed}
    refuted = 1.0 - math.fsum(kept.values())
    assert lowest * level < refuted <= level


@given(LOSSES, st.floats(0.1, 40.0))
def test_the_limit_is_where_the_evidence_is_what_was_needed(
    losses: list[float], needed: float
) -> None:
    sums = tally_of(losses)
    limit = lower_limit(sums, needed)
    if limit == 0.0:
        assert log_evidence(sums, 0.0) <= needed + 1e-9
    else:
        assert limit <= sums.losses / sums.rounds
        assert log_evidence(sums, limit) == pytest.approx(needed, abs=1e-6)


def test_nothing_is_known_without_rounds() -> None:
    assert lower_limit(Sums(), 1.0) == 0.0
    assert log_evidence(Sums(), 0.1) == 0.0


def test_the_limit_approaches_the_risk() -> None:
    for rounds, distance in ((100, 0.12), (10_000, 0.014), (1_000_000, 0.002)):
        limit = lower_limit(Sums(rounds, 0.15 * rounds), math.log(200.0))
        assert 0.15 - distance < limit < 0.15
