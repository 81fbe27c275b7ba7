"""Traffic: rounds as a forecaster sends them, with losses that come late, out of order or never."""

from __future__ import annotations

from typing import Any

import numpy as np

from localarc.client import Client, Learn, Predict, Prediction

CONFIG: dict[str, Any] = {
    "alpha": 0.1,
    "kernel": {"kind": "rbf", "length_scale": 0.1},
    "features": 2,
    "rate": 0.3,
    "initial_threshold": 0.5,
    "clip": 1.0,
    "score_range": [0.0, 3.0],
    "set": {"kind": "interval"},
}
PLACES = ("harbour", "hills", "old town")


class Traffic:
    """A stream of intervals around forecasts whose errors grow along the first feature."""

    def __init__(self, client: Client, stream: str, awaited: int = 12, seed: int = 0) -> None:
        self._client = client
        self._stream = stream
        self._awaited = awaited
        self._random = np.random.default_rng(seed)
        self._open: list[tuple[Prediction, float]] = []

    def create(self, **more: Any) -> None:
        self._client.create(self._stream, CONFIG | more)

    def rounds(self, count: int, at_once: int = 10) -> None:
        """So many predictions, and the losses of all but the latest few, in any order."""
        for _ in range(0, count, at_once):
            self._predict(at_once)
            self._report()

    def _predict(self, count: int) -> None:
        x = self._random.uniform(size=(count, 2))
        errors = self._random.normal(size=count) * (0.15 + 0.6 * x[:, 0]) * (1 + (x[:, 1] > 0.5))
        operations = [
            Predict(self._stream, at, group=PLACES[int(3 * at[0])], scores=[1.0]) for at in x
        ]
        for outcome, error in zip(self._client.batch(operations), errors, strict=True):
            assert outcome.prediction is not None, outcome.error
            self._open.append((outcome.prediction, 1.0 + error))

    def _report(self) -> None:
        self._random.shuffle(self._open)
        known, self._open = self._open[: -self._awaited], self._open[-self._awaited :]
        losses = [Learn(self._stream, p.id, float(y not in p.set)) for p, y in known]  # type: ignore[operator]
        for outcome in self._client.batch(losses) if losses else []:
            assert outcome.feedback is not None, outcome.error
