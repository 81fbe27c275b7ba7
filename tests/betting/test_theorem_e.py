"""Theorem E of docs/guarantees.md: its inequalities, its lemma, and adversaries against it."""

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import bettors as oracle
from betting_duel import Outcome, duel
from bettors import C, K
from engine_duel import HostileEngine, ShadowedEngine
from localarc import AutoLARC
from localarc.engine.auto import layout
from localarc.testing import Played, Scenario, attack_tickets
from localarc.testing.betting_adversary import ALL
from oracle_constants import STAKE_ALL

ROUNDING = 1e-9
CHUNKS, PER_CHUNK = 20, 500


def play(seeds: range, rounds: int, late_terms: bool = True) -> list[Outcome]:
    return [duel(Scenario.draw(seed), rounds, late_terms) for seed in seeds]


def assert_no_violation(seeds: range, rounds: int) -> None:
    for seed, outcome in zip(seeds, play(seeds, rounds), strict=True):
        assert outcome.ratio <= 1.0 + ROUNDING, f"the bound is broken: {Scenario.draw(seed)}"
        assert outcome.observed <= 1.0 + 1e-6, f"the observed bound is: {Scenario.draw(seed)}"
        assert outcome.interval <= 1e-6, f"an interval is too bad: {Scenario.draw(seed)}"


@pytest.mark.slow
def test_no_adversary_exceeds_the_bound_at_any_node_at_any_time_or_in_any_interval() -> None:
    assert_no_violation(range(50), 300)


@pytest.mark.slow
@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_no_adversary_of_ten_thousand_exceeds_the_bound(chunk: int) -> None:
    assert_no_violation(range(chunk * PER_CHUNK, (chunk + 1) * PER_CHUNK), 1000)


@pytest.mark.slow
def test_the_control_breaks_the_bound_in_hundreds_of_streams() -> None:
    broken = sum(outcome.ratio > 1.0 + ROUNDING for outcome in play(range(1500), 1000, False))
    assert broken > 200  # 293 when this was written


@pytest.mark.slow
def test_no_adversary_exceeds_the_bound_in_a_long_stream() -> None:
    assert_no_violation(range(20_000, 20_040), 20_000)


@pytest.mark.slow
def test_the_adversaries_nearly_reach_the_bound() -> None:
    assert max(outcome.ratio for outcome in play(range(150), 300)) > 0.95


def test_without_the_terms_for_late_losses_the_adversaries_break_the_bound() -> None:
    late = [seed for seed in range(300) if Scenario.draw(seed).max_pending > 0]
    broken = [seed for seed in late if duel(Scenario.draw(seed), 300, False).ratio > 1.0 + ROUNDING]
    assert len(broken) > len(late) // 10


def test_without_late_losses_the_terms_for_them_make_no_difference() -> None:
    prompt = [seed for seed in range(100) if Scenario.draw(seed).max_pending == 0]
    for seed in prompt:
        assert duel(Scenario.draw(seed), 200, True) == duel(Scenario.draw(seed), 200, False)


# The engine of AutoLARC and Safeguard, with hostile bases and units, and with its own base.


def assert_engine_holds(seeds: range, rounds: int, every: int) -> float:
    """Play against the engine; return the largest G / bound."""
    worst = 0.0
    for seed in seeds:
        scenario, dimension, own_base = Scenario.draw(seed), seed // 3 % 3, seed % 3 == 0
        engine = HostileEngine(scenario, dimension, own_base)
        ratios = [0.0]

        def check(played: Played, engine: HostileEngine = engine, ratios: Any = ratios) -> None:
            if len(played.arrived) % every == 0:
                ratios.append(engine.largest_ratio())

        attack_tickets(engine, scenario, rounds, dimension=dimension, after_loss=check)
        worst = max(worst, *ratios, engine.largest_ratio())
        assert worst <= 1.0 + ROUNDING, f"the bound is broken, {own_base=}: {scenario}"
    return worst


def test_no_adversary_exceeds_the_bound_at_any_node_of_the_engine() -> None:
    assert assert_engine_holds(range(90), 150, every=3) > 0.9


@pytest.mark.slow
@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_no_adversary_of_ten_thousand_exceeds_the_bound_of_the_engine(chunk: int) -> None:
    assert_engine_holds(range(chunk * PER_CHUNK, (chunk + 1) * PER_CHUNK), 200, every=10)


def test_thresholds_and_gains_of_the_engine_are_those_of_the_theorem() -> None:
    for seed in range(60):
        scenario = Scenario.draw(seed)
        engine = ShadowedEngine(scenario, 120)
        attack_tickets(engine, scenario, 120, dimension=0)  # compares every threshold
        constant, state = engine.engine.nodes[-1], engine.state
        assert constant[layout.UP_GAIN] == pytest.approx(state.G[0, 0], abs=1e-5)
        assert constant[layout.UP_COST] == pytest.approx(state.W[0, 0], abs=1e-5)
        assert engine.total() == pytest.approx(state.A[0], rel=1e-3)  # it rounds e up


# The certificate, against the adversary's own log.


def play_against_auto(seed: int, rounds: int) -> tuple[AutoLARC, Played]:
    scenario = Scenario.draw(seed)
    cal = AutoLARC(
        scenario.alpha,
        limits=scenario.score_range if scenario.limited else (None, None),
        promise="both" if scenario.two_sided else "at most",
        loss_bound=scenario.loss_bound,
        initial_threshold=scenario.score_range[0],
        max_bytes=10**6,
    )
    return cal, attack_tickets(cal, scenario, rounds, dimension=seed % 3)


def test_the_certificate_never_contradicts_the_log_of_an_adversary() -> None:
    checked = withdrawn = 0
    for seed in range(60):
        cal, played = play_against_auto(seed, 200)
        certificate = cal.certificate()
        nodes = {ALL: certificate, **certificate.groups}
        for group, node in nodes.items():
            if node.rounds == 0.0:
                continue
            excess = played.excess(str(group))
            assert node.excess == pytest.approx(excess, abs=1e-9)
            if not Scenario.draw(seed).limited:  # every bet was played in full
                stretch = played.worst_stretch(str(group))
                assert node.worst_stretch == pytest.approx(stretch, abs=1e-9)
            assert not node.above.holds or excess <= node.above.value * node.rounds + ROUNDING
            assert not node.below.holds or -excess <= node.below.value * node.rounds + ROUNDING
            checked += node.above.holds
            withdrawn += not node.above.holds
    assert checked > 50
    assert withdrawn > 10  # where the adversary was seen to break a ceiling


def test_what_the_bets_won_bounds_the_risk_without_any_assumption() -> None:
    for seed in range(60):
        cal, played = play_against_auto(seed, 200)
        if cal.rounds:
            observed = cal.certificate().observed
            gap = played.excess(ALL) / cal.rounds
            assert (gap if observed.side == "above" else abs(gap)) <= observed.value + ROUNDING


# The inequalities of the proof.


def test_c_is_the_smallest_constant_of_the_quadratic_bound() -> None:
    x = np.linspace(-0.5, 5.0, 200_001)
    assert np.all(np.exp(x - C * x**2) <= 1.0 + x + 1e-15)
    smaller = 0.999 * C
    assert math.exp(-0.5 - smaller / 4) > 0.5


def test_the_constants_for_late_losses_suffice_whatever_is_pending() -> None:
    D = np.concatenate([np.linspace(0.0, 10.0, 1001), np.logspace(1, 9, 1001)])
    quarter = 0.25 / (1.0 + D)  # beta rho, at most
    assert np.all(1.0 + 1.25 * quarter * (1.0 + 1.455 * D) <= 1.455)
    kappa = 1.455 * quarter * D
    assert np.all(np.expm1(kappa[1:]) <= 1.21 * kappa[1:])
    v = quarter * np.exp(kappa)
    f = np.where(v > 1e-4, (-np.log1p(-v) - v) / v**2, 0.5 + v / 3.0 + v**2)
    assert np.all(np.exp(2.0 * kappa) * f <= 1.04)
    assert np.all((C + D) / (1.0 + D) <= 1.0)


@given(st.floats(0.01, 60.0), st.floats(1e-6, 1e6))
def test_the_closed_form_bounds_the_minimum_over_the_grid_of_betas(lam: float, W: float) -> None:
    best = oracle.gain_bound(lam, W, 0.5)
    assert best <= max(1.5 * math.sqrt(2.0) * math.sqrt(lam * W), 4.0 * lam) * (1.0 + 1e-12)


@given(st.floats(0.01, 60.0), st.floats(1e-6, 1e6), st.integers(0, 8), st.floats(0.02, 1.0))
def test_the_closed_form_covers_late_losses(lam: float, W: float, i: int, rho: float) -> None:
    most, tau = 2.0**i - 1.0, min(1.0, 0.25 / rho)
    top = tau / (1.0 + most)
    limit = max(2.13 * math.sqrt(lam * W), 4.0 * (1.0 + most) * lam / tau)
    assert oracle.gain_bound(lam, W, top) <= limit * (1.0 + 1e-12)


# The lemma: in the order of prediction, no round adds more to the potential than was bet on it.


def potential_steps(seed: int, late_terms: bool, most: float = math.inf) -> float:
    """The largest (Phi_(t+1) - Phi_t - beta y_t u_t) / Phi_t over rounds, betas and sides.

    Exponentials in a bet stay at exp(most).
    """
    random = np.random.default_rng(seed)
    T, alpha = 40, float(random.choice([0.02, 0.1, 0.5, 0.9]))
    state = oracle.new_bettors(alpha, 1.0, [1.0], [[0.5, 0.5]], [False, False], late_terms)
    book = oracle.new_rounds(T, 1)
    book.b[:, 0] = random.choice([1.0, 0.25, random.random()], size=T)
    book.unit[:], top = 1.0, max(alpha, 1.0 - alpha)
    sums = np.zeros((T, 2, 2))  # G and W of both sides when each threshold went out
    waiting: list[int] = []
    patience = int(random.choice([0, 2, 8, 30]))
    for t in range(T):
        oracle.touch(state, book.b[t])
        sums[t, 0], sums[t, 1] = state.G[0], state.W[0]
        oracle.ask(state, book, t, 0.0, 0.0, -math.inf, math.inf)
        waiting.append(t)
        while len(waiting) > patience or (t == T - 1 and waiting):
            s = waiting.pop(int(random.integers(len(waiting))))
            oracle.tell(state, book, s, (float(random.random() < 0.5) - alpha) / top, t)
    return max(_worst_step(state, book, sums, side, late_terms, most) for side in range(2))


def _worst_step(
    state: oracle.Bettors,
    book: oracle.Rounds,
    sums: np.ndarray,
    side: int,
    late_terms: bool,
    most: float,
) -> float:
    y, q = book.y[:, 0, side], book.q[:, 0, side]
    top = oracle.largest_beta(late_terms, state.most[0], state.rho[side])
    worst = -math.inf
    for beta in 0.5 ** np.arange(1, K + 1):
        if beta <= top:
            steps = beta * y - beta**2 * q
            before = np.cumsum(steps) - steps
            u = np.exp(np.minimum(beta * sums[:, 0, side] - beta**2 * sums[:, 1, side], most))
            old, new = potential(before, most), potential(before + steps, most)
            worst = max(worst, float(np.max((new - old - beta * y * u) / old)))
    return worst


def potential(x: np.ndarray, most: float) -> np.ndarray:
    """exp(x), and its tangent at `most` from there."""
    slope: np.ndarray = np.exp(np.minimum(x, most))
    return slope * (1.0 + np.maximum(x - most, 0.0))


@settings(max_examples=150)
@given(st.integers(0, 10_000))
def test_no_round_adds_more_to_the_potential_than_was_bet_on_it(seed: int) -> None:
    assert potential_steps(seed, late_terms=True) <= 1e-12


@settings(max_examples=150)
@given(st.integers(0, 10_000), st.sampled_from([0.0, 0.1, 0.5, 2.0, 5.0]))
def test_nor_to_the_potential_of_capped_bets(seed: int, most: float) -> None:
    assert potential_steps(seed, late_terms=True, most=most) <= 1e-12


def test_without_the_terms_for_late_losses_a_round_can_add_more_than_was_bet_on_it() -> None:
    assert max(potential_steps(seed, late_terms=False) for seed in range(100)) > 1e-3


# What the theorem does not say.


def always_lose_at_the_ceiling(rounds: int) -> tuple[float, float]:
    """Sums of y and of z where even the ceiling costs 1, as if no set could help."""
    state = oracle.new_bettors(0.1, 1.0, [STAKE_ALL], [[0.5, 0.5]], [True, False])
    book = oracle.new_rounds(rounds, 1)
    book.b[:], book.unit[:], book.high[:] = 1.0, 1.0, 1.0
    for t in range(rounds):
        oracle.touch(state, book.b[t])
        oracle.ask(state, book, t, *oracle.bets(state, book.b[t]), 0.0, 1.0)
        oracle.tell(state, book, t, 1.0, t)
    assert oracle.largest_ratio(state, book.b[0], state.A[0]) <= 1.0
    return float(book.y[:, 0, 0].sum()), float(rounds)


def test_where_the_ceiling_costs_too_much_only_the_weighted_sum_is_bounded() -> None:
    weighted, plain = always_lose_at_the_ceiling(5000)
    assert weighted < 100.0 < plain
