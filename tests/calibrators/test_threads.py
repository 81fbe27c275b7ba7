"""A second thread in one calibrator is told so, and changes nothing."""

import threading
from typing import Any

import numpy as np
import pytest

from localarc import ARC, LARC, RBF, KeepAll, replay
from localarc.curves import miscoverage

X = np.random.default_rng(0).random((20_000, 2))
CURVES = miscoverage(np.random.default_rng(1).random(20_000))
MAKERS = {
    "ARC": lambda: ARC(0.1),
    "LARC": lambda: LARC(0.1, RBF(0.3)),
    "LARC exact": lambda: LARC(0.1, RBF(0.3), memory=KeepAll()),
}
CALLS: dict[str, Any] = {
    "threshold": lambda cal: cal.threshold(X[0]),
    "update": lambda cal: cal.update(X[0], 1.0),
    "ask": lambda cal: cal.ask(X[0]),
    "replay": lambda cal: replay(cal, X[:10], CURVES.take(slice(0, 10))),
    "restart": lambda cal: cal.restart(),
}


@pytest.mark.slow
@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
def test_nothing_gets_in_while_another_thread_replays(make: Any) -> None:
    cal = make().update(X[0], 1.0)
    inside, seen = threading.Event(), threading.Event()

    def progress(done: int) -> None:
        inside.set()
        seen.wait(60)

    background = threading.Thread(target=lambda: replay(cal, X, CURVES, progress=progress))
    background.start()
    inside.wait(60)
    try:
        for call in CALLS.values():
            with pytest.raises(RuntimeError, match="in use by another thread"):
                call(cal)
    finally:
        seen.set()
        background.join()
    alone = make().update(X[0], 1.0)
    replay(alone, X, CURVES)
    assert cal.state() == alone.state()
    for call in CALLS.values():
        call(cal)


@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
def test_threads_that_update_together_lose_and_corrupt_nothing(make: Any) -> None:
    cal = make()
    learned: list[int] = []

    def work() -> None:
        count = 0
        for i, x in enumerate(X[:3000]):
            try:
                cal.update(x, float(i % 10 == 0))
                count += 1
            except RuntimeError:
                pass
        learned.append(count)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert cal.rounds == sum(learned)
    assert cal.consistent
    assert type(cal).from_state(cal.state()).rounds == cal.rounds
