"""A rate that rises is noticed; a restart gives what it is wanted for, with a bound."""

from typing import Any

import numpy as np
import pytest

from localarc import ARC, LARC, RBF, Panel, replay
from localarc.curves import miscoverage
from localarc.rates import Rate

SCORES = np.random.default_rng(0).random(300)
X = np.random.default_rng(1).random((300, 2))


class Rising(Rate):
    """A rate that starts again in round 100."""

    def __call__(self, t: int) -> float:
        return float(1.0 / np.sqrt(t if t < 100 else t - 99))


class Dial:
    """A function of something mutable: every single call looks fine."""

    step = 0.1

    def __call__(self, t: int) -> float:
        return self.step


def broken(certificate: Any) -> bool:
    bounds = *certificate.bounds, certificate.forward(1000)
    return all(not b.holds and "the rate rose in round" in str(b) for b in bounds)


@pytest.mark.parametrize("make", [ARC, lambda a, **k: LARC(a, RBF(0.3), clip=1.0, **k)])
def test_a_rate_that_rises_is_noticed_online_in_replay_and_in_a_panel(make: Any) -> None:
    online = make(0.1, rate=Rising(), score_range=(0.0, 1.0))
    for x, score in zip(X, SCORES, strict=True):
        online.update(x, float(score > online.threshold(x)))
    replayed = make(0.1, rate=Rising(), score_range=(0.0, 1.0))
    replay(replayed, X, miscoverage(SCORES))
    panel = Panel(make(0.1, rate=Rising(), score_range=(0.0, 1.0)))
    panel.replay(["k"] * 300, X, miscoverage(SCORES))
    for cal in (online, replayed, panel.calibrator("k")):
        assert cal.certificate().consistent
        assert broken(cal.certificate())
        assert "round 100" in str(cal.certificate())


def test_a_rate_that_something_else_changes_is_noticed() -> None:
    dial = Dial()
    cal = ARC(0.1, rate=dial, score_range=(0.0, 1.0)).update(None, 1.0)
    assert cal.certificate().theorem_a.holds
    dial.step = 0.5
    assert broken(cal.update(None, 0.0).certificate())


@pytest.mark.parametrize("make", [ARC, lambda a, **k: LARC(a, RBF(0.3), clip=1.0, **k)])
def test_a_restart_keeps_the_threshold_and_bounds_the_new_segment(make: Any) -> None:
    cal = make(0.1, score_range=(0.0, 1.0))
    replay(cal, X, miscoverage(SCORES))
    before = cal.threshold(X[0])
    assert cal.restart().threshold(X[0]) == before
    assert cal.rounds == 300
    for x, score in zip(X, 1.0 - SCORES**2, strict=True):
        cal.update(x, float(score > cal.threshold(x)))
    certificate = cal.certificate()
    assert (certificate.rounds, cal.rounds) == (300, 600)
    assert certificate.consistent
    assert certificate.theorem_a.holds
    assert abs(certificate.risk - 0.1) <= certificate.theorem_a.value
    assert type(cal).from_state(cal.state()).state() == cal.state()


def test_theorems_that_need_f_to_start_at_0_are_not_claimed_after_a_restart() -> None:
    cal = LARC(0.1, RBF(0.3), score_range=(-9.0, 9.0))
    cal.update(X[0], 1.0).restart().update(X[1], 1.0)
    assert not cal.certificate().theorem_b.holds
    assert not cal.localized_bound(1.0).holds
    arc = ARC(0.1, score_range=(0.0, 1.0)).update(None, 1.0).restart().update(None, 0.0)
    assert arc.certificate().theorem_b.holds


def test_adversaries_do_not_exceed_the_bound_of_a_segment() -> None:
    rng = np.random.default_rng(5)
    for _ in range(50):
        cal = LARC(0.2, RBF(0.3), score_range=(0.0, 1.0), regularization=0.3)
        for segment in range(3):
            for _ in range(60):
                x = rng.random(1)
                threshold = cal.threshold(x)
                loss = (
                    0.0 if threshold >= 1 else 1.0 if threshold < 0 else float(rng.random() < 0.5)
                )
                cal.update(x, loss)
            certificate = cal.certificate()
            assert abs(certificate.risk - 0.2) <= certificate.theorem_a.value, segment
            cal.restart()
