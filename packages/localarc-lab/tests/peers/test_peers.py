"""What all peers promise: a calibrator's members, checked input, thresholds that are finite."""

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from localarc import Calibrator, OnlineCalibrator, replay
from localarc.curves import miscoverage
from localarc.testing import check_calibrator, check_online_calibrator
from localarc_lab import peers
from peers.rounds import inputs_and_scores, thresholds

METHODS: dict[str, Callable[..., Any]] = {
    name: getattr(peers, name)
    for name in peers.__all__
    if name not in ("TangentIntegrator", "Theta")
}
every_method = pytest.mark.parametrize("make", METHODS.values(), ids=METHODS)


def shorter(make: Callable[..., Any]) -> Any:
    """A peer whose first rounds are over soon."""
    settings = inspect.signature(make).parameters
    return make(0.1, calibration=20) if "calibration" in settings else make(0.1)


@every_method
def test_a_peer_is_a_calibrator_and_keeps_its_promises(make: Callable[..., Any]) -> None:
    assert isinstance(make(0.1), Calibrator)
    check_calibrator(shorter(make))
    if isinstance(make(0.1), OnlineCalibrator):  # one that issues tickets has the whole role
        check_online_calibrator(shorter(make))


@pytest.mark.slow
@every_method
def test_a_peer_comes_near_the_target_on_a_stationary_stream(make: Callable[..., Any]) -> None:
    random = np.random.default_rng(1)
    X, scores = random.uniform(size=(3000, 2)), np.abs(random.normal(size=3000))
    groups = [t % 3 for t in range(3000)]
    run = replay(shorter(make), X, miscoverage(scores), groups)
    assert abs(run.losses[500:].mean() - 0.1) < 0.05


@every_method
@pytest.mark.parametrize("endless", [np.inf, -np.inf])
def test_infinite_scores_leave_thresholds_finite(make: Callable[..., Any], endless: float) -> None:
    cal = shorter(make)
    for t, score in enumerate([endless, 1.0, endless, 2.0, *[0.5] * 30, endless, 1.5]):
        groups = {"groups": t % 2} if "groups" in cal.learns_from else {}
        x = np.array([t / 10.0])
        threshold = cal.threshold(x, **groups)
        assert np.isfinite(threshold)
        cal.update(x, float(score > threshold), score=score, **groups)
    assert np.isfinite(cal.threshold(np.array([1.0])))


@every_method
@pytest.mark.parametrize(
    ("wrong", "what"),
    [
        ({"alpha": 0.0}, "alpha must lie strictly between 0 and the loss bound 1"),
        ({"alpha": 1.0}, "alpha must lie strictly between 0"),
        ({"alpha": 0.1, "loss_bound": 0.0}, "loss_bound must be positive"),
        ({"alpha": 0.1, "initial_threshold": np.inf}, "initial_threshold must be finite"),
    ],
)
def test_wrong_settings_are_rejected(
    make: Callable[..., Any], wrong: dict[str, float], what: str
) -> None:
    with pytest.raises(ValueError, match=what):
        make(**wrong)


@every_method
def test_a_rejected_round_changes_nothing(make: Callable[..., Any]) -> None:
    cal, twin = shorter(make), shorter(make)
    for each in (cal, twin):
        thresholds(each)
    x = np.array([0.5, 0.5])
    bad: list[dict[str, Any]] = [
        {"loss": 2.0, "score": 1.0},
        {"loss": 0.0, "score": float("nan")},
        {"loss": 0.0, "score": "one"},
        {"loss": float("nan"), "score": 1.0},
    ]
    for round_ in bad:
        with pytest.raises((TypeError, ValueError)):
            cal.update(x, **round_)
    if "score" in cal.learns_from:
        with pytest.raises(TypeError, match="requires the score"):
            cal.update(x, 0.0)
    assert cal.rounds == twin.rounds
    assert cal.threshold(x) == twin.threshold(x)


@every_method
def test_the_loss_bound_is_a_unit_of_losses(make: Callable[..., Any]) -> None:
    """A miss that costs 10 with target 1 is a miss that costs 1 with target 0.1."""
    X, scores = inputs_and_scores()
    groups = [t % 3 for t in range(len(X))]
    one = replay(make(0.1), X, miscoverage(scores), groups)
    ten = replay(
        make(1.0, loss_bound=10.0),
        X,
        miscoverage(scores, cost=np.full(len(X), 10.0), bound=10.0),
        groups,
    )
    assert ten.thresholds == pytest.approx(one.thresholds, rel=1e-9)


def test_a_peer_shows_its_settings() -> None:
    shown = repr(peers.AgACI(0.1, window=300))
    assert shown == (
        "AgACI(alpha=0.1, gammas=(0.0, ..., 0.09), window=300, loss_bound=1.0, "
        "initial_threshold=0.0, rounds=0)"
    )
    cast = peers.ConformalPID(0.1, scorecaster=peers.Theta())
    assert "scorecaster=Theta(19 smoothings, 0.05 to 0.95)" in repr(cast)
    assert "calibration=150" in repr(peers.SAOCP(0.1))


UNITLESS = [name for name in METHODS if name not in ("ConformalPID", "POGO")]


@pytest.mark.parametrize("name", UNITLESS)
def test_units_of_scores_do_not_matter(name: str) -> None:
    """Conformal PID's first step, and POGO's first wealth, are in units of the score."""
    X, scores = inputs_and_scores()
    groups = [t % 3 for t in range(len(X))]
    one = replay(METHODS[name](0.1), X, miscoverage(scores), groups)
    many = replay(METHODS[name](0.1), X, miscoverage(1024.0 * scores), groups)
    assert many.thresholds == pytest.approx(1024.0 * one.thresholds, rel=1e-9)


def test_methods_for_groups_have_a_threshold_for_each() -> None:
    random = np.random.default_rng(2)
    for make in (peers.GroupACI, peers.GCACI, peers.POGO, peers.MVP):
        cal: Any = shorter(make)
        for t in range(3000):
            hard = t % 2 == 0
            score = float(abs(random.normal()) * (3.0 if hard else 1.0))
            group = "hard" if hard else "easy"
            miss = float(score > cal.threshold(None, groups=group))
            cal.update(None, miss, score=score, groups=group)
        assert cal.threshold(None, groups="hard") > cal.threshold(None, groups="easy") + 1.0


@pytest.mark.slow
def test_methods_for_places_have_larger_thresholds_where_scores_are_larger() -> None:
    random = np.random.default_rng(3)
    X = random.uniform(size=(2000, 1))
    scores = np.abs(random.normal(size=2000)) * (0.2 + 3.0 * X[:, 0])
    for make in (
        *(peers.NearestQuantile, peers.KernelQuantile, peers.RandomFourierQuantile),
        *(peers.OLCP, peers.OLCPHedge),
    ):
        cal: Any = make(0.1)
        replay(cal, X, miscoverage(scores))
        assert cal.threshold([0.9]) > 1.5 * cal.threshold([0.1])


def test_pid_with_a_scorecaster_follows_a_trend() -> None:
    plain = peers.ConformalPID(0.1, rate=0.01, integrator=None)
    cast = peers.ConformalPID(0.1, rate=0.01, integrator=None, scorecaster=peers.Theta())
    scores = [float(t) for t in range(300)]  # rise faster than the tracker
    found = {}
    for cal in (plain, cast):
        gaps = []
        for score in scores:
            threshold = cal.threshold(None)
            gaps.append(abs(threshold - score))
            cal.update(None, float(score > threshold), score=score)
        found[cal] = np.mean(gaps[100:])
    assert found[cast] < 0.5 * found[plain]


def test_weights_of_memberships_count() -> None:
    cal = peers.GCACI(0.1, scale=1.0)
    cal.update(None, 1.0, score=1.0, groups={"a": 0.5, "b": 0.0})
    assert cal.threshold(None, groups="a") == pytest.approx(0.09 + 0.045)
    assert cal.threshold(None, groups="b") == pytest.approx(0.09)
