"""Rehearsal: do once all that a stream asks of its calibrator, so that later nothing is compiled.

Loops are compiled, or read from disk, when they are used for the first time. Which ones a stream
uses depends on its method, kernel, memory and number of features: its `Shape`. Some are used late:
when a window moves on, when weights became small, when a state is restored.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from localarc.guarantees.assumptions import Lateness
from localarc.validation import FloatArray
from localarc_client.wire.config import AutoConfig, GateConfig, LarcConfig, StreamConfig
from localarc_client.wire.config_reading import read_config
from localarc_service.stored.events import UNKNOWN, PredictionMade
from localarc_service.stored.format import Pending
from localarc_service.streams.methods import Method, build_calibrator, method_of
from localarc_service.streams.methods.parts import usual_memory

AnyMethod: TypeAlias = Method[Any]

_ROUNDS = 600  # the arrays of an exact memory grow twice, a dictionary is flushed twice
_WINDOW = 100  # far fewer, so that rounds leave it
_GROUP = "any"
_MANY = 9  # features: from here on, all numbers share their loops


class Shape(NamedTuple):
    """Streams of one shape share their loops."""

    method: str
    kernel: str = ""
    memory: str = ""
    features: int = 1

    def __str__(self) -> str:
        if not self.kernel:
            return self.method
        return f"{self.method}, {self.kernel}, {self.memory}, {self.features} feature(s)"


USUAL = (
    Shape("auto"),
    Shape("larc", "rbf", "lattice"),
    Shape("larc", "rbf", "dictionary", 3),
)
"""What is loaded before a service is ready, regardless of its streams."""


def shape_of(config: StreamConfig) -> Shape | None:
    """The shape of a config's streams; None for methods that need no loops."""
    if isinstance(config, AutoConfig | GateConfig):  # a gate has the loops of AutoLARC
        return Shape("auto")
    if not isinstance(config, LarcConfig):
        return None
    memory = (config.memory or usual_memory(config)).kind
    features = 1 if memory == "lattice" else min(config.features, _MANY)
    return Shape(config.method, config.kernel.kind, memory, features)


def tasks() -> dict[str, Callable[[], None]]:
    """What `localarc warm-up --service` compiles, by what it prints."""
    return {f"service, {shape}": partial(rehearse, shape) for shape in USUAL}


def rehearse(shape: Shape) -> None:
    """Use every loop of a shape, on made-up rounds."""
    for config in _configs(shape):
        _rehearse(config)


def _rehearse(config: StreamConfig) -> None:
    method = method_of(build_calibrator(config), config)
    X = np.random.default_rng(0).uniform(size=(_ROUNDS, config.features))
    for t, x in enumerate(X):
        _learn(method, _ask(method, t, x), t % 2)
    late = [_ask(method, t, x) for t, x in enumerate(X)]  # all pending at once
    again = method_of(build_calibrator(config).restore(method.calibrator.state()), config)
    for pending in reversed(late[100:]):
        _learn(again, pending, pending.seq % 2)
    for pending in late[:100]:
        again.forget(pending)
    _read(again, X)


def check(config: StreamConfig) -> None:
    """Raise ValueError if a config is invalid: build its calibrator and run two rounds."""
    method = method_of(build_calibrator(config), config)
    x = np.zeros(config.features)
    for t in range(2):
        _learn(method, _ask(method, t, x), config.loss_bound)
    _read(method, x[None])


def _configs(shape: Shape) -> list[StreamConfig]:
    """Configs of the shape. Their streams forget fast: small weights have a loop of their own."""
    if not shape.kernel:
        return [AutoConfig(0.1, features=2), GateConfig(0.1, features=2)]
    size = {"m": _WINDOW} if shape.memory == "keep-last" else {}
    parts = {"kernel": {"kind": shape.kernel}, "memory": {"kind": shape.memory} | size}
    fast = {"rate": {"kind": "constant", "eta": 0.5}, "regularization": 1.0}
    return [read_config({"alpha": 0.1, "features": shape.features} | parts | fast)]


def _ask(method: AnyMethod, t: int, x: FloatArray) -> Pending:
    event = PredictionMade(0.0, str(t), x.tolist(), UNKNOWN, _GROUP, scores=[1.0])
    threshold, ticket = method.ask(event)
    return Pending(t, 0.0, b"", threshold, x.tobytes(), _GROUP, None, None, ticket, True)


def _learn(method: AnyMethod, pending: Pending, loss: float) -> None:
    gate = method.config.method == "gate"
    method.learn(pending, *((0.0, None) if gate else (float(loss), pending.seq / _ROUNDS)))


def _read(method: AnyMethod, X: FloatArray) -> None:
    """What the import of a state, the summary and the map of a stream read."""
    method.threshold(X[0], _GROUP)
    if method.config.method not in ("mondrian", "gate"):
        method.calibrator.threshold_function(X)
    method.certificate(Lateness())


if __name__ == "__main__":
    _, method, kernel, memory, features = sys.argv
    rehearse(Shape(method, kernel, memory, int(features)))
