"""Models in the middle of their life, and the calls that change them."""

from __future__ import annotations

import copy
import tempfile
import warnings
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.linear_model import LinearRegression

from interrupts import Case
from localarc.models import Calibrated

RANDOM = np.random.default_rng(1)
X = RANDOM.uniform(-1.0, 1.0, (64, 2))
Y = X[:, 0] + RANDOM.normal(size=64)
LABELS, SHARES = RANDOM.integers(0, 3, 64), RANDOM.dirichlet(np.ones(3), 64)
MASKS = np.maximum(RANDOM.integers(0, 2, (64, 3)), [1, 0, 0])


def calibrated(y: Any, given: Any, **settings: Any) -> Case:
    """A model with rows pending that are not the first."""

    @cache
    def start() -> Calibrated:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            m = Calibrated(None, coverage=[0.5, 0.7], **settings)
            m.update(X[:12], y[:12], prediction=given[:12])
            m.ask(X[12:16], prediction=given[12:16])
        return m

    def finish(m: Calibrated) -> None:
        pending = m.pending
        m.tell(pending, y[: len(pending)])
        m.update(X[20:22], y[20:22], prediction=given[20:22])

    def forgotten(m: Calibrated) -> None:
        """Ids that went out before an interrupt are known to nobody."""
        before = copy.copy(m._calibration)
        m.forget(m.ask(X[16:18], prediction=given[16:18]).ids)
        m._calibration.counts, m._calibration.sample = before.counts, before.sample

    rows = slice(16, 18)
    calls: dict[str, Any] = {
        "update": lambda m: m.update(X[rows], y[rows], prediction=given[rows]),
        "warm_up": lambda m: m.warm_up(X[rows], y[rows], prediction=given[rows]),
        "ask": lambda m: m.ask(X[rows], prediction=given[rows]),
        "tell": lambda m: m.tell(m.pending[1:3], y[13:15]),
        "forget": lambda m: m.forget(m.pending[1:3]),
    }
    return Case(start, calls, saved, finish, {"ask": forgotten})


def first_rows() -> Case:
    """A model that fits its difficulty."""

    @cache
    def start() -> Calibrated:
        return Calibrated(first_column, [0.5, 0.7], local=[0, 1], difficulty=LinearRegression())

    def finish(m: Calibrated) -> None:
        m.warm_up(X[20:36], Y[20:36])

    calls = {"warm_up": lambda m: m.warm_up(X[:16], Y[:16])}
    return Case(start, calls, lambda m: ("difficulty_" in vars(m), saved(m)), finish)


def first_column(rows: Any) -> Any:
    return rows[:, 0]


def saved(m: Calibrated) -> Any:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model"
        m.save(path)
        return m.pending.tolist(), path.read_bytes()


MODELS: dict[str, Case] = {
    "Calibrated": calibrated(Y, X[:, 0]),
    "Calibrated per class": calibrated(LABELS, SHARES, classes=range(3), per_class=True),
    "Calibrated masks": calibrated(MASKS, SHARES, kind="masks"),
    "Calibrated from its first rows": first_rows(),
}
