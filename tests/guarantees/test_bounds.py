"""Every bound against its formula, written out in plain loops from docs/guarantees.md."""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest

from examples import pairwise
from localarc import ARC, LARC, RBF, Constant, InverseSqrt, KeepAll, KeepLast, Power, Triangular
from localarc.guarantees import Evidence, drift
from localarc.kernels import Custom, Kernel, Laplace
from localarc.rates import Rate

# The formulas are checked for any losses, also for those that no score in the stated range has.
pytestmark = pytest.mark.filterwarnings("ignore::localarc.AssumptionWarning")

T = 37
LATER = 90


@dataclass(frozen=True)
class Steps:
    """A rate, and the same written out: eta_t, and at least the sum of the first m of them."""

    rate: Rate
    eta: Callable[[int], float]
    sum_bound: Callable[[int], float]


ROOT = Steps(InverseSqrt(0.7), lambda t: 0.7 / math.sqrt(t), lambda m: 2 * 0.7 * math.sqrt(m))
POWER = Steps(Power(0.6, 0.75), lambda t: 0.6 / t**0.75, lambda m: 0.6 * m**0.25 / 0.25)
EVEN = Steps(Constant(0.4), lambda t: 0.4, lambda m: 0.4 * m)


@dataclass(frozen=True)
class Case:
    """The letters of docs/guarantees.md."""

    alpha: float
    B: float
    scores: tuple[float, float]
    start: float
    steps: Steps
    kernel: Kernel | None = None
    kappa: float = 0.0
    lam: float = 0.0
    negative: bool = False
    clip: float | None = None
    radius: float | None = None
    window: int | None = None

    def calibrator(self) -> ARC | LARC:
        known: dict[str, Any] = {
            "loss_bound": self.B,
            "score_range": self.scores,
            "initial_threshold": self.start,
        }
        if self.kernel is None:
            return ARC(self.alpha, self.steps.rate, **known)
        memory = KeepAll() if self.window is None else KeepLast(self.window)
        limits: dict[str, Any] = {"clip": self.clip, "radius": self.radius, "memory": memory}
        return LARC(self.alpha, self.kernel, self.steps.rate, self.lam, **known, **limits)


def wave(kappa: float) -> Kernel:
    """A kernel that falls to -kappa, at half a turn."""
    return Custom(lambda X, z: kappa * np.cos(X[:, 0] - z[0]), scale=kappa)


CASES = {
    "no kernel": Case(0.3, 2.0, (-1.0, 0.0), -0.4, ROOT),
    "no kernel, started above": Case(0.3, 2.0, (-1.0, 0.0), 9.0, POWER),
    "no kernel, started below": Case(0.3, 2.0, (2.0, 5.0), -4.0, EVEN),
    "started below": Case(0.4, 2.0, (2.0, 5.0), -30.0, ROOT, Laplace(1.0, 2.5), 2.5, 0.3),
    "started above": Case(0.4, 2.0, (2.0, 5.0), 40.0, ROOT, Laplace(1.0, 2.5), 2.5, 0.3),
    "costly target": Case(1.6, 2.0, (-1.0, 0.0), 25.0, POWER, Laplace(1.0, 0.5), 0.5, 0.8),
    "weak decay": Case(0.1, 0.5, (-1.0, 0.0), 0.0, POWER, Laplace(1.0, 3.0), 3.0, 1e-3),
    "no decay": Case(0.1, 0.5, (2.0, 5.0), 2.5, ROOT, Laplace(1.0, 3.0), 3.0, 0.0),
    "wave": Case(0.3, 2.0, (-1.0, 0.0), 0.5, ROOT, wave(1.5), 1.5, 0.4, negative=True),
    "wave, from above": Case(0.3, 2.0, (-1.0, 0.0), 60.0, EVEN, wave(1.5), 1.5, 0.4, negative=True),
    "wave, costly": Case(1.8, 2.0, (2.0, 5.0), -50.0, POWER, wave(0.2), 0.2, 0.4, negative=True),
    "clip": Case(0.3, 2.0, (2.0, 5.0), 3.0, ROOT, Laplace(1.0, 2.5), 2.5, 0.1, clip=0.8),
    "radius": Case(0.3, 2.0, (-1.0, 0.0), 7.0, ROOT, Laplace(1.0, 2.5), 2.5, 0.1, radius=0.6),
    "small radius": Case(1.6, 2.0, (2.0, 5.0), 0.0, EVEN, Laplace(1.0, 0.2), 0.2, 0.1, radius=0.9),
    "window": Case(0.3, 2.0, (-1.0, 0.0), 30.0, EVEN, Laplace(1.0, 2.5), 2.5, 0.0, window=5),
    "window, power": Case(0.3, 2.0, (2.0, 5.0), -9.0, POWER, Laplace(1.0, 0.5), 0.5, 0.1, window=5),
}
EXACT = {name: case for name, case in CASES.items() if case.clip is None and case.window is None}
every_case = pytest.mark.parametrize("case", CASES.values(), ids=CASES)
every_exact_case = pytest.mark.parametrize("case", EXACT.values(), ids=EXACT)


def local_range(case: Case, rounds: int) -> tuple[float, float]:
    """(F_-, F_+), from the list under theorem A."""
    if case.kernel is None:
        return 0.0, 0.0
    reach = case.steps.sum_bound(rounds if case.window is None else min(rounds, case.window))
    if case.lam > 0:
        reach = min(reach, 1 / case.lam)
    down, up = case.alpha, case.B - case.alpha
    if case.negative:
        down = up = max(case.alpha, case.B - case.alpha)
    below, above = [case.kappa * down * reach], [case.kappa * up * reach]
    if case.clip is not None:
        below.append(case.clip)
        above.append(case.clip)
    if case.radius is not None:
        below.append(case.radius * math.sqrt(case.kappa))
        above.append(case.radius * math.sqrt(case.kappa))
    return min(below), min(above)


def theorem_a(case: Case, pending: int = 0) -> float:
    below, above = local_range(case, T)
    steps = (pending + 1) * case.steps.eta(1)
    low = min(case.start, case.scores[0] - above - steps * case.alpha)
    high = max(case.start, case.scores[1] + below + steps * (case.B - case.alpha))
    return (high - low) / (case.steps.eta(T) * T)


def reaches(case: Case) -> list[float]:
    """R_0, ..., R_T."""
    s_min, s_max = case.scores
    etas, kicks, R = 0.0, 0.0, [abs(case.start - s_max)]
    for t in range(1, T + 1):
        eta = case.steps.eta(t)
        etas += eta
        kicks += eta**2 * (1 + case.kappa * (1 + case.lam * eta))
        Q = max(case.alpha, case.B - case.alpha) ** 2 * kicks
        R.append(math.sqrt((case.start - s_max) ** 2 + 2 * case.alpha * (s_max - s_min) * etas + Q))
    return R


def theorem_b(case: Case) -> float:
    eta, R = case.steps.eta, reaches(case)
    total = R[T] / eta(T)
    for r in range(1, T + 1):
        delta = 1 / eta(r) - (1 / eta(r - 1) if r > 1 else 0.0)
        total += delta * R[r - 1]
    return total / T


def theorem_c(case: Case, weight_norm: float) -> float:
    """With |f_t| at most R_(t-1), and at most sqrt(kappa) max(alpha, B - alpha) / lambda."""
    R, faded = reaches(case), 0.0
    for t in range(1, T + 1):
        limit = math.sqrt(case.kappa) * max(case.alpha, case.B - case.alpha)
        faded += min(case.lam * R[t - 1], limit)
    return weight_norm * (theorem_b(case) + faded / T)


def constants(case: Case, losses: list[float]) -> list[float]:
    """c_1, ..., c_(T+1)."""
    c = [case.start]
    for t, loss in enumerate(losses, start=1):
        c.append(c[-1] + case.steps.eta(t) * (loss - case.alpha))
    return c


def forward(case: Case, losses: list[float], pending: int) -> float:
    c = constants(case, losses)
    eta = case.steps.eta(T + 1)
    below, above = local_range(case, LATER)
    up, down = eta * (case.B - case.alpha), eta * case.alpha
    high = max(*c, case.scores[1] + below + (pending + 1) * up, c[-1] + pending * up)
    low = min(*c, case.scores[0] - above - (pending + 1) * down, c[-1] - pending * down)
    return (high - low) / (case.steps.eta(LATER) * LATER)


def fed(case: Case, losses: list[float]) -> ARC | LARC:
    return case.calibrator().partial_fit(np.linspace(-2.0, 2.0, len(losses))[:, None], losses)


@every_case
@pytest.mark.parametrize("pending", [0, 1, 6])
def test_theorem_a_is_its_formula(case: Case, pending: int) -> None:
    bound = fed(case, [case.alpha] * T).certificate(pending).theorem_a
    assert bound.holds
    assert bound.value == pytest.approx(theorem_a(case, pending), rel=1e-12)


@every_exact_case
def test_theorem_b_is_its_formula(case: Case) -> None:
    bound = fed(case, [case.alpha] * T).certificate().theorem_b
    assert bound.holds
    assert bound.value == pytest.approx(theorem_b(case), rel=1e-12)


@every_exact_case
def test_theorem_c_is_its_formula(case: Case) -> None:
    bound = fed(case, [case.alpha] * T).localized_bound(1.7)
    assert bound.holds == (case.radius is None)
    expected = theorem_c(case, 1.7) if bound.holds else math.inf
    assert bound.value == pytest.approx(expected, rel=1e-12)


def test_the_cases_of_theorem_c_reach_both_limits_of_the_local_part() -> None:
    capped = {
        case.lam * R > math.sqrt(case.kappa) * max(case.alpha, case.B - case.alpha)
        for case in EXACT.values()
        if case.lam
        for R in reaches(case)
    }
    assert capped == {True, False}


def test_the_norms_are_summed_alike_in_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(drift, "_CHUNK", 5)
    case = CASES["started above"]
    cal = fed(case, [case.alpha] * T)
    assert cal.certificate().theorem_b.value == pytest.approx(theorem_b(case), rel=1e-12)
    assert cal.localized_bound(1.0).value == pytest.approx(theorem_c(case, 1.0), rel=1e-12)


COURSES = ["steady", "up and back", "down and back", "rising", "falling"]


@pytest.mark.parametrize(("name", "course", "pending"), pairwise([*CASES], COURSES, [0, 3]))
def test_the_forward_bound_is_its_formula(name: str, course: str, pending: int) -> None:
    case = CASES[name]
    up, down = [case.B] * (T // 2), [0.0] * (T // 2)
    losses = {
        "steady": [case.alpha] * T,
        "up and back": [*up, *down, case.alpha],
        "down and back": [*down, *up, case.alpha],
        "rising": [case.B] * T,
        "falling": [0.0] * T,
    }[course]
    bound = fed(case, losses).certificate(pending).forward(LATER)
    assert bound.holds or course != "steady"
    assert bound.value == pytest.approx(forward(case, losses, pending), rel=1e-12)


def test_awaited_losses_count_from_where_the_constant_is_now() -> None:
    """So far out that only the losses that are pending can bring it further."""
    case = replace(CASES["no kernel"], start=100.0)
    losses = [case.B] * T
    c, eta = constants(case, losses), case.steps.eta(T + 1)
    reach = c[-1] + 3 * eta * (case.B - case.alpha) - (case.scores[0] - 4 * eta * case.alpha)
    expected = reach / (case.steps.eta(LATER) * LATER)
    assert fed(case, losses).certificate(3).forward(LATER).value == pytest.approx(expected)


@every_case
@pytest.mark.parametrize("losses", ["rising", "falling", "there and back"])
def test_the_observed_bound_is_the_farthest_way_of_the_constant(case: Case, losses: str) -> None:
    course = {
        "rising": [case.B] * T,
        "falling": [0.0] * T,
        "there and back": [*[0.0] * 12, *[case.B] * (T - 12)],
    }[losses]
    c = constants(case, course)
    expected = max(abs(c[-1] - earlier) for earlier in c[:-1]) / (case.steps.eta(T) * T)
    assert fed(case, course).certificate().observed.value == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("name", ["clip", "window", "window, power"])
def test_theorem_b_promises_nothing_without_every_term_in_use(name: str) -> None:
    cal = fed(CASES[name], [CASES[name].alpha] * T)
    for bound in (cal.certificate().theorem_b, cal.localized_bound(1.0)):
        assert not bound.holds
        assert ("clip" if name == "clip" else "every term") in " ".join(bound.unmet)
    assert cal.certificate().theorem_b.value == math.inf
    assert cal.certificate().bound.name == "theorem A"


def test_theorem_b_is_not_claimed_under_clip_where_it_would_be_the_smaller() -> None:
    case = Case(0.3, 2.0, (0.0, 1.0), 1.0, ROOT, Laplace(1.0, 20.0), 20.0, 0.0, clip=500.0)
    certificate = fed(case, [0.3] * T).certificate()
    assert theorem_b(case) < certificate.theorem_a.value
    assert certificate.bound.value == certificate.theorem_a.value


def test_a_kernel_that_is_known_to_be_positive_gives_a_smaller_range() -> None:
    positive = replace(CASES["wave"], kernel=Laplace(1.0, 1.5), negative=False)
    small, large = (
        fed(case, [case.alpha] * T).certificate().theorem_a.value
        for case in (positive, CASES["wave"])
    )
    assert small < large


# ---- the paper's bounds ----------------------------------------------------------------------


@pytest.mark.parametrize(("start", "span"), [(-1.5, 1.5), (0.5, 1.5), (1e-9, 1.0 + 1e-9)])
def test_equation_6_widens_the_scores_to_a_start_outside(start: float, span: float) -> None:
    case = replace(CASES["no kernel"], start=start)
    paper = fed(case, [case.alpha] * T).certificate().paper
    assert paper.holds
    assert paper.value == pytest.approx((span / 0.7 + 2.0) / math.sqrt(T), rel=1e-12)


@pytest.mark.parametrize(("start", "loss"), [(100.0, 0.0), (-100.0, 1.0)])
def test_equation_6_holds_while_the_start_is_far_away(start: float, loss: float) -> None:
    """The set stays full, or empty, for as long as the threshold is outside the scores."""
    cal = ARC(0.1, 1.0, score_range=(0.0, 1.0), initial_threshold=start)
    cal.partial_fit(np.zeros((900, 1)), np.full(900, loss))
    certificate = cal.certificate()
    assert abs(certificate.risk - 0.1) <= certificate.paper.value


@pytest.mark.parametrize("start", [-1.0, -0.3, 0.0])
def test_equation_6_is_claimed_for_a_start_among_the_scores(start: float) -> None:
    case = replace(CASES["no kernel"], start=start)
    paper = fed(case, [case.alpha] * T).certificate().paper
    assert paper.holds
    assert paper.value == pytest.approx((1.0 / 0.7 + 2.0) / math.sqrt(T), rel=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize(("dimension", "power"), [(1, 1), (2, 2), (3, 2), (4, 3)])
def test_theorem_2_takes_the_slope_of_the_kernel_in_its_dimension(
    dimension: int, power: int
) -> None:
    """Askey's power floor(d / 2) + 1 is the slope at distance 0, in length scales."""
    kernel = Triangular(0.5, 1.5)
    cal = LARC(0.3, kernel, 0.7, 0.2, loss_bound=2.0, score_range=(-1.0, 0.0))
    cal.partial_fit(np.zeros((T, dimension)), np.full(T, 0.3))
    rho, kappa, B, D, S = 1.5 * power / 0.5, 1.5, 2.0, 3.0, 1.0
    local = 4 * B * math.sqrt(rho * kappa * D) / (0.7 * 0.2)
    expected = (S / 0.7 + local + 2 * B * (2 * kappa + 1)) / math.sqrt(T) + kappa * B
    assert cal.certificate(input_bound=D).paper.value == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("kernel", [RBF.from_paper((4.0, 0.25), 2.0), Laplace((0.5, 2.0), 0.5)])
def test_the_slope_is_steepest_along_the_shortest_length_scale(kernel: Any) -> None:
    far = np.linspace(1e-4, 3.0, 3000)
    slopes = []
    for axis in np.eye(2):
        values = kernel(np.outer(far, axis), np.zeros(2))
        slopes.append(float(np.abs(np.diff(values) / np.diff(far)).max()))
    assert max(slopes) == pytest.approx(kernel.lipschitz(2), rel=2e-3)
    assert min(slopes) < kernel.lipschitz(2) / 2


# ---- adversaries -----------------------------------------------------------------------------

Choice = Callable[[int, Any, Case, np.random.Generator], tuple[int, float]]
"""Round, thresholds at all places: where the next input lies, and what it should cost."""


def raise_where_low(t: int, g: Any, case: Case, random: np.random.Generator) -> tuple[int, float]:
    return int(np.argmin(g)), case.B


def lower_where_high(t: int, g: Any, case: Case, random: np.random.Generator) -> tuple[int, float]:
    return int(np.argmax(g)), 0.0


def swing(t: int, g: Any, case: Case, random: np.random.Generator) -> tuple[int, float]:
    side = raise_where_low if int(math.log2(t + 1)) % 2 else lower_where_high
    return side(t, g, case, random)


def tease(t: int, g: Any, case: Case, random: np.random.Generator) -> tuple[int, float]:
    """Costly in one half of the places, free in the other, so that f tilts and c stays."""
    place = t % len(g)
    return place, case.B if place < len(g) // 2 else 0.0


def whim(t: int, g: Any, case: Case, random: np.random.Generator) -> tuple[int, float]:
    return int(random.integers(len(g))), float(random.uniform(0.0, case.B))


ADVERSARIES: list[Choice] = [raise_where_low, lower_where_high, swing, tease, whim]
PLACES = np.array([[-9.0], [-math.pi], [0.0], [0.5], [math.pi], [9.0]])


def allowed(loss: float, threshold: float, case: Case) -> float:
    """The loss, as near as (A2) and (A3) let it come."""
    if threshold >= case.scores[1]:
        return min(loss, case.alpha)
    return max(loss, case.alpha) if threshold < case.scores[0] else loss


@pytest.mark.slow
@every_case
@pytest.mark.parametrize("choose", ADVERSARIES)
def test_no_adversary_of_losses_and_places_breaks_a_bound(case: Case, choose: Choice) -> None:
    random = np.random.default_rng(5)
    cal = case.calibrator()
    ahead: dict[int, float] = {}
    X, losses = [], []
    for t in range(240):
        thresholds = cal.threshold(PLACES)
        place, wish = choose(t, thresholds, case, random)
        loss = allowed(wish, float(thresholds[place]), case)
        cal.update(PLACES[place], loss)
        X.append(PLACES[place])
        losses.append(loss)
        if t + 1 in (1, 2, 7, 30, 100, 240):
            gap = abs(float(np.mean(losses)) - case.alpha)
            certificate = cal.certificate()
            assert certificate.consistent
            for bound in (certificate.observed, certificate.theorem_a, certificate.theorem_b):
                assert not bound.holds or gap <= bound.value + 1e-12, (t, bound)
            assert certificate.theorem_a.holds
            assert all(gap <= value + 1e-12 for then, value in ahead.items() if then == t + 1)
            ahead |= {
                then: min(certificate.forward(then).value, ahead.get(then, math.inf))
                for then in (7, 30, 100, 240)
                if then > t + 1
            }
    if case.kernel is not None and case.radius is None and case.clip is None and not case.window:
        _check_weights(cal, case.kernel, np.array(X), np.array(losses) - case.alpha, random)


def _check_weights(
    cal: ARC | LARC, kernel: Kernel, X: Any, excess: Any, random: np.random.Generator
) -> None:
    for _ in range(12):
        centres, weights = random.uniform(-9, 9, size=(3, 1)), random.normal(size=3)
        constant = float(random.normal())
        norm = math.hypot(kernel.norm(centres, weights), constant)
        values = kernel(X, centres) @ weights + constant
        bound = cal.localized_bound(norm)
        assert bound.holds
        assert abs(float(np.mean(excess * values))) <= bound.value


@pytest.mark.parametrize("start", [-6.0, -1.0, 3.0])
@pytest.mark.parametrize("eta", [0.02, 0.05])
def test_theorem_a_is_nearly_reached_without_a_kernel(start: float, eta: float) -> None:
    """From the far end to the other in a straight line: no smaller constant would do."""
    even = Steps(Constant(eta), lambda t: eta, lambda m: eta * m)
    case = Case(0.5, 3.0, (-1.0, 0.0), start, even)
    target = case.B if start < 0 else 0.0
    cal = case.calibrator()
    losses: list[float] = []
    while not losses or losses[-1] != case.alpha:
        losses.append(allowed(target, cal.threshold(None), case))
        cal.update(None, losses[-1])
        gap = abs(float(np.mean(losses)) - case.alpha)
        assert gap <= cal.certificate().theorem_a.value + 1e-12
    assert gap >= 0.85 * cal.certificate().theorem_a.value


@pytest.mark.parametrize("pending", [1, 4, 15])
def test_late_losses_need_their_own_bound(pending: int) -> None:
    """What is pending at the crossing comes in after it: beyond A for 0, within A for D."""
    case = Case(0.2, 2.0, (-1.0, 0.0), -1.0, EVEN)
    cal = case.calibrator()
    waiting: list[float] = []
    losses: list[float] = []
    exceeded = False
    for _ in range(60):
        waiting.append(allowed(case.B, cal.threshold(None), case))
        if len(waiting) > pending:
            losses.append(waiting.pop(0))
            cal.update(None, losses[-1])
            gap = abs(float(np.mean(losses)) - case.alpha)
            exceeded |= gap > cal.certificate().theorem_a.value
            assert gap <= cal.certificate(pending).theorem_a.value
    assert exceeded


@pytest.mark.parametrize("name", ["no kernel, started above", "started below"])
def test_scores_seen_bound_as_scores_stated_do(name: str) -> None:
    case = CASES[name]
    stated = fed(case, [case.alpha] * T).certificate()
    known: dict[str, Any] = {"loss_bound": case.B, "initial_threshold": case.start}
    unstated: ARC | LARC = ARC(case.alpha, case.steps.rate, **known)
    if case.kernel is not None:
        local: dict[str, Any] = {"regularization": case.lam, "memory": KeepAll()}
        unstated = LARC(case.alpha, case.kernel, case.steps.rate, **local, **known)
    unstated.partial_fit(np.zeros((T, 1)), [case.alpha] * T)
    seen = unstated.certificate(evidence=Evidence(case.scores, 0, 0, T))
    assert seen.theorem_a.value == stated.theorem_a.value
    assert seen.theorem_b.value == stated.theorem_b.value
