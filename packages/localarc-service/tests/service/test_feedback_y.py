"""Feedback as y: where the service made the set, it computes the loss of what came true."""

from __future__ import annotations

import random
from typing import Any

import pytest

from service.service_in_thread import Inside

INTERVAL = {"kind": "interval"}
NAMED = {"kind": "labels", "labels": ["ant", "bee", "cat"], "score": "probability"}
PLAIN = {"kind": "labels", "score": "score"}
METHODS = pytest.mark.parametrize("method", ["arc", "mondrian", "auto"])


def config(method: str, **more: Any) -> dict[str, Any]:
    return {"method": method, "initial_threshold": 0.3} | more


@pytest.mark.slow
@METHODS
def test_y_teaches_what_the_loss_of_the_returned_set_teaches(service: Inside, method: str) -> None:
    for stream in "y", "loss":
        service.create(stream, **config(method, set=INTERVAL, loss_bound=2.0))
    source = random.Random(0)
    for t in range(40):
        key, y, center = f"p{t}", source.gauss(), source.gauss()
        made = [
            service.predict(key, stream, group="g", scores=[center])[1] for stream in ("y", "loss")
        ]
        assert made[0] == made[1]
        inside = made[0]["set"]["lower"] <= y <= made[0]["set"]["upper"]
        assert service.feedback(key, stream="y", y=y)[0] == 200
        loss = 0.0 if inside else 2.0
        score = {"score": abs(y - center)} if method == "auto" else {}
        assert service.feedback(key, loss, stream="loss", **score)[0] == 200
    assert 0 < service.get(stream="y")["risk"] < 2
    assert service.http.state("y") == service.http.state("loss")


@METHODS
def test_y_may_be_a_label_or_the_position_of_one(service: Inside, method: str) -> None:
    service.create("named", **config(method, set=NAMED))
    service.create("plain", **config(method, set=PLAIN))
    for t, (name, position) in enumerate([("bee", 1), ("cat", 2), ("ant", 0)]):
        probabilities = {"ant": 0.7, "bee": 0.2, "cat": 0.1}
        service.predict(f"p{t}", "named", group="g", scores=[*probabilities.values()])
        service.predict(f"p{t}", "plain", group="g", scores=[-p for p in probabilities.values()])
        assert service.feedback(f"p{t}", stream="named", y=name)[0] == 200
        assert service.feedback(f"p{t}", stream="plain", y=position)[0] == 200
    assert service.http.state("named") == service.http.state("plain")


def test_a_repeated_y_has_no_effect_under_either_name(service: Inside) -> None:
    service.create(set=INTERVAL)
    service.predict("one", scores=[1.0])
    first = service.feedback("one", y=1.5)
    assert service.feedback("one", y=1.5) == service.feedback("one", outcome=1.5) == first
    status, problem = service.feedback("one", y=1.6)
    assert (status, problem["detail"]) == (409, "prediction 'one' already has y = 1.5.")
    operation = {"op": "feedback", "stream": "s", "id": "one", "y": 1.5}
    _, answer = service.http.call("POST", "/v1/batch", {"operations": [operation]})
    assert answer["results"][0]["feedback"] == first[1]


@pytest.mark.parametrize(
    ("made", "body", "reason"),
    [
        (None, {"y": 1.0}, "y requires a prediction set: create the stream with set"),
        (INTERVAL, {"y": "ant"}, "y of an interval is a number, got 'ant'"),
        (NAMED, {"y": "dog"}, "y must be one of the labels of the stream's set, got 'dog'"),
        (NAMED, {"y": 1}, "y must be one of the labels"),
        (PLAIN, {"y": 3}, "y must be a position from 0 to 2, got 3"),
        (PLAIN, {"y": 0.5}, "y must be a position from 0 to 2, got 0.5"),
        (PLAIN, {"y": "ant"}, "y must be a position from 0 to 2, got 'ant'"),
        (INTERVAL, {"y": True}, "Expected `float | str | null`, got `bool`"),
        (INTERVAL, {"y": None}, "report either the loss of a prediction or y, what came true"),
        (INTERVAL, {"y": 1.0, "loss": 1.0}, "got both"),
        (INTERVAL, {"y": 1.0, "score": 1.0}, "score belongs to a loss: omit it"),
        (INTERVAL, {"y": 1.0, "outcome": 1.0}, "y and outcome are names of the same: send y"),
        (INTERVAL, {"y": 1e200}, "Expected `float` <= 1e+100"),
    ],
)
def test_a_y_that_makes_no_sense_is_refused_and_changes_nothing(
    service: Inside, made: Any, body: dict[str, Any], reason: str
) -> None:
    service.create(set=made)
    scores = [0.5] if made == INTERVAL else [0.5, 0.3, 0.2]
    body_of_prediction: dict[str, Any] = {} if made is None else {"scores": scores}
    service.predict("one", **body_of_prediction)
    before = service.everything()
    status, problem = service.feedback("one", **body)
    assert status == 422
    assert reason in problem["detail"]
    assert service.everything() == before


def test_y_of_a_prediction_without_scores_is_refused(service: Inside) -> None:
    service.create(set=INTERVAL)
    service.predict("one")
    status, problem = service.feedback("one", y=1.0)
    assert (status, "send scores with the prediction" in problem["detail"]) == (422, True)


@pytest.mark.parametrize("text", [b'{"y": NaN}', b'{"y": Infinity}', b'{"y": 1e999}'])
def test_y_that_is_no_number_is_no_json(service: Inside, text: bytes) -> None:
    service.create(set=INTERVAL)
    service.predict("one", scores=[1.0])
    status, _ = service.http.call("PUT", "/v1/streams/s/predictions/one/feedback", text)
    assert status in (400, 422)
    assert service.get()["rounds"] == 0
