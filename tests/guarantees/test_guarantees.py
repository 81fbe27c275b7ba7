import itertools
import math
from typing import Any

import numpy as np
import pytest

from examples import sparse
from localarc import ARC, LARC, RBF, Constant, KeepAll, KeepLast, Laplace, Power, replay
from localarc.curves import miscoverage
from localarc.guarantees import Evidence
from localarc.kernels import Custom
from localarc.testing import STRATEGIES, attack

UNIT = Evidence((0.0, 1.0), 0, 0)
METHODS: list[tuple[Any, Any, float]] = [
    (RBF.from_paper(1.0), 1.0, 1e-2),
    (RBF.from_paper(0.1, 2.0), 0.3, 1e-4),
    (Laplace(1.0), Power(0.5, 0.7), 0.1),
    (RBF.from_paper(1.0), Constant(0.05), 0.5),
]
LIMITS: list[dict[str, Any]] = [{}, {"clip": 0.5}, {"radius": 0.7}, {"memory": KeepLast(25)}]
SETTINGS: list[dict[str, Any]] = [
    {"kernel": kernel, "rate": rate, "regularization": regularization, **options}
    for (kernel, rate, regularization), options in itertools.product(METHODS, LIMITS)
] + [
    {"rate": rate, "initial_threshold": start}
    for rate in (1.0, Constant(0.05))
    for start in (0.0, 3.0)
]
assert len(SETTINGS) == 20


@pytest.mark.parametrize(("options", "rounds"), sparse(SETTINGS, [300, 50, 1500]))
def test_no_adversary_breaks_a_bound(options: dict[str, Any], rounds: int) -> None:
    for alpha, strategy in itertools.product([0.1, 0.5], STRATEGIES):
        cal = LARC(alpha, **options) if "kernel" in options else ARC(alpha, **options)
        run = attack(cal, rounds, strategy)
        certificate = cal.certificate(evidence=UNIT)
        gap = abs(run.risk - alpha)
        assert certificate.consistent
        for bound in (certificate.observed, certificate.theorem_a, certificate.theorem_b):
            if bound.holds:
                assert gap <= bound.value + 1e-12, (strategy, bound)
        assert certificate.observed.holds
        clipped_or_free = options.get("kernel") is None or "clip" in options or "radius" in options
        assert certificate.theorem_a.holds or not clipped_or_free


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("options", SETTINGS[:4], ids=repr)
def test_the_forward_bound_covers_every_later_round(strategy: str, options: dict[str, Any]) -> None:
    cal = LARC(0.1, **options)
    early = attack(cal, 200, strategy)
    certificate = cal.certificate(evidence=UNIT)
    later = attack(cal, 1800, strategy, seed=1)
    losses = np.concatenate([early.losses, later.losses])
    for rounds in (201, 500, 2000):
        bound = certificate.forward(rounds)
        assert bound.holds
        assert abs(losses[:rounds].mean() - 0.1) <= bound.value
    with pytest.raises(ValueError, match="still to come"):
        certificate.forward(200)


@pytest.mark.parametrize("pending", [1, 5, 20])
@pytest.mark.parametrize("strategy", ["always miss", "long phases", "coin"])
def test_late_feedback_stays_within_its_bound(pending: int, strategy: str) -> None:
    """Losses come in any order, with a limited number pending."""
    random = np.random.default_rng(0)
    cal = LARC(0.1, RBF.from_paper(1.0), 2.0, 1e-2, clip=0.3)
    waiting: list[tuple[Any, float]] = []
    losses: list[float] = []

    def feed() -> None:
        x, loss = waiting.pop(int(random.integers(len(waiting))))
        cal.update(x, loss)
        losses.append(loss)

    for t in range(1500):
        x = random.normal(size=2)
        threshold = cal.threshold(x)
        wants_miss = STRATEGIES[strategy](t, random)
        waiting.append((x, float((wants_miss and threshold < 1.0) or threshold < 0.0)))
        if len(waiting) > pending:
            feed()
    bound = cal.certificate(pending=pending, evidence=UNIT)
    assert bound.theorem_a.holds
    assert not bound.theorem_b.holds
    assert "pending" in str(bound.theorem_b)
    assert abs(float(np.mean(losses)) - 0.1) <= bound.theorem_a.value


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_every_weighted_excess_loss_stays_within_theorem_c(strategy: str) -> None:
    kernel = RBF.from_paper(1.0)
    random = np.random.default_rng(3)
    for regularization, rounds in itertools.product([1e-3, 0.1], [60, 400]):
        cal = LARC(0.2, kernel, 0.5, regularization)
        X, losses = _attacked(cal, rounds, strategy)
        for _ in range(20):
            centres, weights = random.normal(size=(3, 2)) * 3, random.normal(size=3)
            constant = random.normal()
            values = kernel(X, centres) @ weights + constant
            norm = math.hypot(kernel.norm(centres, weights), constant)
            bound = cal.localized_bound(norm, evidence=UNIT)
            assert bound.holds
            assert abs(np.mean((losses - 0.2) * values)) <= bound.value


def _attacked(cal: LARC, rounds: int, strategy: str) -> tuple[Any, Any]:
    seen: list[Any] = []

    class Spy:
        alpha = cal.alpha

        def threshold(self, x: Any) -> float:
            return float(cal.threshold(x))

        def update(self, x: Any, loss: float) -> None:
            seen.append(x)
            cal.update(x, loss)

    run = attack(Spy(), rounds, strategy)
    return np.array(seen), run.losses


def test_theorem_a_is_the_papers_bound_without_its_residual() -> None:
    """(S / eta + kappa B / (eta lambda) + B) / sqrt(T), once lambda has come to act."""
    cal = LARC(
        0.2, RBF.from_paper(1.0, 2.0), 0.5, 0.9, score_range=(0.0, 3.0), initial_threshold=1.0
    )
    cal.partial_fit(np.zeros((400, 1)), np.tile([1.0, 0.0, 0.0, 0.0], 100))
    expected = (3.0 / 0.5 + 2.0 / (0.5 * 0.9) + 1.0) / 20.0
    assert cal.certificate().theorem_a.value == pytest.approx(expected)


def test_the_corrected_equation_6_is_theorem_a_without_a_kernel() -> None:
    cal = ARC(0.1, 0.25, score_range=(0.0, 2.0)).partial_fit(np.zeros((100, 1)), np.full(100, 0.1))
    certificate = cal.certificate()
    assert certificate.paper.value == pytest.approx((2.0 / 0.25 + 1.0) / 10.0)
    assert certificate.theorem_a.value == pytest.approx(certificate.paper.value)
    assert certificate.bound.name == "theorem A"


def test_the_printed_equation_6_is_false_for_small_rates() -> None:
    """It lacks 1 / eta: an adversary exceeds (S + eta B) / sqrt(T) with eta = 0.01."""
    cal = ARC(0.5, 0.01)
    run = attack(cal, 400, "always miss")
    assert abs(run.risk - 0.5) > (1.0 + 0.01) / math.sqrt(400)
    assert abs(run.risk - 0.5) <= cal.certificate(evidence=UNIT).theorem_a.value


def test_theorem_b_does_not_need_regularization() -> None:
    bounds = []
    for rounds in (16_000, 256_000, 4_096_000):
        cal = LARC(0.1, RBF.from_paper(1.0), 1.0, 0.0, score_range=(0.0, 1.0))
        rates = cal.settings.rate.values(1, rounds + 1)
        cal._constant.extend_compiled(rates, np.full(rounds, 0.1), 0.1)
        certificate = cal.certificate()
        assert certificate.bound.name == "theorem B"
        bounds.append(certificate.theorem_b.value)
    ratios = [bounds[0] / bounds[1], bounds[1] / bounds[2]]
    assert ratios == pytest.approx([2.0, 2.0], rel=0.2)  # the rate T^(-1/4)


def test_the_papers_theorem_2_keeps_its_residual() -> None:
    cal = LARC(0.1, RBF.from_paper(1.0), score_range=(0.0, 1.0))
    cal.partial_fit(np.zeros((100, 1)), np.full(100, 0.1))
    rho, B, lam = math.sqrt(2 / math.e), 1.0, 1e-4
    expected = (1 + 4 * B * math.sqrt(rho * 3.0) / lam + 6 * B) / 10 + 1.0
    assert cal.certificate(input_bound=3.0).paper.value == pytest.approx(expected)
    assert "input_bound" in str(cal.certificate().paper)


def test_a_window_bounds_the_local_part_without_regularization() -> None:
    cal = LARC(
        0.1, RBF.from_paper(1.0), memory=KeepLast(25), regularization=0.0, score_range=(0.0, 1.0)
    )
    cal.partial_fit(np.zeros((900, 1)), np.full(900, 0.1))
    assert cal.certificate().theorem_a.value == pytest.approx((1.0 + 2 * 5.0 + 1.0) / 30.0)
    assert "does not keep every term" in str(cal.certificate().theorem_b)


def test_a_bound_says_when_its_assumptions_fail() -> None:
    cal = LARC(0.1, RBF.from_paper(1.0), clip=1.0, memory=KeepAll()).update([0.0], 1.0)
    assert "state score_range" in str(cal.certificate().theorem_a)
    broken = cal.certificate(evidence=Evidence((0.0, 1.0), full_set_fails=3)).theorem_a
    assert not broken.holds
    assert "a full set cost more than alpha in 3 round(s)" in str(broken)
    broken = cal.certificate(evidence=Evidence((0.0, 1.0), 0, empty_set_passes=2)).theorem_a
    assert "an empty set cost less than alpha in 2 round(s)" in broken.unmet
    stated = LARC(0.1, RBF.from_paper(1.0), clip=1.0, score_range=(0.0, 1.0)).update([0.0], 1.0)
    assert "leave the stated score_range" in str(
        stated.certificate(evidence=Evidence((0.0, 1.5), 0, 0)).theorem_a
    )
    unknown = LARC(0.1, Custom(lambda X, z: np.ones(len(X))), score_range=(0, 1)).update([0.0], 1.0)
    assert "not bounded: set clip or radius" in str(unknown.certificate().theorem_a)
    assert "scale is unknown" in str(unknown.certificate().theorem_b)
    assert "radius" in str(
        LARC(0.1, RBF.from_paper(1.0), radius=1.0, score_range=(0, 1))
        .update([0], 1.0)
        .localized_bound(1.0)
    )


def test_before_the_first_round_nothing_is_promised() -> None:
    certificate = ARC(0.1, score_range=(0.0, 1.0)).certificate()
    assert not certificate.theorem_a.holds
    assert math.isnan(certificate.risk)
    assert certificate.to_dict()["risk"] is None
    assert "no round has been seen" in str(certificate)


def test_a_lost_update_breaks_the_identity() -> None:
    X = np.zeros((50, 1))
    cal = ARC(0.1).partial_fit(X, np.ones(50))
    assert cal.certificate().consistent
    cal._constant.loss_sum -= 1.0
    assert not cal.certificate().consistent
    assert "IS BROKEN" in str(cal.certificate())


@pytest.mark.filterwarnings("ignore::localarc.AssumptionWarning")
def test_a_certificate_speaks_of_its_moment() -> None:
    cal = ARC(0.1, score_range=(0.0, 1.0)).partial_fit(np.zeros((50, 1)), np.zeros(50))
    certificate = cal.certificate()
    before = certificate.forward(1000).value
    cal.partial_fit(np.zeros((500, 1)), np.ones(500))
    assert certificate.forward(1000).value == before


@pytest.mark.filterwarnings("ignore::localarc.AssumptionWarning")
def test_the_norm_sums_extend_as_the_calibrator_does() -> None:
    grown = LARC(0.1, RBF.from_paper(1.0), score_range=(0.0, 1.0))
    X, losses = np.zeros((300, 1)), np.tile([1.0, 0.0], 150)
    grown.partial_fit(X[:100], losses[:100]).certificate()
    grown.partial_fit(X[100:], losses[100:])
    fresh = LARC(0.1, RBF.from_paper(1.0), score_range=(0.0, 1.0)).partial_fit(X, losses)
    assert grown.certificate().theorem_b.value == pytest.approx(
        fresh.certificate().theorem_b.value, rel=1e-12
    )


def test_replay_finds_the_evidence() -> None:
    run = replay(ARC(0.1), [0.0, 1.0], miscoverage([0.3, 0.8]))
    assert run.evidence == Evidence((0.3, 0.8), 0, 0, rounds=2)
