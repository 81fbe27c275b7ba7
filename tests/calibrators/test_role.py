"""Every calibrator of ours can be carried by whatever holds the role, and the check sees others."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from localarc import (
    ARC,
    LARC,
    RBF,
    AutoLARC,
    Gate,
    KeepLast,
    LabelSets,
    Mondrian,
    OnlineCalibrator,
    OnlineMethod,
    Panel,
    Safeguard,
)
from localarc.testing import check_online_calibrator, check_online_method

CALIBRATORS: dict[str, Callable[[], Any]] = {
    "ARC": lambda: ARC(0.1),
    "ARC with a range": lambda: ARC(0.1, score_range=(0.0, 10.0), floor=0.0),
    "LARC": lambda: LARC(0.1, RBF(0.7)),
    "LARC with a short memory": lambda: LARC(0.1, RBF(0.7), memory=KeepLast(9)),
    "AutoLARC": lambda: AutoLARC(0.1),
    "AutoLARC on one side": lambda: AutoLARC(0.1, promise="at most", limits=(0.0, 9.0)),
    "Safeguard of ARC": lambda: Safeguard(ARC(0.1)),
    "Safeguard of a rule": lambda: Safeguard(lambda x: 0.5, alpha=0.1),
    "Mondrian of ARC": lambda: Mondrian(lambda: ARC(0.1)),
    "Mondrian of LARC": lambda: Mondrian(lambda: LARC(0.1, RBF(0.7))),
    "Mondrian with a function": lambda: Mondrian(lambda: ARC(0.1), lambda x: bool(x[0] > 0)),
}


def of_panel(prototype: Any) -> Any:
    """The calibrator of a panel's key, after two rounds."""
    panel = Panel(prototype)
    scores = {"scores": [0.3, 0.7]} if isinstance(prototype, AutoLARC) else {}
    panel.update(["ann", "bob"], np.zeros((2, 2)), [1.0, 0.0], **scores)
    return panel.calibrator("ann")


CALIBRATORS |= {
    "a key of a panel of ARC": lambda: of_panel(ARC(0.1)),
    "a key of a panel of LARC": lambda: of_panel(LARC(0.1, RBF(0.7))),
    "a key of a panel of AutoLARC": lambda: of_panel(AutoLARC(0.1)),
}


@pytest.mark.parametrize("make", CALIBRATORS.values(), ids=CALIBRATORS)
def test_a_calibrator_has_the_whole_role(make: Callable[[], Any]) -> None:
    assert isinstance(make(), OnlineCalibrator)
    check_online_calibrator(make())


def played_gate() -> Gate:
    gate = Gate(wrong_at_most=0.1)
    for t in range(60):
        decision = gate.decide("billing", confidence=0.9 + 0.001 * t)
        if decision.answer and t % 7:
            gate.tell(decision, wrong=t % 11 == 0)
    return gate


def played_labels() -> LabelSets:
    cal = LabelSets(0.1, labels=["cat", "dog"])
    for t in range(60):
        cal.update(None, [0.1, 0.9], "cat" if t % 5 else "dog")
    cal.ask(None, [0.2, 0.8])
    return cal


@pytest.mark.parametrize("make", [played_gate, played_labels])
def test_what_has_other_rounds_can_be_stored_and_watched(make: Callable[[], Any]) -> None:
    assert isinstance(make(), OnlineMethod)
    check_online_method(make())


def test_a_full_table_is_a_problem_with_the_size_to_try() -> None:
    cal = AutoLARC(0.1, max_bytes=60_000)
    for t in range(600):
        cal.update(None, 0.0, 0.1, groups=f"group {t}")
    assert any("Try max_bytes=120000." in text for text in cal.problems())


def test_a_mondrian_passes_scores_to_calibrators_that_learn_from_them() -> None:
    cal, alone = Mondrian(lambda: AutoLARC(0.1)), AutoLARC(0.1)
    for t in range(30):
        for each, where in ((cal, {"groups": "a"}), (alone, {})):
            ticket = each.ask([0.1 * t], **where)
            each.tell(ticket, float(ticket.threshold < 0.5), 0.5)
            each.update([0.1 * t], 0.0, 0.4, **where)
    assert cal.learns_from == {"groups", "score"}
    assert cal.threshold([0.3], groups="a") == alone.threshold([0.3])
    assert (cal.rounds, cal.loss_sum, cal.consistent) == (60, alone.loss_sum, True)
    with pytest.raises(TypeError, match=r"do not add up over groups.*calibrators\[group\]"):
        cal.certificate()


class NoTickets:
    """Has the three members of a `Calibrator` only."""

    alpha = 0.1

    def threshold(self, x: Any) -> float:
        return 0.5

    def update(self, x: Any, loss: float) -> Any:
        return self


class ForgetsTickets(ARC):
    """Tells a ticket twice."""

    def tell(self, ticket: Any, loss: float, score: float | None = None) -> Any:
        self.update(None, loss)
        return self


class LosesLosses(ARC):
    """Counts no loss."""

    @property
    def loss_sum(self) -> float:
        return 0.0


class Inconsistent(ARC):
    """Notices its own loss."""

    @property
    def consistent(self) -> bool:
        return False


@pytest.mark.parametrize(
    ("calibrator", "words"),
    [
        (NoTickets(), "is no OnlineCalibrator: it has no ask, certificate"),
        (ForgetsTickets(0.1), "is told once. It waits for"),
        (LosesLosses(0.1), "sum to 0.0"),
        (Inconsistent(0.1), "It is not consistent"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_the_check_says_which_promise_is_broken(calibrator: Any, words: str) -> None:
    with pytest.raises(AssertionError, match=words):
        check_online_calibrator(calibrator)
