"""Safeguard: the bets of AutoLARC around a base that may be anything."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from localarc import ARC, LARC, RBF, AutoLARC, Safeguard, StateError, replay
from localarc.calibrators.tickets import TicketError
from localarc.curves import miscoverage
from localarc.testing import check_calibrator

BASES: dict[str, Any] = {
    "ARC": lambda: ARC(0.1),
    "LARC": lambda: LARC(0.1, RBF(1.0)),
    "AutoLARC": lambda: AutoLARC(0.1),
    "a function": lambda: lambda x: 0.5 * abs(x[0]),
}


@pytest.mark.slow
@pytest.mark.parametrize("make", BASES.values(), ids=BASES)
def test_it_keeps_the_promises_of_every_calibrator(make: Any) -> None:
    check_calibrator(Safeguard(make(), 0.1))
    check_calibrator(Safeguard(make(), 0.1, limits=(-1.0, 9.0)))


def stream(n: int = 3000) -> tuple[Any, Any]:
    random = np.random.default_rng(0)
    X = random.normal(size=(n, 1))
    return X, np.abs(random.normal(size=n)) * (0.5 + X[:, 0] ** 2)


@pytest.mark.filterwarnings("ignore::localarc.calibrators.health.PromiseWarning")
@pytest.mark.parametrize("base", [0.0, 3.0, 100.0])
def test_a_base_that_is_useless_does_not_break_the_bound(base: float) -> None:
    X, scores = stream()
    cal = Safeguard(lambda x: base, 0.1)
    run = replay(cal, X, miscoverage(scores))
    certificate = cal.certificate()
    assert abs(run.risk - 0.1) <= certificate.observed.value
    if certificate.above.holds:
        assert run.risk - 0.1 <= certificate.above.value


def test_the_bets_leave_a_good_base_nearly_alone() -> None:
    X, scores = stream()
    alone = replay(AutoLARC(0.1), X, miscoverage(scores))
    guarded = replay(Safeguard(AutoLARC(0.1)), X, miscoverage(scores))
    assert abs(guarded.risk - 0.1) < 0.01
    known = np.isfinite(alone.thresholds)
    assert np.array_equal(np.isfinite(guarded.thresholds), known)
    assert guarded.thresholds[known].mean() < 1.1 * alone.thresholds[known].mean()


def test_the_base_learns_what_it_asks_for() -> None:
    heard: list[Any] = []

    class Base:
        alpha = 0.1
        learns_from = frozenset({"score", "groups"})

        def threshold(self, x: Any, groups: Any = ()) -> float:
            return 0.5

        def update(self, x: Any, loss: float, score: Any = None, groups: Any = ()) -> None:
            heard.append((loss, score, groups))

    cal = Safeguard(Base())
    cal.update([0.0], 1.0, 0.7, "a")
    ticket = cal.ask([0.0], "b")
    cal.tell(ticket, 0.0, 0.1)
    assert heard == [(1.0, 0.7, "a"), (0.0, 0.1, "b")]


def test_a_base_hears_of_no_miss_where_the_score_is_its_threshold_of_today() -> None:
    heard: list[float] = []

    class Base:
        alpha, now = 0.1, 0.5

        def threshold(self, x: Any) -> float:
            return self.now

        def update(self, x: Any, loss: float) -> None:
            heard.append(loss)

    cal = Safeguard(Base())
    tickets = [cal.ask([0.0]) for _ in range(2)]
    cal.base.now = 0.75  # type: ignore[union-attr]
    cal.tell(tickets[0], 1.0, 0.75)
    cal.tell(tickets[1], 1.0, np.nextafter(0.75, 1.0))
    assert heard == [0.0, 1.0]


def test_a_base_that_fails_changes_nothing() -> None:
    class Brittle(ARC):
        def update(self, x: Any, loss: float) -> Any:
            if self.rounds == 5:
                raise ValueError("enough")
            return super().update(x, loss)

    cal = Safeguard(Brittle(0.1))
    for _ in range(5):
        cal.update([0.0], 1.0, 0.7)
    ticket = cal.ask([0.0])
    rounds, threshold = cal.rounds, cal.threshold([0.0])
    with pytest.raises(ValueError, match="enough"):
        cal.update([0.0], 1.0, 0.7)
    with pytest.raises(ValueError, match="enough"):
        cal.tell(ticket, 1.0, 0.7)
    assert (cal.rounds, cal.threshold([0.0])) == (rounds, threshold)
    assert cal.pending == (ticket,)


@pytest.mark.parametrize("wrong", [float("nan"), "high", None])
def test_a_threshold_that_is_no_number_is_refused(wrong: Any) -> None:
    cal = Safeguard(lambda x: wrong, 0.1)
    with pytest.raises((TypeError, ValueError), match="base's threshold"):
        cal.update([0.0], 1.0, 0.7)
    assert cal.rounds == 0


def test_a_base_must_have_a_threshold() -> None:
    with pytest.raises(TypeError, match="base must have"):
        Safeguard(3.0, 0.1)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="alpha must be given"):
        Safeguard(lambda x: 0.5)


def test_a_state_needs_a_base_like_the_one_before() -> None:
    X, scores = stream(200)
    cal = Safeguard(ARC(0.1))
    replay(cal, X, miscoverage(scores))
    twin = Safeguard.from_state(cal.state(), base=ARC(0.1))
    assert twin.state() == cal.state()
    assert twin.threshold(X[0]) == cal.threshold(X[0])
    with pytest.raises(StateError, match="base is not stored"):
        Safeguard.from_state(cal.state())
    ticket = cal.ask(X[0])
    with pytest.raises(StateError, match="pending tickets"):
        cal.state()
    cal.forget(ticket)
    with pytest.raises(TicketError):
        cal.tell(ticket, 0.0, 0.1)
