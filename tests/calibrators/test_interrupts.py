"""Ctrl-C in a tight loop leaves the constant, the local part and the tickets in step."""

from functools import partial
from typing import Any

import numpy as np
import pytest

from interrupts import alarm, comes_in_time
from localarc import ARC, LARC, RBF, Custom, Dictionary, KeepAll, KeepLast

X = np.random.default_rng(0).random((64, 2))
LOSSES = (np.random.default_rng(1).random(64) < 0.1).astype(float).tolist()
INTERRUPTS = 200


def bump(points: Any, z: Any) -> Any:
    return np.exp(-((points - z) ** 2).sum(axis=1))


MAKERS = {
    "ARC": lambda: ARC(0.1),
    "lattice": lambda: LARC(0.1, RBF(0.3)),
    "exact": lambda: LARC(0.1, RBF(0.3), regularization=0.5, memory=KeepLast(100)),
    "radius": lambda: LARC(0.1, RBF(0.3), memory=KeepAll(), radius=0.1),
    "dictionary": lambda: LARC(0.1, RBF(0.3), memory=Dictionary(1e-3, 64)),
    "python": lambda: LARC(0.1, Custom(bump, scale=1.0), memory=KeepLast(20)),
}


def run_on(cal: Any, late: bool) -> None:
    """Updates for longer than any signal takes to come."""
    for _ in range(100_000):
        i = cal.rounds % 64
        if late:
            cal.tell(cal.ask(X[i]), LOSSES[i])
        else:
            cal.update(X[i], LOSSES[i])


@pytest.mark.parametrize("late", [False, True], ids=["update", "ask and tell"])
@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
def test_an_interrupted_calibrator_is_one_that_was_not_interrupted(make: Any, late: bool) -> None:
    cal, twin = make(), make()
    for i in range(64):  # compiled before the first interrupt
        cal.tell(cal.ask(X[i]), LOSSES[i]) if late else cal.update(X[i], LOSSES[i])
    delays = np.random.default_rng(2).uniform(2e-5, 4e-4, INTERRUPTS)
    with alarm():
        for delay in delays.tolist():
            assert comes_in_time(partial(run_on, cal, late), delay)
            assert cal.certificate().consistent
            assert cal._local_rounds == cal.rounds
            for number in list(cal._pending.tickets):
                cal.forget(number)  # its round was interrupted before the loss was learned
    for i in range(cal.rounds):
        twin.update(X[i % 64], LOSSES[i % 64])
    assert cal.rounds > 64
    assert np.array_equal(cal.threshold(X), twin.threshold(X))
    assert cal._pending.told == (cal.rounds if late else 0)
