"""What the service answers, and that saying something twice is saying it once."""

from __future__ import annotations

import http.client
import itertools
import random
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

from localarc import ARC, LARC, RBF, Lattice
from localarc_service.api.auth import Scope, Tokens
from localarc_service.streams.manager import StreamManager
from service.conftest import Start
from service.service_in_thread import Inside, wait_for
from service.service_process import Caller

LOCAL: dict[str, Any] = {"kernel": {"length_scale": 0.5}, "features": 2}


def test_thresholds_are_those_of_the_library(service: Inside) -> None:
    cal = LARC(0.1, RBF.from_paper(0.5), 0.7, memory=Lattice(max_bytes=2**26))
    assert service.create(rate=0.7, **LOCAL)[0] == 201
    source = random.Random(0)
    for t in range(50):
        x = [source.random(), source.random()]
        status, answer = service.predict(f"p{t}", x=x)
        assert (status, answer["threshold"]) == (200, cal.threshold(np.array(x)))
        loss = float(source.random() > answer["threshold"])
        cal.update(np.array(x), loss)
        assert service.feedback(f"p{t}", loss) == (200, {"seq": 2 * t + 2, "rounds": t + 1})
    assert service.http.state("s") == cal.state()


def test_a_stream_is_created_once(service: Inside) -> None:
    assert service.create(**LOCAL)[0] == 201
    status, answer = service.create(memory={"kind": "lattice"}, **LOCAL)
    assert (status, answer["stream"], answer["config"]["retain"]) == (200, "s", 4096)
    status, answer = service.create(rate=2.0, **LOCAL)
    assert (status, answer["title"]) == (409, "Conflict")
    assert "different config" in answer["detail"]


def test_a_repeated_prediction_gets_the_same_response(service: Inside) -> None:
    service.create(set={"kind": "interval"}, **LOCAL)
    body: dict[str, Any] = {"x": [0.1, 0.2], "scores": [3], "group": "a"}
    first = service.predict("one", **body)
    service.predict("two", x=[0.1, 0.2])
    service.feedback("two", 1.0)  # the threshold changes, the response does not
    assert service.predict("one", **body) == first
    service.feedback("one", 1.0)
    before = service.everything()
    assert service.predict("one", **body) == first
    for other in ({"x": [0.1, 0.3]}, {"scores": [4]}, {"group": "b"}):
        status, answer = service.predict("one", **body | other)
        assert (status, answer["detail"]) == (
            409,
            "prediction 'one' was made with a different body.",
        )
    assert service.everything() == before


def test_repeated_feedback_gets_the_same_response(service: Inside) -> None:
    service.create()
    service.predict("one")
    service.predict("two")
    first = service.feedback("one", 0.25)
    service.feedback("two", 1.0)
    before = service.everything()
    assert service.feedback("one", 0.25) == first == (200, {"seq": 3, "rounds": 1})
    status, answer = service.feedback("one", 0.5)
    assert (status, answer["detail"]) == (409, "prediction 'one' already has the loss 0.25.")
    assert service.everything() == before


def test_feedback_for_an_unknown_prediction_is_rejected(service: Inside) -> None:
    service.create()
    status, answer = service.feedback("nobody", 0.5)
    assert (status, answer["status"], answer["title"]) == (404, 404, "Not Found")
    assert service.feedback("nobody", 0.5, stream="nowhere")[0] == 404
    assert service.predict("one", stream="nowhere")[0] == 404


def test_an_id_is_generated_if_none_is_sent(service: Inside) -> None:
    service.create()
    ids = {service.predict()[1]["id"] for _ in range(20)}
    assert len(ids) == 20
    for key in ids:
        assert service.feedback(key, 0.5)[0] == 200


def test_losses_are_learned_in_the_order_of_arrival(service: Inside) -> None:
    service.create(**LOCAL)
    source = random.Random(1)
    inputs = {f"p{t}": [source.random(), source.random()] for t in range(30)}
    for key, x in inputs.items():
        service.predict(key, x=x)
    order = random.Random(2).sample(list(inputs), 30)
    cal = LARC(0.1, RBF.from_paper(0.5), memory=Lattice(max_bytes=2**26))
    for key in order:
        service.feedback(key, 1.0)
        cal.update(np.array(inputs[key]), 1.0)
    assert service.http.state("s") == cal.state()
    summary = service.get()
    newest = list(itertools.accumulate((int(key[1:]) for key in order), max))
    assert summary["late"] == sum(int(k[1:]) < n for k, n in zip(order, newest, strict=True))
    assert (summary["pending"], summary["certificate"]["max_pending"]) == (0, 29)


def test_a_prediction_expires_after_the_timeout(service: Inside) -> None:
    service.create(timeout=10)
    service.predict("one")
    service.clock.now += 5
    service.predict("two")
    service.clock.now += 6
    wait_for(lambda: service.get()["expired"] == 1)
    summary = service.get()
    assert (summary["pending"], summary["rounds"]) == (1, 0)
    status, answer = service.feedback("one", 1.0)
    assert (status, answer["title"]) == (410, "Gone")
    assert service.predict("one")[0] == 200  # retries still get the response
    assert service.feedback("two", 1.0)[0] == 200


def test_the_default_loss_replaces_missing_feedback(service: Inside) -> None:
    service.create(timeout=10, default_loss=1.0)
    service.predict("one")
    service.clock.now += 10
    wait_for(lambda: service.get()["expired"] == 1)
    assert service.http.state("s") == ARC(0.1).update(None, 1.0).state()
    assert service.feedback("one", 1.0)[0] == 410


def test_each_group_has_its_own_risk(service: Inside) -> None:
    service.create()
    for t, (group, loss) in enumerate([("a", 1.0), ("b", 0.0), ("a", 0.5), (None, 0.25)]):
        service.predict(f"p{t}", **({} if group is None else {"group": group}))
        service.feedback(f"p{t}", loss)
    summary, uncounted = service.get(), {"max_pending": None}
    assert summary["groups"] == [
        {"group": "a", "rounds": 2, "risk": 0.75, "above": None, "below": None, **uncounted},
        {"group": "b", "rounds": 1, "risk": 0.0, "above": None, "below": None, **uncounted},
    ]
    assert (summary["rounds"], summary["risk"]) == (4, 0.4375)


@pytest.mark.parametrize(
    ("config", "scores", "expected"),
    [
        ({"kind": "interval"}, [3.0], {"lower": 2.0, "upper": 4.0, "size": 2.0}),
        ({"kind": "interval"}, [3.0, 5.0], {"lower": 2.0, "upper": 6.0, "size": 4.0}),
        ({"kind": "labels"}, [0.5, 1.0, 1.5], {"labels": [0, 1], "size": 2}),
        (
            {"kind": "labels", "labels": ["ant", "bee"], "score": "cumulative"},
            [0.2, 0.8],
            {"labels": ["ant", "bee"], "size": 2},
        ),
        ({"kind": "labels", "score": "probability"}, [0.2, 0.8], {"labels": [0, 1], "size": 2}),
    ],
)
def test_scores_give_a_prediction_set(
    service: Inside, config: dict[str, Any], scores: list[float], expected: dict[str, Any]
) -> None:
    service.create(set=config, initial_threshold=1.0)
    status, answer = service.predict("one", scores=scores)
    assert (status, answer["set"]) == (200, {"kind": config["kind"]} | expected)
    service.feedback("one", 0.0)
    assert [point.size for point in service.history()] == [expected["size"]]


def test_invalid_scores_are_rejected(service: Inside) -> None:
    service.create("plain")
    service.create("interval", set={"kind": "interval"})
    service.create("labels", set={"kind": "labels", "labels": ["a", "b"], "score": "probability"})
    for stream, scores in (("plain", [1]), ("interval", [1, 2, 3]), ("labels", [0.5]),
                           ("labels", [2, 3])):  # fmt: skip
        before = service.everything(stream)
        assert service.predict(stream=stream, scores=scores)[0] == 422
        assert service.everything(stream) == before


def test_a_batch_runs_its_operations_in_order(service: Inside) -> None:
    service.create(**LOCAL)
    operations = [
        {"op": "predict", "stream": "s", "x": [0.5, 0.5], "id": "one"},
        {"op": "feedback", "stream": "s", "id": "one", "loss": 1.0},
        {"op": "predict", "stream": "s", "x": [0.5, 0.5], "id": "two"},
        {"op": "predict", "stream": "nowhere", "x": []},
        {"op": "feedback", "stream": "s", "id": "two", "loss": 7.0},
        {"op": "feedback", "stream": "s", "id": "two", "loss": 0.0, "extra": 1},
        {"op": "feedback", "stream": "s", "id": "two", "loss": 0.0},
    ]
    status, answer = service.http.call("POST", "/v1/batch", {"operations": operations})
    results = answer["results"]
    assert status == 200
    assert [each["status"] for each in results] == [200, 200, 200, 404, 422, 422, 200]
    assert results[2]["prediction"]["threshold"] == pytest.approx(1.8)
    assert results[6]["feedback"] == {"seq": 4, "rounds": 2}
    assert results[4]["problem"]["detail"].startswith("loss must lie between 0")


def test_a_client_that_sends_everything_twice_ends_in_the_same_state(start: Start) -> None:
    ends = []
    service = start()
    for stream, times in (("once", 1), ("twice", 2)):
        source = random.Random(3)
        for _ in range(times):
            service.create(stream, timeout=100, **LOCAL)
        waiting: list[str] = []
        for t in range(60):
            x = [source.random(), source.random()]
            for _ in range(times):
                assert service.predict(f"p{t}", stream, x=x)[0] == 200
            waiting.append(f"p{t}")
            if source.random() < 0.8:
                key = waiting.pop(source.randrange(len(waiting)))
                loss = source.random()
                for _ in range(times):
                    assert service.feedback(key, loss, stream)[0] == 200
        ends.append((service.http.state(stream), service.ask(counters(stream))))
    assert ends[0] == ends[1]


def counters(stream: str) -> Callable[[StreamManager], Any]:
    def look(manager: StreamManager) -> Any:
        state = manager.streams[stream].state
        counts = state.seq, state.rounds, state.predictions, state.late, state.outstanding
        return counts, list(state.pending), list(state.answered), state.features

    return look


def test_concurrent_retries_count_once(service: Inside) -> None:
    service.create(**LOCAL)

    def hammer(number: int) -> list[Any]:
        caller = Caller(service.port)
        answers = []
        for t in range(20):
            answers.append(caller.predict("s", id=f"p{t}", x=[t / 20, 0.5]))
            answers.append(caller.feedback("s", f"p{t}", 0.5))
        caller.close()
        return answers

    with ThreadPoolExecutor(8) as pool:
        received = list(pool.map(hammer, range(8)))
    assert all(status == 200 for answers in received for status, _ in answers)
    assert all(answers == received[0] for answers in received)
    assert (service.get()["predictions"], service.get()["rounds"]) == (20, 20)


def test_a_state_can_be_exported_and_imported(start: Start) -> None:
    service = start(tokens=Tokens({"a" * 16: Scope.ADMIN}))
    service.http = Caller(service.port, "a" * 16)
    service.create("old", **LOCAL)
    service.create("new", **LOCAL)
    service.create("other", rate=2.0, **LOCAL)
    for t in range(5):
        service.predict(f"p{t}", "old", x=[0.1 * t, 0.5])
        service.feedback(f"p{t}", 0.5, "old")
    service.predict("waiting", "new", x=[0.3, 0.3], group="a")
    service.predict("before", "new", x=[0.3, 0.3], group="a")
    service.feedback("before", 1.0, "new")
    state = service.http.state("old")
    put = {"Content-Type": "application/octet-stream"}
    path = "/v1/streams/{}/state"
    imported = service.http.call("PUT", path.format("new"), state, **put)
    assert imported == (200, {"seq": 4, "rounds": 5})
    assert service.http.state("new") == state
    summary = service.get(stream="new")
    assert (summary["rounds"], summary["risk"], summary["consistent"]) == (5, 0.5, True)
    assert summary["groups"] == service.get("/history", "new")["points"] == []
    assert service.feedback("waiting", 1.0, "new") == (200, {"seq": 5, "rounds": 6})
    (group,) = service.get(stream="new")["groups"]
    assert (group["group"], group["rounds"], group["risk"]) == ("a", 1, 1.0)
    before = service.everything("other")
    for bad in (state, b"", b"nonsense", state[:-1], ARC(0.1).state()):
        status, answer = service.http.call("PUT", path.format("other"), bad, **put)
        assert (status, answer["title"]) == (422, "Unprocessable Content")
    assert service.everything("other") == before


def test_the_history_is_downsampled_and_current(service: Inside) -> None:
    service.create(alpha=0.5, score_range=[-1, 1])  # every second round loses
    for t in range(3):
        service.http.call("POST", "/v1/batch", {"operations": pairs(t * 490, 490)})
    history = service.get("/history")
    assert history["stride"] == 2
    points = service.history()
    assert [point.rounds for point in points] == list(range(2, 1471, 2))
    summary = service.get()
    assert points[-1].risk == pytest.approx(summary["risk"])
    assert points[-1].bound == pytest.approx(summary["certificate"]["bound"]["value"])


def pairs(first: int, count: int) -> list[dict[str, Any]]:
    return [
        {"op": op, "stream": "s", "id": f"p{t}"} | ({"loss": t % 2} if op == "feedback" else {})
        for t in range(first, first + count)
        for op in ("predict", "feedback")
    ]


def test_the_map_is_the_current_threshold_function(service: Inside) -> None:
    service.create(kernel={"length_scale": 0.5}, features=3, memory={"kind": "keep-all"})
    assert service.http.call("GET", "/v1/streams/s/map")[0] == 409
    source = random.Random(4)
    cal = LARC.from_state(service.http.state("s"))
    for t in range(10):
        x = [source.random(), source.random(), source.random()]
        service.predict(f"p{t}", x=x)
        service.feedback(f"p{t}", 1.0)
        cal.update(np.array(x), 1.0)
    found = service.get("/map?first=2&second=0&size=4")
    mean = service.get()["features"][1]["mean"]
    for i, up in enumerate(found["second_values"]):
        for j, across in enumerate(found["first_values"]):
            expected = cal.threshold(np.array([up, mean, across]))
            assert found["thresholds"][i][j] == pytest.approx(expected)
    assert len(service.get("/map?first=1")["thresholds"]) == 1
    for bad in ("first=3", "first=0&second=0", "size=1", "size=65", "first=x", "first=-1"):
        assert service.http.call("GET", f"/v1/streams/s/map?{bad}")[0] == 422


def test_all_streams_are_listed_by_name(service: Inside) -> None:
    for name in ("b", "a", "c"):
        service.create(name)
    _, answer = service.http.call("GET", "/v1/streams")
    assert [each["stream"] for each in answer["streams"]] == ["a", "b", "c"]
    assert all(each["consistent"] for each in answer["streams"])


def test_metrics_never_name_a_stream(service: Inside) -> None:
    service.create("top-secret-stream", **LOCAL)
    service.predict("secret-id", "top-secret-stream", x=[0, 0], group="secret-group")
    service.feedback("secret-id", 1.0, "top-secret-stream")
    _, text = service.http.call("GET", "/metrics")
    assert b"secret" not in text
    assert b'localarc_events_total{kind="feedback_received"} 1.0' in text
    assert b"localarc_rounds 1.0" in text
    assert b"localarc_ready 1.0" in text


def test_responses_have_security_headers(service: Inside) -> None:
    for path in ("/v1/streams", "/nowhere", "/v1/streams/none", "/openapi.json"):
        connection = http.client.HTTPConnection("127.0.0.1", service.port)
        connection.request("GET", path)
        headers = connection.getresponse().headers
        connection.close()
        assert headers["X-Content-Type-Options"] == "nosniff"
        assert headers["Content-Security-Policy"].startswith("default-src 'none'")
        assert headers["Cache-Control"] == "no-store"
