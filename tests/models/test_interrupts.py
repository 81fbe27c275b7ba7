"""A call that is interrupted happens completely or not at all, for all levels and tails alike."""

from __future__ import annotations

import contextlib
import copy
import inspect
import sys
from itertools import count
from types import FrameType
from typing import Any

import numpy as np
import pandas as pd
import pytest

import interrupts
from interrupt_model_cases import MODELS
from localarc.models import Calibrated, storage

N = 24
RANDOM = np.random.default_rng(0)
X = RANDOM.uniform(0, 10, (N, 1))
Y = X[:, 0] + RANDOM.normal(0, 1, N)
P = RANDOM.dirichlet(np.ones(3), N)
LABELS = RANDOM.integers(0, 3, N)
TRUE = (RANDOM.uniform(size=P.shape) < 0.5).astype(float)
TRUE[:, 0] = 1.0
CASES: dict[str, Any] = {
    "one": ({}, X[:, 0], Y),
    "levels and tails": ({"coverage": [0.5, 0.7], "kind": "asymmetric"}, X[:, 0], Y),
    "masks": ({"coverage": [0.5, 0.7], "kind": "masks"}, P, TRUE),
    "per class": ({"coverage": [0.5, 0.7], "classes": range(3), "per_class": True}, P, LABELS),
}
ACTIONS = "update", "ask", "tell", "forget"
PARTS = ("localarc/models", "localarc/calibrators", "localarc/engine/auto/engine")
pytestmark = pytest.mark.filterwarnings("ignore::localarc.models.FewOutcomesWarning")


class InterruptAt:
    """Raise KeyboardInterrupt when a function of ours starts or returns for the n-th time.

    These are places where CPython handles signals; the yield of a generator is none.
    """

    def __init__(self, n: int) -> None:
        self.left = n

    def __call__(self, frame: FrameType, event: str, arg: object) -> None:
        ours = any(part in frame.f_code.co_filename for part in PARTS)
        yields = event == "return" and frame.f_code.co_flags & inspect.CO_GENERATOR
        if event in ("call", "return") and ours and not yields:
            self.left -= 1
            if self.left == 0:
                sys.setprofile(None)
                raise KeyboardInterrupt

    def __enter__(self) -> None:
        sys.setprofile(self)

    def __exit__(self, *_: object) -> None:
        sys.setprofile(None)


def started(case: Any) -> tuple[Calibrated, Any]:
    settings, predictions, outcomes = case
    m = Calibrated(None, **settings)
    m.update(X[:12], outcomes[:12], prediction=predictions[:12])
    return m, m.ask(X[12:16], prediction=predictions[12:16]).ids


def act(m: Calibrated, case: Any, ids: Any, action: str) -> None:
    _, predictions, outcomes = case
    if action == "update":
        m.update(X[16:18], outcomes[16:18], prediction=predictions[16:18])
    elif action == "ask":
        m.ask(X[16:18], prediction=predictions[16:18])
    elif action == "tell":
        m.tell(ids[1:3], outcomes[13:15])
    else:
        m.forget(ids[1:3])


def counts(m: Calibrated) -> list[tuple[int, ...]]:
    """By calibrator: rounds, and the ids that are pending."""
    calibrators = m._calibration.levels.each
    return [(cal.rounds, *(ticket.id for ticket in cal.pending)) for cal in calibrators]


@pytest.mark.slow
@pytest.mark.parametrize("action", ACTIONS)
@pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())
def test_all_calibrators_have_seen_the_same_rows(case: Any, action: str) -> None:
    done, ids = started(case)
    before = counts(done)[0]
    act(done, case, ids, action)
    after = counts(done)[0]
    seen = set()
    for n in count(1, 7):
        m, ids = started(case)
        try:
            with InterruptAt(n):
                act(m, case, ids, action)
        except KeyboardInterrupt:
            pending = m.pending.tolist()  # any call finishes the interrupted one
            assert len({*counts(m)}) == 1
            assert pending == list(counts(m)[0][1:])
            seen.add(counts(m)[0])
            m.update(X[18:], case[2][18:], prediction=case[1][18:])
            m.tell(pending, case[2][: len(pending)])
            assert len({*counts(m)}) == 1
        else:
            break
    assert seen <= {before, after}
    assert before in seen


def test_another_thread_inside_is_an_error_and_changes_nothing() -> None:
    m, ids = started(CASES["levels and tails"])
    before = counts(m)

    def meanwhile() -> None:
        for action in ACTIONS:
            with pytest.raises(RuntimeError, match="in use by another thread"):
                act(m, CASES["levels and tails"], ids, action)

    m._calibration.alone(meanwhile)
    assert counts(m) == before


@pytest.mark.parametrize("name", ["Calibrated", "Calibrated per class"])
@pytest.mark.parametrize("what", ["update", "ask", "tell"])
def test_a_second_interrupt_and_a_copy_change_nothing_of_that(name: str, what: str) -> None:
    case = MODELS[name]
    call = case.calls[what]
    outcomes, places = interrupts.Outcomes(case, call), interrupts.places(case, call)
    for n in range(places // 2, places, places // 8):
        for again in (0, 20, 60, 150):
            m = copy.deepcopy(outcomes.origin)
            with pytest.raises(KeyboardInterrupt):
                interrupts.interrupted(m, call, n)
            with contextlib.suppress(KeyboardInterrupt):  # the call that finishes may end before
                interrupts.interrupted(m, lambda m: m.pending, again)
            twin = copy.deepcopy(m)
            found = outcomes.judged(m)
            assert found in ("before", "after")
            assert outcomes.judged(twin) == found


def test_what_columns_mean_is_fixed_by_an_interrupted_call_before_the_next_is_read() -> None:
    sites = (pd.Categorical([*names] * 6) for names in ("ab", "bc"))
    first, other = (pd.DataFrame({"site": found}) for found in sites)
    case = interrupts.Case(
        lambda: Calibrated(None, local=["site"]),
        {"update": lambda m: m.update(first, Y[:12], prediction=X[:12, 0])},
        lambda m: storage.encode(m.get_params(), m._calibration),
        lambda m: m.update(other, Y[12:], prediction=X[12:, 0]),
    )
    call, ends = case.calls["update"], []
    for calls in ([case.finish], [call, case.finish]):
        m = case.start()
        for one in calls:
            one(m)
        ends.append(case.facts(m))
    places = interrupts.places(case, call)
    for n in range(places // 3, places, places // 20):
        m = case.start()
        with pytest.raises(KeyboardInterrupt):
            interrupts.interrupted(m, call, n)
        case.finish(m)
        assert case.facts(m) in ends
