"""The client on its own: what it sends, when it sends it again, what it makes of answers."""

import asyncio
import json
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from typing import Any

import numpy as np
import pytest

from localarc.client import (
    AsyncClient,
    Client,
    Interval,
    LabelSet,
    Learn,
    Predict,
    Retries,
    ServiceError,
    UnreachableError,
)
from localarc.client.retry import Answer, Waiting

pytest.importorskip("httpx", reason="the client needs httpx: pip install '.[client]'")
import httpx

URL = "http://service.test"
AT_ONCE = Retries(times=4, first_pause=0.0, longest_pause=0.0)


class Service:
    """A service that answers from a list and remembers what it was asked."""

    def __init__(self, *answers: httpx.Response | Exception) -> None:
        self.answers = list(answers)
        self.requests: list[httpx.Request] = []

    def __call__(self, request: httpx.Request) -> httpx.Response:
        self.requests.append(request)
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer

    def client(self, retries: Retries = AT_ONCE, token: str | None = None) -> Client:
        return Client(URL, token, retries=retries, transport=httpx.MockTransport(self))

    def bodies(self) -> list[Any]:
        return [json.loads(request.content) for request in self.requests]


def told(threshold: float = 0.5, **more: object) -> httpx.Response:
    return httpx.Response(200, json={"id": "a", "seq": 1, "threshold": threshold, **more})


def problem(status: int, detail: str, **headers: str) -> httpx.Response:
    content = {"title": "No", "status": status, "detail": detail, "type": "about:blank"}
    return httpx.Response(status, json=content, headers=headers)


def test_a_prediction_carries_an_id_of_its_own() -> None:
    service = Service(told(), told())
    client = service.client()
    client.predict("demand", [1.0])
    client.predict("demand", [1.0])
    ids = [body["id"] for body in service.bodies()]
    assert len(set(ids)) == 2
    assert all(ids)


def test_an_empty_id_is_sent_to_be_refused() -> None:
    service = Service(problem(422, "id must match"), problem(422, "id must match"))
    awaited = AsyncClient(URL, transport=httpx.MockTransport(service))
    with pytest.raises(ServiceError, match="id must match"):
        service.client().predict("demand", id="")
    with pytest.raises(ServiceError, match="id must match"):
        asyncio.run(awaited.predict("demand", id=""))
    assert [body["id"] for body in service.bodies()] == ["", ""]


def test_a_lost_answer_is_asked_for_again_with_the_same_id() -> None:
    service = Service(httpx.ReadTimeout("slow"), httpx.ReadError("cut"), told(0.25))
    assert service.client().predict("demand", [1.0, 2.0]).threshold == 0.25
    assert len({request.content for request in service.requests}) == 1
    assert len(service.requests) == 3


def test_a_service_that_starts_is_waited_for() -> None:
    service = Service(httpx.ConnectError("refused"), problem(503, "replaying"), told())
    assert service.client().predict("demand").seq == 1


def test_a_service_that_stays_away_is_named_in_one_exception() -> None:
    service = Service(*[httpx.ConnectError("refused")] * 5)
    with pytest.raises(UnreachableError, match="POST /v1/streams/demand/predict"):
        service.client().predict("demand")
    assert service.answers == []


def test_a_refusal_is_one_exception_with_the_reason() -> None:
    service = Service(problem(409, "the id 'a' stands for another input."))
    with pytest.raises(ServiceError, match="another input") as caught:
        service.client().predict("demand", id="a")
    assert caught.value.status == 409
    assert caught.value.reason == "the id 'a' stands for another input."


@pytest.mark.parametrize("content", [b"", b"<html>proxy</html>", b"[]", b"\xff"])
def test_a_refusal_that_is_not_a_problem_is_told_as_it_is(content: bytes) -> None:
    service = Service(httpx.Response(404, content=content))
    with pytest.raises(ServiceError, match="status 404"):
        service.client().summary("demand")


def test_a_full_service_is_asked_again_only_where_it_says_when() -> None:
    busy = Service(problem(429, "too many", **{"Retry-After": "0"}), told())
    assert busy.client().predict("demand").id == "a"
    full = Service(problem(429, "too many"), told())
    with pytest.raises(ServiceError, match="too many"):
        full.client().predict("demand")


def test_an_import_that_may_have_happened_is_not_repeated() -> None:
    service = Service(httpx.ReadTimeout("slow"))
    with pytest.raises(UnreachableError):
        service.client().import_state("demand", b"state")
    behind_a_proxy = Service(httpx.Response(504), told())
    with pytest.raises(ServiceError, match="status 504"):
        behind_a_proxy.client().import_state("demand", b"state")
    assert behind_a_proxy.client().predict("demand").id == "a"
    never_sent = Service(
        httpx.ConnectError("refused"), httpx.Response(200, json={"seq": 3, "rounds": 2})
    )
    assert never_sent.client().import_state("demand", b"state").rounds == 2


def test_pauses_double_up_to_a_limit_and_leave_half_to_chance() -> None:
    certain, lucky = Retries(chance=lambda: 0.0), Retries(chance=lambda: 1.0)
    assert [certain.pause(k) for k in range(4)] == [0.05, 0.1, 0.2, 0.4]
    assert certain.pause(1000) == 4.0
    assert lucky.pause(3) == 0.2
    assert lucky.pause(0, asked=2.0) == 2.0


def test_pauses_are_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    pauses: list[float] = []
    monkeypatch.setattr("time.sleep", pauses.append)
    service = Service(*[httpx.ConnectError("refused")] * 3, told())
    service.client(Retries(chance=lambda: 0.0)).predict("demand")
    assert pauses == [0.05, 0.1, 0.2]


@pytest.mark.parametrize("x", [[float("nan")], [float("inf")], ["1.0"], [1e200]])
def test_what_is_no_number_is_never_sent(x: list[Any]) -> None:
    service = Service()
    with pytest.raises((ValueError, TypeError), match="x must"):
        service.client().predict("demand", x)
    with pytest.raises((ValueError, TypeError), match="loss must"):
        service.client().feedback("demand", "a", x[0])
    assert service.requests == []


@pytest.mark.parametrize("shape", [(1, 2), (2, 1), (0, 2)])
def test_several_inputs_are_not_taken_for_one(shape: tuple[int, int]) -> None:
    service = Service()
    with pytest.raises(ValueError, match="x must be a number or a flat list of numbers"):
        service.client().predict("demand", np.zeros(shape))
    with pytest.raises(ValueError, match="scores must be a number or a flat list of numbers"):
        service.client().batch([Predict("demand", scores=np.zeros(shape))])
    assert service.requests == []


def test_a_config_may_hold_numbers_of_numpy() -> None:
    service = Service(httpx.Response(201, json={"stream": "demand", "config": {}}))
    service.client().create("demand", {"alpha": np.float32(0.5), "score_range": np.array([0, 1])})
    assert service.bodies() == [{"alpha": 0.5, "score_range": [0, 1]}]


@pytest.mark.parametrize(
    ("config", "words"),
    [({"alpha": {0.1}}, "numbers, text, lists and dicts"), ({"alpha": np.nan}, "finite numbers")],
)
def test_a_config_that_cannot_be_sent_is_refused(config: Any, words: str) -> None:
    with pytest.raises((TypeError, ValueError), match=words):
        Service().client().create("demand", config)


def test_a_batch_of_something_else_is_refused() -> None:
    with pytest.raises(TypeError, match="operations must be Predict or Learn objects, got 1"):
        Service().client().batch([1])  # type: ignore[list-item]


@pytest.mark.parametrize("threshold", [0.1 + 0.2, -1e-320, 5e-324, 9.869604401089358e99])
def test_numbers_arrive_bit_for_bit(threshold: float) -> None:
    service = Service(told(threshold))
    x = np.array([threshold, np.pi])
    assert service.client().predict("demand", x).threshold == threshold
    assert service.bodies()[0]["x"] == x.tolist()


def test_names_cannot_leave_their_place_in_the_path() -> None:
    service = Service(problem(404, "no such stream"))
    with pytest.raises(ServiceError):
        service.client().summary("../readyz?x=1#")
    assert service.requests[0].url.raw_path == b"/v1/streams/..%2Freadyz%3Fx%3D1%23"
    with pytest.raises(ValueError, match="not empty"):
        service.client().summary("")


def test_a_set_is_asked_whether_it_holds_a_label() -> None:
    labels = {"kind": "labels", "labels": ["cat", "dog"], "size": 2}
    interval = {"kind": "interval", "lower": 1.0, "upper": 2.0, "size": 1.0}
    client = Service(told(set=labels), told(set=interval), told()).client()
    assert client.predict("pets", scores=[0.1, 0.2]).set == LabelSet(("cat", "dog"), 2)
    between = client.predict("demand", scores=[1.5]).set
    assert between == Interval(1.0, 2.0, 1.0)
    assert 1.5 in between
    assert 3.0 not in between
    assert client.predict("demand").set is None


def test_fields_of_a_newer_service_are_passed_over() -> None:
    assert Service(told(mood="fine")).client().predict("demand").id == "a"


def test_a_batch_has_an_outcome_for_each_operation() -> None:
    answer = {
        "results": [
            {"status": 200, "prediction": {"id": "a", "seq": 1, "threshold": 0.5}},
            {"status": 200, "feedback": {"seq": 2, "rounds": 1}},
            {"status": 404, "problem": {"title": "No", "status": 404, "detail": "unknown id"}},
        ]
    }
    service = Service(httpx.ReadTimeout("slow"), httpx.Response(200, json=answer))
    operations: list[Predict | Learn] = [
        Predict("demand", [1.0]),
        Learn("demand", "a", 1.0),
        Learn("demand", "b", 1.0),
    ]
    first, second, third = service.client().batch(operations)
    assert first.prediction is not None
    assert first.prediction.threshold == 0.5
    assert second.feedback is not None
    assert second.feedback.rounds == 1
    assert str(third.error) == "unknown id (status 404)"
    assert service.bodies()[0] == service.bodies()[1]  # the same ids, also in a batch


def test_a_token_goes_into_the_header_and_nowhere_else() -> None:
    service = Service(told())
    client = service.client(token="s3cret")
    client.predict("demand")
    assert service.requests[0].headers["Authorization"] == "Bearer s3cret"
    assert "s3cret" not in str(service.requests[0].url)
    assert "s3cret" not in repr(client)


@pytest.mark.parametrize("url", ["127.0.0.1:8090", None])
def test_an_address_without_a_scheme_is_refused(url: Any) -> None:
    with pytest.raises(ValueError, match="http://"):
        Client(url)


def said(seq: int) -> bytes:
    return f'id: {seq}\nevent: learned\ndata: {{"seq": {seq}}}\n\n'.encode()


def stream(*chunks: bytes, broken: bool = True, awaited: bool = False) -> httpx.Response:
    """Events that end, or break off in the middle of one."""

    def now() -> Iterator[bytes]:
        yield from chunks
        if broken:
            raise httpx.ReadError("cut")

    async def later() -> AsyncIterator[bytes]:
        for chunk in now():
            yield chunk

    return httpx.Response(200, content=later() if awaited else now())


def broken_streams(awaited: bool = False) -> Service:
    return Service(
        stream(said(1), said(2)[:-9], awaited=awaited),
        httpx.ConnectError("refused"),
        problem(503, "replaying"),
        stream(said(2) + said(3), broken=False, awaited=awaited),
        stream(said(4), broken=False, awaited=awaited),
    )


def test_events_go_on_after_a_break_without_a_gap_or_a_repeat() -> None:
    service = broken_streams()
    events = service.client().events("demand")
    assert [next(events).id for _ in range(4)] == ["1", "2", "3", "4"]
    events.close()  # type: ignore[attr-defined]
    asked = [request.headers.get("Last-Event-ID") for request in service.requests]
    assert asked == [None, "1", "1", "1", "3"]


def test_events_of_an_unknown_stream_are_refused() -> None:
    with pytest.raises(ServiceError, match="no such stream"):
        next(Service(problem(404, "no such stream")).client().events("demand"))


def test_events_end_in_an_exception_where_the_service_stays_away() -> None:
    service = Service(stream(said(1)), *[httpx.ConnectError("refused")] * 5)
    events = service.client().events("demand")
    assert next(events).data == {"seq": 1}
    with pytest.raises(UnreachableError):
        next(events)


def test_a_name_with_a_line_separator_stays_one_event() -> None:
    data = 'id: 1\nevent: learned\ndata: {"group": "a\u2028b\x85c"}\n\n'.encode()
    (event,) = (next(Service(stream(data)).client().events("demand")),)
    assert event.data == {"group": "a\u2028b\x85c"}


def test_the_client_that_is_awaited_says_and_hears_the_same() -> None:
    async def talk(service: Service) -> tuple[object, list[str]]:
        transport = httpx.MockTransport(service)
        async with AsyncClient(URL, retries=AT_ONCE, transport=transport) as client:
            prediction = await client.predict("demand", [1.0], id="a")
            ids = []
            events = client.events("demand")
            async for event in events:
                ids.append(event.id)
                if len(ids) == 4:
                    break
            await events.aclose()  # type: ignore[attr-defined]
            return prediction, ids

    service = broken_streams(awaited=True)
    service.answers = [httpx.ReadTimeout("slow"), told(0.25), *service.answers]
    prediction, ids = asyncio.run(talk(service))
    same = Service(told(0.25))
    assert prediction == same.client().predict("demand", [1.0], id="a")
    assert service.requests[0].content == service.requests[1].content == same.requests[0].content
    assert ids == ["1", "2", "3", "4"]


def test_both_clients_offer_the_same_words() -> None:
    def public(kind: type) -> set[str]:
        return {name for name in vars(kind) if not name.startswith("_")}

    assert public(Client) == public(AsyncClient)


def test_without_httpx_the_error_names_the_command_that_installs_it() -> None:
    code = (
        "import sys; sys.modules['httpx'] = None\n"
        "from localarc.client import Client\n"
        "try: Client('http://127.0.0.1:1')\n"
        "except ImportError as error: print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "the client needs httpx: pip install 'localarc[client]'\n"


def test_who_waits_for_a_start_is_patient_until_time_is_up() -> None:
    busy = Answer(503, {}, b"")
    waiting = Waiting(60.0)
    pauses = [waiting.pause_after(busy) for _ in range(30)]
    assert all(pause is not None and 0.0 < pause <= 1.0 for pause in pauses)
    assert waiting.pause_after(Answer(200, {}, b"")) is None
    assert Waiting(0.0).pause_after(busy) is None
