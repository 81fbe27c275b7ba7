from collections.abc import Callable

import numpy as np
import pytest

from localarc import ARC, LARC, RBF, Constant, InverseSqrt, Power
from localarc.rates import Rate, Schedule, as_rate

RATES: list[Rate] = [
    InverseSqrt(0.5),
    Power(2.0, 0.7),
    Power(2.0, 0.0),
    Constant(0.1),
    Schedule(lambda t: 1 / (1 + t)),
]


@pytest.mark.parametrize("rate", RATES, ids=lambda rate: type(rate).__name__)
def test_values_are_the_rate_of_each_round(rate: Rate) -> None:
    assert np.allclose(rate.values(3, 50), [rate(t) for t in range(3, 50)], rtol=1e-15)
    assert len(rate.values(5, 5)) == 0


@pytest.mark.parametrize("rate", RATES, ids=lambda rate: type(rate).__name__)
def test_rates_do_not_increase(rate: Rate) -> None:
    assert (np.diff(rate.values(1, 5000)) <= 0).all()


@pytest.mark.parametrize("rate", RATES, ids=lambda rate: type(rate).__name__)
@pytest.mark.parametrize("rounds", [1, 2, 10, 1000])
def test_the_sum_bound_is_at_least_the_sum(rate: Rate, rounds: int) -> None:
    total = rate.values(1, rounds + 1).sum()
    assert total * (1 - 1e-12) <= rate.sum_bound(rounds) <= 3.5 * total


def test_the_formulas() -> None:
    assert InverseSqrt(3.0)(9) == 1.0
    assert Power(8.0, 1 / 3)(8) == pytest.approx(4.0)
    assert Constant(0.2)(10**9) == 0.2


def test_a_number_means_the_papers_rate_and_a_function_is_used_as_it_is() -> None:
    assert as_rate(2) == InverseSqrt(2.0)
    assert as_rate(np.float64(0.5)) == InverseSqrt(0.5)
    assert as_rate(lambda t: 1.0 / t)(4) == 0.25


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: as_rate(0.0), "rate must be positive"),
        (lambda: InverseSqrt(-1.0), "eta must be positive"),
        (lambda: Power(1.0, 1.0), r"exponent must lie in \[0, 1\), got 1.0"),
        (lambda: Power(1.0, -0.5), "exponent must not be negative"),
        (lambda: Constant(float("inf")), "eta must be finite"),
        (lambda: as_rate(lambda t: t), "rate must not increase, got 1.0 at t = 1 and 2.0 at t = 2"),
        (lambda: as_rate(lambda t: 0.0), r"rate\(1\) must be positive"),
        (lambda: LARC(0.1, RBF.from_paper(1.0), 10.0, 0.1), "must be below 1, got 1.0"),
    ],
)
def test_a_bad_rate_says_what_is_wrong(make: Callable[[], object], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        make()


def test_a_rate_that_rises_late_is_rejected_when_it_does_and_changes_nothing() -> None:
    cal = LARC(0.1, RBF.from_paper(1.0), rate=lambda t: 0.5 if t == 333 else 0.1)
    for _ in range(332):
        cal.update([0.0], 0.0)
    before = cal.state()
    with pytest.raises(ValueError, match=r"got 0.1 at t = 332 and 0.5 at t = 333"):
        cal.update([0.0], 0.0)
    assert cal.state() == before


@pytest.mark.parametrize("eta", [1e-308, 5e-324, 1e-101])
def test_a_step_has_an_inverse(eta: float) -> None:
    with pytest.raises(ValueError, match="must be at least 1e-100"):
        InverseSqrt(eta)
    with pytest.raises(ValueError, match="must be at least 1e-100"):
        ARC(0.1, rate=lambda t: eta)
