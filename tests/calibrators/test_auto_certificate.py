"""The certificate of AutoLARC: made of running sums, and never passed by the risk beside it."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from localarc import AutoLARC, Safeguard
from localarc.constants import BETS, STAKE, STAKE_ALL
from localarc.engine.auto import layout

Losses = Any


def adversary(cal: Any, rounds: int, wish: Any, groups: Any = None) -> Any:
    """Scores in [0, 1], chosen after the threshold is known."""
    random = np.random.default_rng(0)
    for t in range(rounds):
        x, labels = random.normal(size=1), groups(t) if groups else ()
        g = cal.threshold(x, labels)
        score = min(max(float(np.nextafter(g, np.inf)), 0.0), 1.0) if wish(t, cal) else 0.0
        cal.update(x, float(score > g), score, labels)
        yield cal


WISHES = {
    "always": lambda t, cal: True,
    "never": lambda t, cal: False,
    "phases": lambda t, cal: (t // 60) % 2 == 0,
    "harmless, then hard": lambda t, cal: t > 250,
    "above the target": lambda t, cal: t == 0 or cal.risk < 0.2,
}


@pytest.mark.slow
@pytest.mark.parametrize("wish", WISHES.values(), ids=WISHES)
@pytest.mark.parametrize("settings", [{}, {"limits": (0.0, 1.0)}, {"promise": "at most"}])
def test_no_risk_passes_its_bound(wish: Any, settings: dict[str, Any]) -> None:
    cal = AutoLARC(0.1, initial_threshold=0.0, **settings)
    for t, _ in enumerate(adversary(cal, 500, wish, lambda t: "even" if t % 2 else ["odd", "x"])):
        if t % 50 == 0:
            check(cal)
    check(cal)


def check(cal: Any) -> None:
    certificate = cal.certificate()
    assert certificate.consistent
    excess = certificate.risk - cal.alpha
    distance = abs(excess) if certificate.observed.side == "both" else excess
    assert distance <= certificate.observed.value + 1e-9
    for part in (certificate, *certificate.groups.values()):
        if part.above.holds:
            assert part.risk - cal.alpha <= part.above.value + 1e-9
        if part.below.holds:
            assert cal.alpha - part.risk <= part.below.value + 1e-9
    for place in cal.places(5, min_weight=1.0):
        assert not place.above.holds or place.deviation <= place.above.value + 1e-9


def test_the_bets_never_hold_more_than_they_were_granted() -> None:
    cal = Safeguard(lambda x: 0.3, 0.1)
    for t, _ in enumerate(adversary(cal, 400, WISHES["phases"], lambda t: ["a", t % 3])):
        if t % 20 == 0:
            assert fortune(cal._engine) <= cal.certificate()._sums.paid * (1 + 1e-9)


def fortune(engine: Any) -> float:
    """The sum that theorem E bounds: stakes times the mean of exp(beta G - beta^2 W)."""
    total = 0.0
    betas = 2.0 ** -np.arange(1, BETS + 1)
    for slot in [*np.flatnonzero(engine.keys), len(engine.keys)]:
        node = engine.nodes[slot]
        stake = STAKE if slot < len(engine.keys) else STAKE_ALL
        sides = [(layout.UP_GAIN, layout.UP_COST)]
        if slot == len(engine.keys) or engine.keys[slot] >> 61 == 3:
            sides.append((layout.DOWN_GAIN, layout.DOWN_COST))
        for gain, cost in sides:
            allowed = betas[betas <= (0.5 if node[layout.MOST_WEIGHT] == 0 else 0.0)]
            terms = np.exp(allowed * node[gain] - allowed**2 * node[cost])
            total += stake / 2 * terms.sum() / BETS
    return total


def test_a_ceiling_that_costs_too_much_withdraws_the_bound_and_says_since_when() -> None:
    cal = AutoLARC(0.1, limits=(0.0, 0.5))
    for _ in range(100):
        cal.update(None, 0.0, 0.2)
    assert cal.certificate().above.holds
    for _ in range(400):
        cal.update(None, 1.0, 0.9)
    above = cal.certificate().above
    assert not above.holds
    assert "ceiling cost more than alpha" in above.unmet[0]
    assert "since round" in above.unmet[0]
    since = int(above.unmet[0].rsplit(" ", 1)[1])
    assert 100 < since < 500
    assert abs(cal.risk - 0.1) <= cal.certificate().observed.value


def test_a_floor_that_costs_too_little_withdraws_the_lower_bound() -> None:
    cal = AutoLARC(0.1, limits=(0.3, 1.0), initial_threshold=0.0)
    for _ in range(300):
        cal.update(None, 0.0, -math.inf)
    below = cal.certificate().below
    assert not below.holds
    assert "floor cost less than alpha" in below.unmet[0]
    assert cal.certificate().above.holds


def test_a_threshold_above_all_scores_that_costs_too_much_is_noticed() -> None:
    cal = AutoLARC(0.1)
    for _ in range(50):
        cal.update(None, 0.0, 0.2)
    for _ in range(50):
        cal.update(None, 1.0, math.inf)
    above = cal.certificate().above
    assert not above.holds
    assert "no score" in above.unmet[0]


def test_the_forward_bound_holds_at_later_rounds() -> None:
    cal = AutoLARC(0.1, limits=(0.0, 1.0))
    promised: dict[int, float] = {}
    for _ in adversary(cal, 1200, WISHES["phases"]):
        if cal.rounds in (100, 300, 600):
            for later in (700, 1200):
                if later > cal.rounds:
                    promised[later] = cal.certificate().forward(later).value
        if cal.rounds in promised:
            assert abs(cal.risk - 0.1) <= promised[cal.rounds]
    with pytest.raises(ValueError, match="still to come"):
        cal.certificate().forward(1200 - cal.certificate().uninformed)


def test_a_log_of_losses_finds_a_lost_update() -> None:
    cal, losses = AutoLARC(0.1), []
    for score in np.abs(np.random.default_rng(0).normal(size=50)):
        losses.append(float(score > cal.threshold(None)))
        cal.update(None, losses[-1], score)
    assert cal.certificate(losses=losses).consistent
    assert not cal.certificate(losses=losses[:-1]).consistent


def test_a_hat_says_where_it_is() -> None:
    random = np.random.default_rng(0)
    cal = AutoLARC(0.1)
    for _ in range(200):
        x = random.normal(size=1) * 50.0
        cal.update(x, 0.0, 1.0)
    assert cal._engine is not None
    from localarc.engine.auto.places import hats_at

    x = np.array([12.0])
    found = list(hats_at(cal._engine, x))
    assert found
    for hat in found:
        assert hat.centre[0] is not None
        assert hat.width[0] is not None
        assert hat.weight == pytest.approx(1.0 - abs(x[0] - hat.centre[0]) / hat.width[0])


def test_a_full_table_refuses_then_evicts_and_says_so() -> None:
    cal = AutoLARC(0.1, max_bytes=40_000)  # 256 slots
    random = np.random.default_rng(0)
    for t in range(900):
        x, score = random.normal(size=2), abs(random.normal())
        cal.update(x, float(score > cal.threshold(x, t)), score, groups=t)
    certificate = cal.certificate()
    assert certificate.refused["groups"] > 0
    assert certificate.refused["hats"] > 0
    assert certificate.evicted["groups"] > 0
    assert "dropped from a full table" in str(certificate)
    assert "increase max_bytes" in str(certificate)
    assert cal.nbytes <= 100_000
    assert len(cal.state()) <= 60_000
    assert abs(certificate.risk - 0.1) <= certificate.observed.value
    assert AutoLARC.from_state(cal.state()).state() == cal.state()


def test_eviction_spares_what_is_pending_and_what_is_in_use() -> None:
    cal = AutoLARC(0.1, max_bytes=40_000, initial_threshold=0.0)
    ticket = cal.ask(None, groups="pending")
    for t in range(2000):
        cal.update(None, 0.0, 1.0, groups=["used", t])
    groups = cal.certificate().groups
    assert cal.certificate().evicted["groups"] > 0
    assert groups["used"].rounds == 2000
    assert "pending" in groups
    cal.tell(ticket, 1.0, 2.0)
    assert cal.certificate().groups["pending"].rounds == 1.0


def test_replay_and_updates_evict_alike() -> None:
    from localarc import replay
    from localarc.curves import miscoverage

    random = np.random.default_rng(0)
    X, scores = random.normal(size=(1500, 2)), np.abs(random.normal(size=1500))
    played, stepped = AutoLARC(0.1, max_bytes=40_000), AutoLARC(0.1, max_bytes=40_000)
    run = replay(played, X, miscoverage(scores))
    for t, x in enumerate(X):
        g = stepped.threshold(x)
        assert g == run.thresholds[t]
        stepped.update(x, float(scores[t] > g), scores[t])
    assert played.certificate().evicted["hats"] > 0
    assert played.state() == stepped.state()
