"""A prediction evaluates its threshold once, and fails before anything has changed."""

from __future__ import annotations

from typing import Any

import pytest

from localarc_client.wire.config_reading import read_config
from localarc_client.wire.predictions import FeedbackRequest, Interval, PredictRequest
from localarc_service.errors import ApiError
from localarc_service.limits import Limits
from localarc_service.streams.manager import StreamManager

METHODS: dict[str, dict[str, Any]] = {
    "arc": {"method": "arc"},
    "larc": {"kernel": {}, "features": 1},
    "mondrian": {"method": "mondrian"},
    "auto": {"method": "auto", "features": 1},
    "gate": {"method": "gate", "features": 1},
}
EVALUATE = "threshold", "ask", "decide"


def managed(**fields: Any) -> StreamManager:
    manager = StreamManager(Limits(), lambda: 0.0)
    manager.create("s", read_config({"alpha": 0.1} | fields))
    return manager


def request(method: str, key: str) -> PredictRequest:
    x = [] if method in ("arc", "mondrian") else [0.5]
    return PredictRequest(x, key, "a", confidence=1.0 if method == "gate" else None)


@pytest.mark.parametrize("method", METHODS)
def test_a_prediction_evaluates_one_threshold(method: str, monkeypatch: pytest.MonkeyPatch) -> None:
    manager = managed(**METHODS[method])
    calibrator = manager.streams["s"].calibrator
    calls: list[str] = []

    def counted(name: str, evaluate: Any) -> Any:
        def evaluated(*args: Any, **more: Any) -> Any:
            calls.append(name)
            return evaluate(*args, **more)

        return evaluated

    for name in filter(lambda name: hasattr(calibrator, name), EVALUATE):
        monkeypatch.setattr(calibrator, name, counted(name, getattr(calibrator, name)))
    for key in "abc":
        manager.predict("s", request(method, key))
        assert len(calls) == 1
        manager.predict("s", request(method, key))  # the same again, which changes nothing
        assert len(calls) == 1
        calls.clear()


@pytest.mark.parametrize("method", ["arc", "mondrian", "auto"])
def test_wrong_scores_are_found_before_the_calibrator_is_asked(method: str) -> None:
    manager = managed(**METHODS[method], set={"kind": "interval"})
    stream = manager.streams["s"]
    before = stream.snapshot()
    for scores in ([0.0, 1.0, 2.0], None):
        wrong = request(method, "a")
        wrong.scores, wrong.x = scores, wrong.x if scores else [0.5, 0.5]
        with pytest.raises(ApiError, match=r"scores must be|x must have"):
            manager.predict("s", wrong)
    assert stream.snapshot() == before
    assert len(manager.uncommitted) == 1


def test_absurd_scores_do_not_make_a_prediction_fail_halfway() -> None:
    """The threshold may become larger than any number of a request."""
    manager = managed(method="auto", set={"kind": "interval"})
    for t in range(60):
        made = manager.predict("s", PredictRequest([], f"p{t}", scores=[0.0]))
        manager.feedback("s", f"p{t}", FeedbackRequest(1.0 - t % 2, score=1e100 * (-1) ** t))
    assert made.threshold > 1e100
    assert isinstance(made.set, Interval)
    assert made.set.upper == made.threshold
    assert manager.streams["s"].consistent
