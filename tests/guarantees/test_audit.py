"""Audits: losses lost or doubled, evidence that is short, settings that are not the same."""

import copy
import math
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from examples import CALIBRATORS as MAKE
from localarc import ARC, LARC, RBF, Constant, InverseSqrt, KeepAll, Laplace, Mondrian, replay
from localarc.calibrators.base import BaseCalibrator
from localarc.curves import miscoverage
from localarc.guarantees import Evidence
from localarc.kernels import Custom, Kernel
from localarc.serialization import StateError

N = 80
random = np.random.default_rng(0)
X = random.normal(size=(N, 2))
LOSSES = random.uniform(0.0, 2.0, size=N)
SCORES = random.uniform(size=N)


def parity(x: Any) -> bool:
    return bool(x[0] > 0)


CALIBRATORS = {
    name: partial(MAKE[name], 0.3, loss_bound=2.0)
    for name in ("ARC", "lattice", "window", "ball", "groups of inputs")
}
every_calibrator = pytest.mark.parametrize("make", CALIBRATORS.values(), ids=CALIBRATORS)


# ---- losses ----------------------------------------------------------------------------------


@every_calibrator
def test_the_log_of_a_faithful_run_agrees(make: Callable[[], BaseCalibrator]) -> None:
    cal = make().partial_fit(X, LOSSES)
    certificate = cal.certificate(losses=LOSSES)
    assert certificate.consistent
    assert certificate.consistency_gap < 1e-9
    assert certificate.accounted == pytest.approx((LOSSES - 0.3).sum())
    assert cal.certificate(losses=list(LOSSES)).consistent
    assert cal.certificate().consistent


@every_calibrator
def test_a_new_calibrator_agrees_with_an_empty_log_only(make: Callable[[], BaseCalibrator]) -> None:
    assert make().certificate(losses=[]).consistent
    assert not make().certificate(losses=[0.3]).consistent


@every_calibrator
@pytest.mark.parametrize("at", [0, 40, N - 1])
def test_a_lost_update_is_found(make: Callable[[], BaseCalibrator], at: int) -> None:
    kept = np.arange(N) != at
    cal = make().partial_fit(X[kept], LOSSES[kept])
    assert cal.certificate().consistent  # it cannot know by itself
    certificate = cal.certificate(losses=LOSSES)
    assert not certificate.consistent
    assert certificate.consistency_gap == pytest.approx(abs(LOSSES[at] - 0.3))


@every_calibrator
@pytest.mark.parametrize("at", [0, 40, N - 1])
def test_a_doubled_update_is_found(make: Callable[[], BaseCalibrator], at: int) -> None:
    rows = np.sort(np.append(np.arange(N), at))
    cal = make().partial_fit(X[rows], LOSSES[rows])
    assert not cal.certificate(losses=LOSSES).consistent


@every_calibrator
def test_a_lost_update_is_found_although_it_moved_nothing(
    make: Callable[[], BaseCalibrator],
) -> None:
    """A loss of exactly alpha adds nothing to the excess: the number of rounds tells."""
    log = LOSSES.copy()
    log[40] = 0.3
    kept, doubled = np.arange(N) != 40, np.sort(np.append(np.arange(N), 40))
    for rows in (kept, doubled):
        certificate = make().partial_fit(X[rows], log[rows]).certificate(losses=log)
        assert not certificate.consistent
        assert certificate.consistency_gap < 1e-9
    assert make().partial_fit(X, log).certificate(losses=log).consistent


@every_calibrator
def test_an_update_with_another_loss_is_found(make: Callable[[], BaseCalibrator]) -> None:
    log = LOSSES.copy()
    log[13] += 1e-4
    assert not make().partial_fit(X, LOSSES).certificate(losses=log).consistent


@every_calibrator
def test_a_stale_state_is_found(make: Callable[[], BaseCalibrator]) -> None:
    cal = make().partial_fit(X[:30], LOSSES[:30])
    stale = cal.state()
    cal.partial_fit(X[30:50], LOSSES[30:50])
    cal.restore(stale).partial_fit(X[50:], LOSSES[50:])
    assert not cal.certificate(losses=LOSSES).consistent
    resumed = make().restore(stale).partial_fit(X[30:], LOSSES[30:])
    assert resumed.certificate(losses=LOSSES).consistent


@every_calibrator
def test_a_stale_state_that_lost_as_many_rounds_as_it_doubled_is_found(
    make: Callable[[], BaseCalibrator],
) -> None:
    cal = make().partial_fit(X[:30], LOSSES[:30])
    stale = cal.state()
    cal.restore(stale).partial_fit(X[:10], LOSSES[:10]).partial_fit(X[40:], LOSSES[40:])
    assert cal.rounds == N
    assert not cal.certificate(losses=LOSSES).consistent


def test_a_damaged_calibrator_is_not_healed_by_the_right_log() -> None:
    cal = ARC(0.3, loss_bound=2.0).partial_fit(X, LOSSES)
    cal._constant.loss_sum += 1.0
    assert not cal.certificate(losses=LOSSES).consistent


def test_one_damaged_group_damages_the_certificate_of_all() -> None:
    cal = Mondrian(lambda: ARC(0.3, loss_bound=2.0), parity).partial_fit(X, LOSSES)
    part: Any = cal.calibrators[False]
    part._constant.loss_sum += 1.0
    assert not cal.certificate().consistent
    assert not cal.certificate(losses=LOSSES).consistent


def test_a_faithful_run_agrees_in_large_units_too() -> None:
    cal = ARC(0.3, 0.01, loss_bound=2.0, initial_threshold=1e8).partial_fit(X, LOSSES)
    assert cal.certificate().consistent
    assert cal.certificate(losses=LOSSES).consistent


# ---- evidence --------------------------------------------------------------------------------

counts = st.none() | st.integers(0, 50)
ranges = st.none() | st.tuples(st.floats(-9, 0), st.floats(0, 9))
evidences = st.builds(Evidence, ranges, counts, counts, counts)


@settings(max_examples=100, derandomize=True)
@given(left=evidences, right=evidences)
def test_evidence_adds_up_and_what_one_does_not_know_the_sum_does_not(
    left: Evidence, right: Evidence
) -> None:
    both = left + right
    assert both == right + left
    for name in ("full_set_fails", "empty_set_passes", "rounds"):
        parts = [getattr(left, name), getattr(right, name)]
        assert getattr(both, name) == (None if None in parts else sum(parts))
    known = [each.score_range for each in (left, right) if each.score_range is not None]
    if len(known) < 2:
        assert both.score_range is None
    else:
        ends = [end for pair in known for end in pair]
        assert both.score_range == (min(ends), max(ends))


@settings(max_examples=50, derandomize=True)
@given(evidences, evidences, evidences)
def test_evidence_adds_up_in_any_order(a: Evidence, b: Evidence, c: Evidence) -> None:
    assert (a + b) + c == a + (b + c)


def bounds_of(cal: ARC | LARC, evidence: Evidence) -> dict[str, Any]:
    certificate = cal.certificate(evidence=evidence, input_bound=3.0)
    return {
        "A": certificate.theorem_a,
        "B": certificate.theorem_b,
        "C": cal.localized_bound(1.0, evidence),
        "forward": certificate.forward(1000),
        "paper": certificate.paper,
    }


@pytest.mark.parametrize(
    "cal",
    [
        ARC(0.3, initial_threshold=0.5),
        LARC(0.3, RBF.from_paper(1.0), regularization=0.1, initial_threshold=0.5),
    ],
    ids=["ARC", "LARC"],
)
def test_evidence_of_fewer_rounds_than_were_seen_proves_nothing(cal: LARC) -> None:
    cal = copy.deepcopy(cal)
    first = replay(cal, X[:50], miscoverage(SCORES[:50])).evidence
    second = replay(cal, X[50:], miscoverage(SCORES[50:])).evidence
    for short, covered in ((first, 50), (second, 30), (second + second, 60)):
        for name, bound in bounds_of(cal, short).items():
            assert not bound.holds, name
            assert f"the evidence covers {covered} of {N} rounds" in " ".join(bound.unmet)
    for bound in bounds_of(cal, first + second).values():
        assert bound.holds
    for bound in bounds_of(cal, Evidence((0.0, 1.0), 0, 0)).values():  # nobody counted
        assert bound.holds


@pytest.mark.parametrize("which", ["full_set_fails", "empty_set_passes"])
def test_one_failed_round_in_any_replay_breaks_every_bound(which: str) -> None:
    cal = ARC(0.3).partial_fit(X, np.full(N, 0.3))
    fine = Evidence((0.0, 1.0), 0, 0, N - 1)
    broken = fine + Evidence((0.0, 1.0), **{"full_set_fails": 0, "empty_set_passes": 0, which: 1})
    for bound in bounds_of(cal, broken).values():
        assert not bound.holds
        assert "in 1 round(s)" in " ".join(bound.unmet)


@pytest.mark.parametrize("stated_first", [True, False])
def test_a_promise_over_all_groups_holds_only_if_it_holds_in_each(stated_first: bool) -> None:
    """One of two groups does not know its score range."""
    ranges = iter([(0.0, 1.0), *([(0.0, 1.0), None] if stated_first else [None, (0.0, 1.0)])])
    cal = Mondrian(lambda: ARC(0.3, score_range=next(ranges)))
    cal.partial_fit(X[:30], np.full(30, 0.3), groups=["first"] * 15 + ["second"] * 15)
    certificate = cal.certificate()
    assert certificate.groups["first"].theorem_a.holds == stated_first
    assert certificate.groups["second"].theorem_a.holds != stated_first
    assert not certificate.theorem_a.holds


def test_reasons_of_many_groups_are_told_once() -> None:
    cal = Mondrian(lambda: ARC(0.3), parity).partial_fit(X, np.full(N, 0.3))
    bound = cal.certificate(evidence=Evidence((0.0, 1.0), full_set_fails=2)).theorem_a
    assert bound.unmet == ("a full set cost more than alpha in 2 round(s)",)


@pytest.mark.filterwarnings("ignore::localarc.AssumptionWarning")
def test_a_bound_over_groups_is_the_mean_of_theirs_by_rounds() -> None:
    groups = ["a"] * 60 + ["b"] * 20
    cal = Mondrian(lambda: ARC(0.3, score_range=(0.0, 1.0)))
    certificate = cal.partial_fit(X, LOSSES / 2, groups=groups).certificate()
    for name in ("observed", "theorem_a", "theorem_b", "paper"):
        a, b = (getattr(certificate.groups[group], name).value for group in "ab")
        assert getattr(certificate, name).value == pytest.approx((60 * a + 20 * b) / 80)


def test_evidence_of_fewer_rounds_than_all_groups_saw_proves_nothing() -> None:
    cal = Mondrian(lambda: ARC(0.3))
    curves, groups = miscoverage(SCORES), ["a", "b"] * (N // 2)
    first = replay(cal, X, curves, groups).evidence
    second = replay(cal, X, curves, groups).evidence
    assert cal.certificate(evidence=first + second).theorem_a.holds
    assert not cal.certificate(evidence=second).theorem_a.holds
    ahead = cal.certificate(evidence=second).groups["a"].forward(10 * N)
    assert "the evidence covers" in str(ahead)


@pytest.mark.filterwarnings("ignore::localarc.AssumptionWarning")
def test_the_papers_bounds_are_not_claimed_for_late_losses() -> None:
    """21 sets given before the first loss is known: all may miss."""
    cal = ARC(0.1, 10.0, score_range=(0.0, 1.0)).partial_fit(np.zeros((21, 1)), np.ones(21))
    paper = cal.certificate(pending=20).paper
    assert not paper.holds or paper.value >= 0.9


# ---- settings --------------------------------------------------------------------------------


def bump(X: Any, z: Any) -> Any:
    return np.exp(-((X - z) ** 2).sum(axis=1)) / 2


def other_bump(X: Any, z: Any) -> Any:
    return np.exp(-((X - z) ** 2).sum(axis=1)) / 2


def slow(t: int) -> float:
    return 1.0 / (t + 1)


def slower(t: int) -> float:
    return 1.0 / (t + 1)


SAVED: dict[str, Callable[[], ARC | LARC]] = {
    "RBF": lambda: LARC(0.3, RBF.from_paper(1.0), memory=KeepAll()),
    "sum": lambda: LARC(0.3, RBF.from_paper(1.0) + Laplace(2.0)),
    "custom": lambda: LARC(0.3, Custom(bump, scale=1.0)),
    "ARC": lambda: ARC(0.3, 0.7),
}
OTHER_KERNELS: list[tuple[str, Kernel]] = [
    ("RBF", RBF.from_paper(2.0)),
    ("RBF", RBF.from_paper(1.0, 2.0)),
    ("RBF", RBF.from_paper((1.0, 1.0))),
    ("RBF", Laplace(1.0)),
    ("RBF", Custom(bump, scale=1.0)),
    ("sum", Laplace(2.0) + RBF.from_paper(1.0)),
    ("sum", RBF.from_paper(1.0) * Laplace(2.0)),
    ("sum", RBF.from_paper(1.0)),
    ("custom", Custom(other_bump, scale=1.0)),
    ("custom", Custom(bump, scale=2.0)),
    ("custom", Custom(bump)),
    ("custom", Custom(bump, scale=1.0, factor=0.5)),
    ("custom", Custom(bump, scale=1.0, nonnegative=True)),
    ("custom", Custom(bump, scale=1.0, rho=1.0)),
    ("custom", 0.5 * Custom(bump, scale=2.0)),
    ("custom", RBF.from_paper(1.0)),
    ("ARC", RBF.from_paper(1.0)),
    ("ARC", Custom(bump, scale=1.0)),
]


@pytest.mark.parametrize(("name", "kernel"), OTHER_KERNELS)
def test_a_state_does_not_go_on_with_another_kernel(
    name: str, kernel: Kernel, tmp_path: Path
) -> None:
    cal = SAVED[name]().update([0.0, 1.0], 1.0)
    cal.save(tmp_path / "cal")
    with pytest.raises(StateError, match=r"cal: the kernel given is not the one that was saved"):
        type(cal).load(tmp_path / "cal", kernel=kernel)


@pytest.mark.parametrize("name", SAVED)
def test_a_state_resumes_with_the_same_kernel_and_rate_passed_again(
    name: str, tmp_path: Path
) -> None:
    cal = SAVED[name]().update([0.0, 1.0], 1.0)
    cal.save(tmp_path / "cal")
    twin = type(cal).load(tmp_path / "cal", kernel=cal.settings.kernel, rate=cal.settings.rate)
    assert twin.state() == cal.state()
    assert twin.threshold([0.5, 0.5]) == cal.threshold([0.5, 0.5])


@pytest.mark.parametrize("rate", [0.5, InverseSqrt(0.5), Constant(0.7), slow])
def test_a_state_does_not_go_on_with_another_rate(rate: Any) -> None:
    data = ARC(0.3, 0.7).update(None, 1.0).state()
    with pytest.raises(StateError, match="rate given is not the one that was saved"):
        ARC.from_state(data, rate=rate)
    assert ARC.from_state(data, rate=InverseSqrt(0.7)).state() == data


def test_a_function_of_t_has_to_come_again_and_under_its_name() -> None:
    data = ARC(0.3, slow).update(None, 1.0).state()
    with pytest.raises(StateError, match=r"'slow' in its rate.*load\(path, rate="):
        ARC.from_state(data)
    with pytest.raises(StateError, match="rate given is not the one that was saved"):
        ARC.from_state(data, rate=slower)
    assert ARC.from_state(data, rate=slow).state() == data


def test_a_custom_kernel_keeps_its_factor_and_scale_when_saved() -> None:
    kernel = 3 * Custom(bump, scale=1.0)
    cal = LARC(0.3, kernel, clip=math.e).update([0.0], 1.0)
    twin = LARC.from_state(cal.state(), kernel=kernel)
    assert twin.kernel == kernel
    assert twin.threshold([0.2]) == cal.threshold([0.2])
