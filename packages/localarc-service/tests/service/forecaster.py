"""Traffic: rounds as a forecaster sends them, with losses that come late, out of order or never."""

from __future__ import annotations

from typing import Any

import numpy as np

from localarc_client import Client, FeedbackOperation, Interval, PredictOperation

CONFIG: dict[str, Any] = {
    "alpha": 0.1,
    "kernel": {"kind": "rbf", "length_scale": 0.1, "scale": 4.0},
    "features": 2,
    "rate": 0.4,
    "initial_threshold": 0.8,
    "clip": 1.0,
    "score_range": [0.0, 3.0],
    "set": {"kind": "interval"},
}
PLACES = ("harbour", "hills", "old town")
_AT_ONCE = 5


class Traffic:
    """A stream of intervals around forecasts whose errors grow along the first feature."""

    def __init__(self, client: Client, stream: str, pending: int = 12, seed: int = 0) -> None:
        self.pending = pending  # number of pending predictions between calls
        self.spread = dict.fromkeys(PLACES, 1.0)  # how much larger errors are than usual
        self._client = client
        self._stream = stream
        self._random = np.random.default_rng(seed)
        self._open: list[FeedbackOperation] = []

    def create(self, **more: Any) -> None:
        config = {name: value for name, value in (CONFIG | more).items() if value is not None}
        self._client.create(self._stream, config)

    def rounds(self, count: int) -> None:
        """`count` predictions, and the losses of older ones, roughly in their order."""
        for _ in range(0, count, _AT_ONCE):
            x = self._random.uniform(size=(_AT_ONCE, 2))
            losses = self._known(len(self._open) + _AT_ONCE - self.pending)
            operations: list[PredictOperation | FeedbackOperation] = []
            for place, at in enumerate(x):
                group = PLACES[int(3 * at[0])]
                operations.append(
                    PredictOperation(stream=self._stream, x=at.tolist(), group=group, scores=[1.0])
                )
                operations += losses[place :: len(x)]
            self._send(operations)

    def _known(self, count: int) -> list[FeedbackOperation]:
        late = self._random.exponential(1.5, size=max(0, min(count, len(self._open))))
        return [self._open.pop(min(int(each), len(self._open) - 1)) for each in late]

    def _send(self, operations: list[PredictOperation | FeedbackOperation]) -> None:
        for operation, outcome in zip(operations, self._client.batch(operations), strict=True):
            assert outcome.problem is None
            if isinstance(operation, PredictOperation):
                assert outcome.prediction is not None
                assert isinstance(outcome.prediction.set, Interval)
                missed = self._truth(np.asarray(operation.x)) not in outcome.prediction.set
                key = outcome.prediction.id
                self._open.append(FeedbackOperation(self._stream, key, float(missed)))

    def _truth(self, x: Any) -> float:
        spread = (0.15 + 0.6 * x[0]) * (1.0 + (x[1] > 0.5)) * self.spread[PLACES[int(3 * x[0])]]
        return float(1.0 + spread * self._random.normal())
