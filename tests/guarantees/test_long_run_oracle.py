"""Every bound of ARC and LARC, recomputed from the log of losses."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from guarantees import verdict_oracle
from guarantees.long_run_oracle import Letters, LongRun
from localarc import ARC, LARC, KeepAll, KeepLast
from localarc.kernels import Laplace

# The bounds are numbers for any losses, also for those that no score in the range has.
pytestmark = pytest.mark.filterwarnings("ignore::localarc.AssumptionWarning")

LETTERS = {
    "plain": Letters(),
    "floor": Letters(floor=-0.5, alpha=0.6),
    "floor, started below": Letters(floor=0.4, start=-3.0),
    "floor, started above": Letters(floor=-1.0, start=30.0, alpha=1.5),
    "kernel": Letters(kappa=1.5, lam=0.2),
    "kernel, floor": Letters(kappa=0.5, lam=0.1, floor=-0.8, alpha=0.9),
    "kernel, floor, no decay": Letters(kappa=0.5, floor=-0.8, start=-0.2, alpha=0.9),
    "window": Letters(kappa=1.2, window=7, floor=-2.0),
    "window, no floor": Letters(kappa=1.2, window=7, alpha=1.7),
    "clip": Letters(kappa=1.2, clip=0.4, lam=0.1, B=0.5, alpha=0.2),
}
every_case = pytest.mark.parametrize("letters", LETTERS.values(), ids=LETTERS)


def calibrator(letters: Letters) -> ARC | LARC:
    known: dict[str, Any] = {
        "loss_bound": letters.B,
        "score_range": letters.scores,
        "initial_threshold": letters.start,
        "floor": letters.floor,
    }
    if not letters.kappa:
        return ARC(letters.alpha, letters.eta, **known)
    window = letters.window
    memory = KeepAll() if window == math.inf else KeepLast(int(window))
    clip = None if letters.clip == math.inf else letters.clip
    kernel = Laplace(1.0, letters.kappa)
    limits: dict[str, Any] = {"clip": clip, "memory": memory}
    return LARC(letters.alpha, kernel, letters.eta, letters.lam, **known, **limits)


def played(letters: Letters, course: str, rounds: int = 40) -> tuple[ARC | LARC, list[float]]:
    """A calibrator, and the losses that it learned from."""
    random = np.random.default_rng(11)
    losses = {
        "random": random.uniform(0.0, letters.B, rounds),
        "cheap": np.zeros(rounds),
        "cheap, then costly": np.where(np.arange(rounds) < 25, 0.0, letters.B),
        "costly, then cheap": np.where(np.arange(rounds) < 15, letters.B, 0.0),
    }[course].tolist()
    cal = calibrator(letters)
    for t, loss in enumerate(losses):
        cal.update([0.1 * t], loss)
    return cal, losses


COURSES = ["random", "cheap", "cheap, then costly", "costly, then cheap"]


@every_case
@pytest.mark.parametrize("course", COURSES)
@pytest.mark.parametrize("pending", [0, 3])
def test_all_bounds_are_those_of_the_page(letters: Letters, course: str, pending: int) -> None:
    cal, losses = played(letters, course)
    found, log = cal.certificate(pending, losses=losses), LongRun(letters, losses)
    assert found.consistent
    check_bounds(found, log, pending)
    if not pending and letters.window == letters.clip == math.inf:
        bound = cal.localized_bound(1.7)
        assert bound.value == pytest.approx(log.theorem_c(1.7), rel=1e-9)


def check_bounds(found: Any, log: LongRun, pending: int) -> None:
    letters = log.letters
    assert found.risk == pytest.approx(log.risk)
    assert found.accounted == pytest.approx(log.accounted)
    assert found.accounted == pytest.approx(sum(log.losses) - letters.alpha * log.T)
    assert found.observed.value == pytest.approx(log.observed(), rel=1e-9)
    assert found.theorem_a.value == pytest.approx(log.theorem_a(pending), rel=1e-9)
    exact = letters.window == letters.clip == math.inf and not (letters.kappa and log.earlier)
    norms = log.theorem_b() if exact and not pending else math.inf
    if letters.kappa or not pending:
        assert found.theorem_b.value == pytest.approx(norms, rel=1e-9)
    if letters.floor is None:
        assert found.at_most.value == math.inf
        assert not found.at_most.holds
    else:
        assert found.at_most.value == pytest.approx(log.at_most(pending), rel=1e-9)
        assert found.at_most.side == "above"
    for later in (log.T + 1, 5 * log.T):
        ahead = found.forward(later)
        assert ahead.value == pytest.approx(log.forward(later, pending), rel=1e-9)
        assert ahead.side == ("both" if letters.floor is None else "above")
    holding = [bound for bound in found.bounds if bound.holds]
    for bound in holding:
        distance = found.risk - letters.alpha
        distance = distance if bound.side == "above" else abs(distance)
        assert distance <= bound.value * (1.0 + 1e-9) + 1e-12
    tightest = min(holding, key=lambda bound: bound.value, default=None)
    assert found.tightest == (found.at_most if found.at_most.holds else tightest)
    check_verdict(found, letters)


def check_verdict(found: Any, letters: Letters) -> None:
    withdrawn = [bound.value for bound in found.bounds if bound.passed]
    claimed = [b.value for b in found.bounds if b.holds and b.side == "both"]
    bound = min(withdrawn or claimed, default=None)
    expected = verdict_oracle.state(letters.alpha, found.risk, found.rounds, bound, B=letters.B)
    assert found.verdict.state == expected


@every_case
def test_after_a_restart_the_bounds_are_those_of_the_new_segment(letters: Letters) -> None:
    cal, losses = played(letters, "random")
    before = LongRun(letters, losses)
    cal.restart()
    later = [letters.B if t % 3 else 0.0 for t in range(30)]
    for t, loss in enumerate(later):
        cal.update([0.3 * t], loss)
    log = LongRun(letters, later, earlier=len(losses), start=before.c[-1])
    found = cal.certificate()
    assert found.rounds == len(later)
    assert found.consistent
    check_bounds(found, log, 0)
    assert not found.paper.holds


@pytest.mark.parametrize("name", ["plain", "kernel", "floor"])
def test_tickets_count_what_is_pending_by_themselves(name: str) -> None:
    letters, random = LETTERS[name], np.random.default_rng(2)
    cal, losses, waiting = calibrator(letters), list[float](), list[Any]()
    for t in range(60):
        waiting.append(cal.ask([0.1 * t]))
        while len(waiting) > 4:
            losses.append(float(random.uniform(0.0, letters.B)))
            cal.tell(waiting.pop(int(random.integers(5))), losses[-1])
    found = cal.certificate()
    assert found.pending == 4
    assert found.theorem_a.value == pytest.approx(LongRun(letters, losses).theorem_a(4), rel=1e-9)


def test_the_observed_bound_needs_neither_scores_nor_a_start_among_them() -> None:
    letters = replace(LETTERS["plain"], start=77.0)
    cal, losses = played(letters, "costly, then cheap")
    assert cal.certificate().observed.value == pytest.approx(LongRun(letters, losses).observed())
    assert cal.certificate().observed.holds


def test_without_rounds_nothing_holds() -> None:
    for letters in LETTERS.values():
        found = calibrator(letters).certificate()
        assert not any(bound.holds for bound in found.bounds)
        assert found.observed.value == math.inf
        assert found.tightest is None
