"""Losses in any unit: AutoLARC with a loss bound other than 1, with targets below and above 1."""

from __future__ import annotations

import numpy as np
import pytest

from localarc import AutoLARC, StateError
from localarc.constants import WARM
from localarc.engine.auto import layout
from localarc.serialization import decode, encode

SHARES = (0.001, 0.1, 0.3, 0.999)  # of rounds that may cost the most


def quantile(scores: list[float], share: float) -> float:
    """The least score that few enough others exceed, one to come counted among them; else all."""
    allowed = share * (len(scores) + 1)
    fitting = [s for s in scores if 1 + sum(other > s for other in scores) <= allowed + 1e-12]
    return min(fitting, default=max(scores))


@pytest.mark.parametrize("bound", [0.01, 1.0, 10.0, 1e6])
@pytest.mark.parametrize("share", SHARES)
def test_the_first_bases_are_the_plain_quantile(bound: float, share: float) -> None:
    cal = AutoLARC(share * bound, loss_bound=bound, initial_threshold=0.0)
    random, scores = np.random.default_rng(0), []
    for _ in range(WARM - 1):
        scores.append(float(random.normal()))
        cal.update(None, bound * float(scores[-1] > cal.threshold(None)), scores[-1])
        cal.threshold(None)
        assert cal._engine is not None
        assert cal._engine.last_decision[layout.BASE] == quantile(scores, share)


@pytest.mark.parametrize("bound", [0.01, 10.0, 1e6])
@pytest.mark.parametrize("share", SHARES)
def test_the_unit_of_losses_changes_no_threshold(bound: float, share: float) -> None:
    one, other = AutoLARC(share), AutoLARC(share * bound, loss_bound=bound)
    random = np.random.default_rng(1)
    for t in range(300):
        x, score, loss = random.normal(size=1), float(random.normal()), float(random.random())
        threshold = one.threshold(x, ["a", t % 3])
        assert other.threshold(x, ["a", t % 3]) == pytest.approx(threshold, rel=1e-9, abs=1e-9)
        cost = loss if score > threshold else 0.0
        one.update(x, cost, score, ["a", t % 3])
        other.update(x, bound * cost, score, ["a", t % 3])
    assert other.risk == pytest.approx(bound * one.risk)
    assert other._engine is not None
    assert np.isfinite(other._engine.nodes).all()


def test_a_base_that_is_not_finite_stays_out_of_the_state() -> None:
    cal = AutoLARC(0.1, initial_threshold=0.0).update(None, 0.0, 1.0)
    assert cal._engine is not None
    cal._engine.numbers[layout.FIRST] = np.inf
    cal.update(None, 1.0, 2.0)
    assert np.isfinite(cal._engine.nodes).all()


def test_a_state_with_a_base_that_is_not_finite_is_refused() -> None:
    cal = AutoLARC(0.1, initial_threshold=0.0).update(None, 0.0, 1.0)
    cal.ask(None)
    kind, content, arrays = decode(cal.state())
    tickets = np.array(arrays["tickets"])
    tickets[:, layout.BASE] = np.inf
    with pytest.raises(StateError, match="a base is not finite"):
        AutoLARC.from_state(encode(kind, content, {**arrays, "tickets": tickets}))
