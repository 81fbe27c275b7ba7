"""A floor for the constant: harmless rounds no longer have to be paid for, and what that proves."""

import warnings
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from localarc import ARC, LARC, RBF, AssumptionWarning, Panel, replay
from localarc.curves import miscoverage


def harmless_then_hard(seed: int, hard: int = 10_000) -> np.ndarray:
    """10,000 rounds in which nothing can fail, then hard ones, as scores."""
    scores = np.random.default_rng(seed).random(hard)
    return np.concatenate((np.full(10_000, -np.inf), scores))


def losses_of(cal: ARC | LARC, scores: np.ndarray) -> np.ndarray:
    losses = []
    for score in scores.tolist():
        losses.append(float(score > cal.threshold([0.5])))
        cal.update([0.5], losses[-1])
    return np.array(losses)


@pytest.mark.parametrize("seed", range(3))
def test_with_a_floor_harmless_rounds_are_not_paid_for(seed: int) -> None:
    cal = ARC(0.1, score_range=(0.0, 1.0), floor=0.0)
    hard = losses_of(cal, harmless_then_hard(seed))[10_000:]
    certificate = cal.certificate()
    assert certificate.at_most.holds
    assert certificate.risk <= 0.1 + certificate.at_most.value
    means = np.convolve(hard, np.full(1000, 1e-3), "valid")
    assert means[1000:].max() <= 0.2


def test_without_a_floor_the_certificate_withdraws_and_says_since_when() -> None:
    cal = ARC(0.1, score_range=(0.0, 1.0))
    with pytest.warns(AssumptionWarning, match="floor=0") as caught:
        losses_of(cal, harmless_then_hard(0))
    assert len(caught) == 1
    certificate = cal.certificate()
    assert abs(certificate.risk - 0.1) > 0.05
    assert not any(bound.holds for bound in certificate.bounds[1:])
    assert "an empty set cost less than alpha in 9999 round(s), first in round 2" in str(
        certificate
    )


def test_a_floor_that_is_never_reached_changes_nothing() -> None:
    scores = np.random.default_rng(1).random(500)
    X = np.random.default_rng(2).random((500, 2))
    for make in (
        lambda floor: ARC(0.1, floor=floor),
        lambda floor: LARC(0.1, RBF(0.3), floor=floor),
    ):
        plain = replay(make(None), X, miscoverage(scores))
        floored = replay(make(-50.0), X, miscoverage(scores))
        assert np.array_equal(plain.thresholds, floored.thresholds)


def adversarial_loss(cal: ARC | LARC, threshold: float, choice: float) -> float:
    """Any loss that (A2) allows: none above alpha at a threshold of at least 1, the largest."""
    return min(choice, cal.alpha) if threshold >= 1.0 else choice


@given(
    st.lists(st.sampled_from([0.0, 0.05, 0.1, 0.3, 1.0]), min_size=1, max_size=300),
    st.sampled_from([0.05, 0.3]),
    st.sampled_from([0.1, 1.0]),
)
def test_no_adversary_exceeds_the_one_sided_bound_of_arc(
    choices: list[float], alpha: float, rate: float
) -> None:
    cal = ARC(alpha, rate, score_range=(0.0, 1.0), floor=0.0)
    for choice in choices:
        cal.update(None, adversarial_loss(cal, cal.threshold(None), choice))
    certificate = cal.certificate()
    bound = (1.0 + rate * (1.0 - alpha)) * np.sqrt(len(choices)) / (rate * len(choices))
    assert certificate.at_most.value == pytest.approx(bound)
    assert certificate.risk - alpha <= bound + 1e-12
    assert certificate.at_most.holds
    assert certificate.consistent


@given(
    st.lists(
        st.tuples(st.sampled_from([0.0, 0.5, 1.0]), st.floats(0, 1)), min_size=1, max_size=200
    ),
    st.sampled_from([{"clip": 0.5}, {"radius": 0.7}, {}]),
)
def test_no_adversary_exceeds_the_one_sided_bound_of_larc(
    rounds: list[tuple[float, float]], limit: dict[str, Any]
) -> None:
    cal = LARC(0.1, RBF(0.2), score_range=(0.0, 1.0), floor=0.0, **limit)
    for choice, x in rounds:
        cal.update([x], adversarial_loss(cal, cal.threshold([x]), choice))
    certificate = cal.certificate()
    assert certificate.at_most.holds
    assert certificate.risk - 0.1 <= certificate.at_most.value
    assert certificate.consistent
    if cal.rounds > 1:
        assert certificate.forward(cal.rounds + 1).one_sided


def test_online_replay_and_panel_agree_bit_for_bit_with_a_floor() -> None:
    rng = np.random.default_rng(3)
    X, curves = rng.random((400, 2)), miscoverage(rng.random(400) - 0.3)
    for cal in (ARC(0.1, floor=0.0), LARC(0.1, RBF(0.3), memory="auto", floor=0.0)):
        record = replay(cal, X, curves)
        online = cal.__class__.from_state(cal.reset().state())
        for t, x in enumerate(X):
            assert online.threshold(x) == record.thresholds[t]
            online.update(x, float(record.losses[t]))
        panel = Panel(cal).replay(["a"] * 400, X, curves)
        assert np.array_equal(panel.thresholds, record.thresholds)
        assert (
            Panel(cal).update(["a"] * 400, X, record.losses).calibrator("a").state()
            == online.state()
        )


@pytest.mark.parametrize("value", [np.nan, np.inf, 2.0])
def test_a_floor_that_makes_no_sense_is_refused(value: float) -> None:
    with pytest.raises(ValueError, match="floor"):
        ARC(0.1, score_range=(0.0, 1.0), floor=value)


def test_a_bound_that_the_risk_has_passed_is_never_shown_as_holding() -> None:
    cal = ARC(0.1, rate=0.1, score_range=(0.0, 0.2))  # the scores are larger than stated
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        losses_of(cal, 5.0 + np.random.default_rng(0).random(3000))
    for bound in cal.certificate().bounds:
        assert not bound.holds or abs(cal.risk - 0.1) <= bound.value * (1 + 1e-9)
