"""Bounds of theorem E where no threshold avoids losses for so long that bets reach their cap."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pandas as pd
import pytest

from localarc import AutoLARC, LabelSets, Safeguard
from localarc.betting import NodeCertificate
from localarc.betting.bettors import Bettors, cell_columns
from localarc.betting.bounds import forward, least_deviation
from localarc.betting.certificate import certify, certify_place
from localarc.betting.sums import Sums
from localarc.constants import BETS, LARGEST_TERM
from localarc.engine.auto import layout
from localarc.forecasting import Bands
from localarc.forecasting.columns import Columns

ROUNDS = 2400


def check(certificate: NodeCertificate, losses: list[float], scale: float = 1.0) -> None:
    """Whatever bound holds is one on the mean of these losses."""
    distance = float(np.mean(losses)) - certificate.alpha
    rounding = 1e-9 * scale
    if certificate.above.holds:
        assert distance <= certificate.above.value + rounding
    if certificate.below.holds:
        assert -distance <= certificate.below.value + rounding
    observed = getattr(certificate, "observed", None)
    if observed is not None:
        assert observed.holds
        seen = abs(distance) if observed.side == "both" else distance
        assert seen <= observed.value + rounding


PATTERNS = {
    "every round": lambda t: t > 20,
    "one group": lambda t: t > 20 and t % 2 == 0,
    "and then none": lambda t: 100 < t < 1500,
    "at the end": lambda t: t > 900,
}


def play(cal: Any, hits: Any, delay: int) -> None:
    """Losses of B that no threshold avoids where `hits`; of random scores elsewhere."""
    random, bound = np.random.default_rng(0), cal.loss_bound
    groups: dict[str, list[float]] = {"all": [], "even": [], "odd": []}
    pending: list[tuple[Any, float, str]] = []
    for t in range(ROUNDS):
        name, score = ("even", "odd")[t % 2], math.inf if hits(t) else float(random.random())
        pending.append((cal.ask(None, name), score, name))
        while len(pending) > delay:
            ticket, score, name = pending.pop(int(random.integers(len(pending))))
            loss = bound if score > ticket.threshold else 0.0
            cal.tell(ticket, loss, score)
            groups["all"].append(loss)
            groups[name].append(loss)
        if t % 200 == 199:
            certificate = cal.certificate()
            check(certificate, groups["all"], bound)
            for group, part in certificate.groups.items():
                check(part, groups[group], bound)


@pytest.mark.parametrize("delay", [0, 7])
@pytest.mark.parametrize("hits", PATTERNS.values(), ids=PATTERNS)
def test_no_loss_passes_a_bound_that_holds(hits: Any, delay: int) -> None:
    play(AutoLARC(0.1), hits, delay)
    play(Safeguard(lambda x: 0.3, 3.0, loss_bound=10.0), hits, delay)


@pytest.mark.slow
@pytest.mark.parametrize("promise", ["both", "at most"])
@pytest.mark.parametrize("hits", PATTERNS.values(), ids=PATTERNS)
def test_no_loss_passes_a_bound_whatever_the_target_and_the_unit(hits: Any, promise: str) -> None:
    settings = itertools.product(
        *((0.01, 1.0, 10.0, 1e6), (0.001, 0.1, 0.5, 0.999)),
        *((0, 40), [(None, None), (0.0, 1.0)]),
    )
    for bound, share, delay, limits in settings:
        known: Any = {"loss_bound": bound, "limits": limits, "promise": promise}
        play(AutoLARC(share * bound, **known), hits, delay)
        play(Safeguard(lambda x: 0.3, share * bound, **known), hits, delay)


def test_no_label_that_is_never_in_the_set_passes_its_bound() -> None:
    cal, misses = LabelSets(0.1, labels=["a", "b"]), list[float]()
    for t in range(1500):
        scores = [0.5 if t < 20 else math.inf, 0.5]
        misses.append(float("a" not in cal.predict(None, scores)))
        cal.update(None, scores, "a")
    check(cal.certificate(), misses)
    check(cal.certificate().groups["a"], misses)


def test_bands_that_no_outcome_is_in_pass_no_bound() -> None:
    bettors = Bettors(np.array([0.1, 0.5]), Columns(cell_columns(2), rows=1))
    cell, one, zero = np.array([0]), np.ones((1, 2)), np.zeros(1)
    for t in range(1, 3001):
        up, down = bettors.bets(cell)
        since = np.zeros((1, 4, 2))
        bettors.settle(cell, one, up - down, one, zero, zero, since, zero)
        if t % 100 == 0:
            most = bettors.top * bettors.most_gains(slice(1))[0][0] / t
            assert (1.0 - bettors.alphas <= most).all()
    assert float(bettors.cells["paid"][0, 0]) > math.exp(300.0)


def sums_of(cal: AutoLARC, **numbers: float) -> tuple[Sums, Any]:
    """What a certificate is made of, with sums that no run leaves."""
    assert cal._engine is not None
    made = Sums.of(cal._engine)
    for name, value in numbers.items():
        made.numbers[getattr(layout, name)] = value
    return made, cal._engine.node()


def unlucky() -> AutoLARC:
    """A calibrator that lost nearly everything, with a theorem that knows of less."""
    cal = AutoLARC(0.1, limits=(0.0, 1.0), loss_bound=2.0, initial_threshold=0.5)
    for t in range(3000):
        cal.update(None, 2.0 if t % 20 else 0.0, 0.5, "a")
    return cal


def test_every_bound_that_the_losses_have_passed_is_withdrawn() -> None:
    cal = unlucky()
    small = {"LOST_UP": 0.0, "GRANTED": 1.0, "PAID": 1.0, "CEILING_FAILS": 0.0, "FLOOR_FAILS": 0.0}
    sums, node = sums_of(cal, **small)
    node[layout.UP_COST] = 1.0
    made = certify(sums, node, {"a": node})
    place = certify_place(sums, node, (0.0,), (1.0,))
    ahead = made.forward(cal.rounds + 1)
    for bound in (
        made.observed,
        made.above,
        made.groups["a"].above,
        place.above,
        ahead,
        made.bound,
    ):
        assert bound.passed
        assert "the mean loss is 1.8" in bound.unmet[0]
    assert made.below.holds
    assert made.tightest is None
    assert made.verdict.state == "not kept"
    assert "One of its assumptions fails" in made.verdict.text
    assert "group a: risk 1.9000 over 3000 rounds, no guarantee above, at least" in str(made)


def test_a_loss_at_the_largest_score_is_an_assumption_that_fails() -> None:
    cal = AutoLARC(0.1, initial_threshold=0.5).update(None, 1.0, 0.5)
    (reason,) = cal.certificate().above.unmet
    assert reason == "a threshold of 0.5 cost more than alpha, although no score is above 0.5"


def test_losses_that_are_too_few_withdraw_the_bound_below() -> None:
    cal = AutoLARC(0.5)
    for _ in range(2000):
        cal.update(None, 0.0, 0.5)
    sums, node = sums_of(cal, LOST_DOWN=0.0, GRANTED=1.0)
    node[layout.DOWN_COST] = 1.0
    made = certify(sums, node, {})
    assert made.below.passed
    assert not made.above.passed
    assert made.forward(2001).passed


def test_a_bound_for_later_is_kept_while_the_rounds_ahead_can_make_up_for_the_others() -> None:
    cal = unlucky()
    sums, node = sums_of(cal, CEILING_FAILS=0.0, FLOOR_FAILS=0.0)
    assert forward(sums, node, 10 * cal.rounds).holds
    sums.numbers[layout.ROUNDS] = 0.0  # as if most rounds were still to come
    value = forward(sums, node, 10 * cal.rounds).value
    least = least_deviation(sums, node, 9 * cal.rounds, 10 * cal.rounds)
    excess = sums[layout.TOP] * float(node[layout.EXCESS])
    assert least == pytest.approx((excess - 0.1 * 9 * cal.rounds) / (10 * cal.rounds))
    assert 0.0 <= least <= value


def test_lambda_is_a_logarithm_up_to_the_cap_and_its_tangent_from_there() -> None:
    sums, _ = sums_of(AutoLARC(0.1).update(None, 0.0, 0.0))
    cap = LARGEST_TERM * 0.05 / (2.0 * BETS)
    assert sums.budget(0.05, 1.0) == math.log(2.0 * BETS / 0.05)
    assert sums.budget(0.05, cap) == pytest.approx(math.log(LARGEST_TERM))
    assert sums.budget(0.05, 1.001 * cap) - math.log(LARGEST_TERM) == pytest.approx(1e-3, rel=1e-9)
    assert sums.budget(0.05, 50.0 * cap) == pytest.approx(math.log(LARGEST_TERM) + 49.0)
    assert sums.budget(0.05, -1.0) == math.inf


def test_bands_withdraw_a_bound_that_their_misses_have_passed() -> None:
    bands = Bands(coverage=0.9, horizon=1)
    for t in range(90):
        bands.predict(pd.DataFrame({"unique_id": ["a"], "ds": [t], "yhat": 0.0}))
        bands.observe(pd.DataFrame({"unique_id": ["a"], "ds": [t], "y": [10.0**t]}))
    assert bands.certificate().above.holds
    cells = bands._bands.rounds.bettors.cells
    cells["up cost"][:], cells["paid"][:] = 0.0, 0.0
    found = bands.certificate()
    assert found.above.passed
    assert found.series["a"].above.passed
    assert found.verdict.state == "not kept"
    assert "excludes nothing" in bands.summary()
