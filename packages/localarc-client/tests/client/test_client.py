"""The client without a service: what it sends, when it repeats it, how it reads responses."""

import asyncio
import json
from collections.abc import AsyncIterator, Iterator
from typing import Any

import httpx
import numpy as np
import pytest

from localarc import validation
from localarc_client import (
    AsyncClient,
    AuditedEvent,
    AutoConfig,
    Client,
    ClientError,
    CreatedEvent,
    ExpiredEvent,
    FeedbackEvent,
    FeedbackOperation,
    ImportedEvent,
    Interval,
    KeepLastMemory,
    KernelConfig,
    LabelSet,
    LarcConfig,
    PredictedEvent,
    PredictOperation,
    ResetEvent,
    Retries,
    ServiceError,
    UnexpectedResponseError,
    UnreachableError,
    errors,
)
from localarc_client.retry import Reply, RetryState, WaitUntilReady
from localarc_client.wire import fields

URL = "http://service.test"
KINDS = {
    "created": CreatedEvent,
    "predicted": PredictedEvent,
    "feedback": FeedbackEvent,
    "audited": AuditedEvent,
    "expired": ExpiredEvent,
    "imported": ImportedEvent,
    "reset": ResetEvent,
}
NO_PAUSE = Retries(times=4, first_pause=0.0, longest_pause=0.0)


class Service:
    """Responds from a list, and records the requests."""

    def __init__(self, *responses: httpx.Response | Exception) -> None:
        self.responses = list(responses)
        self.requests: list[httpx.Request] = []

    def __call__(self, request: httpx.Request) -> httpx.Response:
        self.requests.append(request)
        response = self.responses.pop(0)
        if isinstance(response, Exception):
            raise response
        return response

    def client(self, retries: Retries = NO_PAUSE, token: str | None = None) -> Client:
        return Client(URL, token, retries=retries, transport=httpx.MockTransport(self))

    def bodies(self) -> list[Any]:
        return [json.loads(request.content) for request in self.requests]


def predicted(threshold: float = 0.5, **more: object) -> httpx.Response:
    return httpx.Response(200, json={"id": "a", "seq": 1, "threshold": threshold, **more})


def problem(status: int, detail: str, **headers: str) -> httpx.Response:
    content = {"title": "No", "status": status, "detail": detail, "type": "about:blank"}
    return httpx.Response(status, json=content, headers=headers)


def test_a_prediction_carries_an_id_of_its_own() -> None:
    service = Service(predicted(), predicted())
    client = service.client()
    client.predict("demand", [1.0])
    client.predict("demand", [1.0])
    ids = [body["id"] for body in service.bodies()]
    assert len(set(ids)) == 2
    assert all(ids)


def test_an_empty_id_is_sent_and_rejected_by_the_service() -> None:
    service = Service(problem(422, "id must match"), problem(422, "id must match"))
    asynchronous = AsyncClient(URL, transport=httpx.MockTransport(service))
    with pytest.raises(ServiceError, match="id must match"):
        service.client().predict("demand", id="")
    with pytest.raises(ServiceError, match="id must match"):
        asyncio.run(asynchronous.predict("demand", id=""))
    assert [body["id"] for body in service.bodies()] == ["", ""]


def test_a_request_without_a_response_is_repeated_with_the_same_id() -> None:
    service = Service(httpx.ReadTimeout("slow"), httpx.ReadError("cut"), predicted(0.25))
    assert service.client().predict("demand", [1.0, 2.0]).threshold == 0.25
    assert len({request.content for request in service.requests}) == 1
    assert len(service.requests) == 3


def test_requests_wait_for_a_service_that_is_starting() -> None:
    service = Service(httpx.ConnectError("refused"), problem(503, "replaying"), predicted())
    assert service.client().predict("demand").seq == 1


def test_an_unreachable_service_is_one_exception_that_names_the_request() -> None:
    service = Service(*[httpx.ConnectError("refused")] * 5)
    with pytest.raises(UnreachableError, match="POST /v1/streams/demand/predict"):
        service.client().predict("demand")
    assert service.responses == []


def test_a_rejected_request_is_one_exception_with_the_reason() -> None:
    service = Service(problem(409, "the id 'a' stands for another input."))
    with pytest.raises(ServiceError, match="another input") as caught:
        service.client().predict("demand", id="a")
    assert caught.value.status == 409
    assert caught.value.reason == "the id 'a' stands for another input."


@pytest.mark.parametrize("content", [b"", b"<html>proxy</html>", b"[]", b"\xff"])
def test_an_error_response_that_is_not_a_problem_is_reported_as_it_is(content: bytes) -> None:
    service = Service(httpx.Response(404, content=content))
    with pytest.raises(ServiceError, match="status 404"):
        service.client().summary("demand")


def test_a_limit_is_retried_only_with_a_retry_after_header() -> None:
    busy = Service(problem(429, "too many", **{"Retry-After": "0"}), predicted())
    assert busy.client().predict("demand").id == "a"
    full = Service(problem(429, "too many"), predicted())
    with pytest.raises(ServiceError, match="too many"):
        full.client().predict("demand")


@pytest.mark.parametrize(("status", "longest"), [(429, 4), (503, 10)])
def test_a_request_is_not_repeated_if_the_service_asks_for_a_long_wait(
    status: int, longest: int
) -> None:
    for asked, pauses in ((longest, True), (longest + 1, False)):
        reply = Reply(status, {"retry-after": str(asked)}, b"")
        assert (RetryState(Retries()).pause_after(reply) is not None) == pauses


def test_an_error_has_the_id_of_its_request() -> None:
    content = {"title": "No", "status": 404, "detail": "unknown", "request_id": "4f1c"}
    service = Service(httpx.Response(404, json=content), problem(404, "unknown"))
    for expected in ("4f1c", None):
        with pytest.raises(ServiceError) as raised:
            service.client().summary("demand")
        assert raised.value.request_id == expected


def test_an_import_that_may_have_happened_is_not_repeated() -> None:
    service = Service(httpx.ReadTimeout("slow"))
    with pytest.raises(UnreachableError):
        service.client().import_state("demand", b"state")
    behind_a_proxy = Service(httpx.Response(504), predicted())
    with pytest.raises(ServiceError, match="status 504"):
        behind_a_proxy.client().import_state("demand", b"state")
    assert behind_a_proxy.client().predict("demand").id == "a"
    never_sent = Service(
        httpx.ConnectError("refused"), httpx.Response(200, json={"seq": 3, "rounds": 2})
    )
    assert never_sent.client().import_state("demand", b"state").rounds == 2


def test_pauses_double_up_to_a_limit_with_up_to_half_random() -> None:
    longest, shortest = Retries(jitter=lambda: 0.0), Retries(jitter=lambda: 1.0)
    assert [longest.pause(k) for k in range(4)] == [0.05, 0.1, 0.2, 0.4]
    assert longest.pause(1000) == 4.0
    assert shortest.pause(3) == 0.2
    assert shortest.pause(0, retry_after=2.0) == 2.0


def test_the_client_sleeps_between_attempts(monkeypatch: pytest.MonkeyPatch) -> None:
    pauses: list[float] = []
    monkeypatch.setattr("time.sleep", pauses.append)
    service = Service(*[httpx.ConnectError("refused")] * 3, predicted())
    service.client(Retries(jitter=lambda: 0.0)).predict("demand")
    assert pauses == [0.05, 0.1, 0.2]


@pytest.mark.parametrize(
    "x", [[float("nan")], [float("inf")], ["1.0"], [1e200], [None], [1j], [10**400]]
)
def test_values_that_are_not_finite_numbers_are_never_sent(x: list[Any]) -> None:
    service = Service()
    with pytest.raises((ValueError, TypeError), match="x must"):
        service.client().predict("demand", x)
    for name in ("loss", "score", "outcome"):
        if x[0] is None or (name == "outcome" and isinstance(x[0], str)):
            continue  # nothing is reported, or a label
        if name == "score" and x[0] == float("inf"):
            continue  # a score may be infinite
        more = {"loss": 1.0} if name == "score" else {}
        with pytest.raises((ValueError, TypeError), match=f"{name} must"):
            service.client().feedback("demand", "a", **more, **{name: x[0]})
    assert service.requests == []


@pytest.mark.parametrize("shape", [(1, 2), (2, 1), (0, 2)])
def test_several_inputs_are_not_mistaken_for_one(shape: tuple[int, int]) -> None:
    service = Service()
    with pytest.raises(ValueError, match="x must be a number or a flat list of numbers"):
        service.client().predict("demand", np.zeros(shape))
    operation = PredictOperation(stream="demand", scores=np.zeros(shape))  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="scores must be a number or a flat list of numbers"):
        service.client().batch([operation])
    assert service.requests == []


@pytest.mark.parametrize("x", [[[1.0]], [np.zeros(2)], [(1.0, 2.0)]])
def test_a_nested_list_is_not_a_flat_one(x: Any) -> None:
    with pytest.raises(ValueError, match="x must be a number or a flat list of numbers"):
        Service().client().predict("demand", x)


@pytest.mark.parametrize("x", [np.float32(0.5), 0.5, np.array(0.5), np.array([0.5]), (0.5,)])
def test_numbers_and_arrays_of_numpy_are_sent_as_numbers(x: Any) -> None:
    service = Service(predicted(), httpx.Response(200, json={"results": []}))
    service.client().predict("demand", x)
    service.client().batch([PredictOperation(stream="demand", x=x, id="a")])
    assert service.bodies()[0]["x"] == [0.5]
    assert service.bodies()[1]["operations"][0]["x"] == [0.5]


def created() -> httpx.Response:
    return httpx.Response(
        201, json={"stream": "demand", "config": {"method": "auto", "alpha": 0.5}}
    )


def test_a_typed_config_is_sent_with_every_field() -> None:
    service = Service(created())
    config = LarcConfig(
        0.1, features=2, kernel=KernelConfig(length_scale=0.5), memory=KeepLastMemory(9)
    )
    service.client().create("demand", config)
    (body,) = service.bodies()
    assert body["alpha"] == 0.1
    kernel = {"kind": "rbf", "length_scale": 0.5, "scale": 1.0, "shape": None, "denominator": None}
    assert body["kernel"] == kernel
    assert body["memory"] == {"kind": "keep-last", "m": 9}
    assert set(body) == {"method", *LarcConfig.__struct_fields__}


def test_a_config_may_be_a_mapping_and_contain_numbers_of_numpy() -> None:
    service = Service(created())
    config = {"alpha": np.float32(0.5), "features": 1, "kernel": {"scale": 2}}
    config |= {"score_range": np.array([0, 1])}
    answer = service.client().create("demand", config)
    assert answer.config == AutoConfig(0.5)
    (body,) = service.bodies()
    assert (body["alpha"], body["score_range"], body["kernel"]["scale"]) == (0.5, [0, 1], 2.0)


@pytest.mark.parametrize(
    ("config", "words"),
    [
        ({"alpha": {0.1}}, "Expected `float`"),
        ({"alpha": object()}, "not a number, a string, a list or a dict"),
        ({"alpha": np.nan}, r"Expected `float` .* at `\$.alpha`"),
        ({"alpha": 0.1, "unit": float("nan")}, r"at `\$.unit`"),
        ({"alpha": 0.1, "clip": 1.0}, "clip applies to method larc, not to auto: omit it"),
        ({"alpha": 0.1, "kernle": {}}, "`kernle`: expected one of method, alpha, features"),
        ({"alpha": 0.1, "kernel": {"kind": "rfb"}}, "'rfb' .*: expected one of cauchy, laplace"),
        (AutoConfig("high"), r"got `str` - at `\$.alpha`"),  # type: ignore[arg-type]
        (AutoConfig(0.1, features=-1), r"at `\$.features`"),
        (AutoConfig(0.1, timeout=float("inf")), r"at `\$.timeout`"),
    ],
)
def test_an_invalid_config_is_never_sent(config: Any, words: str) -> None:
    service = Service()
    with pytest.raises(ValueError, match=words):
        service.client().create("demand", config)
    assert service.requests == []


def test_a_batch_of_something_else_is_rejected() -> None:
    with pytest.raises(TypeError, match=r"must be PredictOperation or FeedbackOperation .* got 1"):
        Service().client().batch([1])  # type: ignore[list-item]


@pytest.mark.parametrize("threshold", [0.1 + 0.2, -1e-320, 5e-324, 9.869604401089358e99])
def test_numbers_arrive_bit_for_bit(threshold: float) -> None:
    service = Service(predicted(threshold))
    x = np.array([threshold, np.pi])
    assert service.client().predict("demand", x).threshold == threshold
    assert service.bodies()[0]["x"] == x.tolist()


def test_a_name_is_one_segment_of_the_path() -> None:
    service = Service(problem(404, "no such stream"))
    with pytest.raises(ServiceError):
        service.client().summary("../readyz?x=1#")
    assert service.requests[0].url.raw_path == b"/v1/streams/..%2Freadyz%3Fx%3D1%23"
    with pytest.raises(ValueError, match="not empty"):
        service.client().summary("")


def test_a_prediction_set_contains_its_labels_or_values() -> None:
    labels = {"kind": "labels", "labels": ["cat", "dog"], "size": 2}
    interval = {"kind": "interval", "lower": 1.0, "upper": 2.0, "size": 1.0}
    client = Service(predicted(set=labels), predicted(set=interval), predicted()).client()
    assert client.predict("pets", scores=[0.1, 0.2]).set == LabelSet(("cat", "dog"), 2)
    between = client.predict("demand", scores=[1.5]).set
    assert between == Interval(1.0, 2.0, 1.0)
    assert 1.5 in between
    assert 3.0 not in between
    assert client.predict("demand").set is None


def test_unknown_fields_of_a_newer_service_are_ignored() -> None:
    assert Service(predicted(mood="fine")).client().predict("demand").id == "a"


def test_unknown_fields_in_the_config_of_a_newer_service_are_ignored() -> None:
    config = {
        "method": "larc",
        "alpha": 0.1,
        "features": 1,
        "mood": "fine",
        "kernel": {"scale": 2.0, "colour": {"red": 1}},
        "memory": {"kind": "keep-last", "m": 5, "archive": [{}]},
    }
    newer = httpx.Response(201, json={"stream": "demand", "config": config})
    answer = Service(newer).client().create("demand", AutoConfig(0.1))
    kernel, memory = KernelConfig(scale=2.0), KeepLastMemory(5)
    assert answer.config == LarcConfig(0.1, features=1, kernel=kernel, memory=memory)


@pytest.mark.parametrize("content", [b"", b"<html>proxy</html>", b"[]", b"\xff", b'{"id": 1}'])
def test_a_response_that_cannot_be_read_is_one_exception(content: bytes) -> None:
    service = Service(httpx.Response(200, content=content))
    with pytest.raises(UnexpectedResponseError, match="cannot read the response"):
        service.client().predict("demand")


def test_a_batch_has_one_result_per_operation() -> None:
    answer = {
        "results": [
            {"status": 200, "prediction": {"id": "a", "seq": 1, "threshold": 0.5}},
            {"status": 200, "feedback": {"seq": 2, "rounds": 1}},
            {"status": 404, "problem": {"title": "No", "status": 404, "detail": "unknown id"}},
        ]
    }
    service = Service(httpx.ReadTimeout("slow"), httpx.Response(200, json=answer))
    operations: list[PredictOperation | FeedbackOperation] = [
        PredictOperation(stream="demand", x=[1.0]),
        FeedbackOperation("demand", "a", 1.0),
        FeedbackOperation("demand", "b", 1.0),
    ]
    first, second, third = service.client().batch(operations)
    assert first.prediction is not None
    assert first.prediction.threshold == 0.5
    assert second.feedback is not None
    assert second.feedback.rounds == 1
    assert third.problem is not None
    assert str(errors.error_from_problem(third.problem)) == "unknown id (status 404)"
    assert service.bodies()[0] == service.bodies()[1]  # the same ids, also in a batch


def test_a_batch_that_is_sent_again_repeats_the_same_requests() -> None:
    service = Service(*[httpx.Response(200, json={"results": []})] * 2)
    operations = [PredictOperation(stream="demand", x=[1.0]) for _ in range(2)]
    service.client().batch(operations)
    service.client().batch(operations)
    first, again = service.bodies()
    assert first == again
    assert len({operation["id"] for operation in first["operations"]}) == 2


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (400, errors.BadRequestError),
        (401, errors.UnauthorizedError),
        (403, errors.ForbiddenError),
        (404, errors.NotFoundError),
        (405, errors.ServiceError),
        (408, errors.RequestTimeoutError),
        (409, errors.ConflictError),
        (410, errors.GoneError),
        (413, errors.TooLargeError),
        (415, errors.UnsupportedMediaTypeError),
        (422, errors.InvalidRequestError),
        (429, errors.LimitExceededError),
        (500, errors.InternalServerError),
        (502, errors.UnavailableError),
        (503, errors.UnavailableError),
        (504, errors.UnavailableError),
    ],
)
def test_each_kind_of_rejection_has_an_exception_class(status: int, kind: type) -> None:
    once = Retries(times=0)
    with pytest.raises(ClientError) as caught:
        Service(problem(status, "the reason.")).client(once).summary("demand")
    assert type(caught.value) is kind
    assert isinstance(caught.value, ServiceError)
    assert (caught.value.status, caught.value.reason) == (status, "the reason.")


def test_a_token_is_sent_in_the_header_only() -> None:
    service = Service(predicted())
    client = service.client(token="s3cret")
    client.predict("demand")
    assert service.requests[0].headers["Authorization"] == "Bearer s3cret"
    assert "s3cret" not in str(service.requests[0].url)
    assert "s3cret" not in repr(client)


@pytest.mark.parametrize("url", ["127.0.0.1:8090", None])
def test_a_url_without_a_scheme_is_rejected(url: Any) -> None:
    with pytest.raises(ValueError, match="http://"):
        Client(url)


COUNTS = {"at": 1.0, "rounds": 1, "risk": 0.5, "pending": 0, "late": 0, "expired": 0}


def frame(seq: int, kind: str = "feedback", **more: object) -> bytes:
    about = {"id": "a", "loss": 1.0, "threshold": 0.5}
    data = json.dumps({"kind": kind, "seq": seq, **COUNTS, **about, **more}, ensure_ascii=False)
    return f"id: {seq}\nevent: {kind}\ndata: {data}\n\n".encode()


def stream(*chunks: bytes, broken: bool = True, asynchronous: bool = False) -> httpx.Response:
    """Events that end, or break off."""

    def now() -> Iterator[bytes]:
        yield from chunks
        if broken:
            raise httpx.ReadError("cut")

    async def later() -> AsyncIterator[bytes]:
        for chunk in now():
            yield chunk

    return httpx.Response(200, content=later() if asynchronous else now())


def broken_streams(asynchronous: bool = False) -> Service:
    return Service(
        stream(frame(1), frame(2)[:-9], asynchronous=asynchronous),
        httpx.ConnectError("refused"),
        problem(503, "replaying"),
        stream(frame(2) + frame(3), broken=False, asynchronous=asynchronous),
        stream(frame(4), broken=False, asynchronous=asynchronous),
    )


def test_events_resume_after_a_lost_connection_without_a_gap_or_a_repeat() -> None:
    service = broken_streams()
    events = service.client().events("demand")
    assert [next(events).seq for _ in range(4)] == [1, 2, 3, 4]
    events.close()
    asked = [request.headers.get("Last-Event-ID") for request in service.requests]
    assert asked == [None, "1", "1", "1", "3"]


def test_events_of_an_unknown_stream_raise() -> None:
    with pytest.raises(ServiceError, match="no such stream"):
        next(Service(problem(404, "no such stream")).client().events("demand"))


def test_events_raise_when_the_service_stays_unreachable() -> None:
    service = Service(stream(frame(1)), *[httpx.ConnectError("refused")] * 5)
    events = service.client().events("demand")
    assert next(events).seq == 1
    with pytest.raises(UnreachableError):
        next(events)


def test_a_group_with_a_line_separator_stays_one_event() -> None:
    event = next(Service(stream(frame(1, group="a\u2028b\x85c"))).client().events("demand"))
    assert isinstance(event, FeedbackEvent)
    assert event.group == "a\u2028b\x85c"


def test_events_are_typed() -> None:
    chunks = [frame(seq, kind) for seq, kind in enumerate(KINDS)]
    events = Service(stream(*chunks)).client().events("demand")
    seen = [next(events) for _ in chunks]
    assert [event.kind for event in seen] == list(KINDS)
    assert [type(event) for event in seen] == list(KINDS.values())


def test_events_of_a_newer_service_are_skipped_and_not_requested_again() -> None:
    service = Service(
        stream(frame(1), frame(2, "praised"), frame(3, mood="fine"), frame(4, "praised")),
        stream(frame(5)),
    )
    events = service.client().events("demand")
    assert [next(events).seq for _ in range(3)] == [1, 3, 5]
    assert service.requests[1].headers["Last-Event-ID"] == "4"


def test_an_event_that_cannot_be_read_is_one_exception() -> None:
    broken = b"id: 1\nevent: feedback\ndata: {}\n\n"
    with pytest.raises(UnexpectedResponseError, match="cannot read event 1"):
        next(Service(stream(broken)).client().events("demand"))


def test_a_subscription_starts_after_an_event() -> None:
    service = Service(stream(frame(8)))
    assert next(service.client().events("demand", after=7)).seq == 8
    assert service.requests[0].headers["Last-Event-ID"] == "7"


def test_the_asynchronous_client_sends_and_receives_the_same() -> None:
    async def talk(service: Service) -> tuple[object, list[int]]:
        transport = httpx.MockTransport(service)
        async with AsyncClient(URL, retries=NO_PAUSE, transport=transport) as client:
            prediction = await client.predict("demand", [1.0], id="a")
            ids = []
            events = client.events("demand")
            async for event in events:
                ids.append(event.seq)
                if len(ids) == 4:
                    break
            await events.aclose()
            return prediction, ids

    service = broken_streams(asynchronous=True)
    service.responses = [httpx.ReadTimeout("slow"), predicted(0.25), *service.responses]
    prediction, ids = asyncio.run(talk(service))
    same = Service(predicted(0.25))
    assert prediction == same.client().predict("demand", [1.0], id="a")
    assert service.requests[0].content == service.requests[1].content == same.requests[0].content
    assert ids == [1, 2, 3, 4]


def test_both_clients_have_the_same_methods() -> None:
    def public(kind: type) -> set[str]:
        return {name for name in vars(kind) if not name.startswith("_")}

    assert public(Client) == public(AsyncClient)


def test_waiting_for_a_start_continues_until_time_is_up() -> None:
    busy = Reply(503, {}, b"")
    waiting = WaitUntilReady(60.0)
    pauses = [waiting.pause_after(busy) for _ in range(30)]
    assert all(pause is not None and 0.0 < pause <= 1.0 for pause in pauses)
    assert waiting.pause_after(Reply(200, {}, b"")) is None
    assert WaitUntilReady(0.0).pause_after(busy) is None


READY = {"ready": True, "detail": "ready.", "streams": 1, "read_only": 0}
NOT_READY = READY | {"ready": False, "detail": "replaying."}


def test_a_service_that_is_not_ready_is_a_result_of_a_single_attempt() -> None:
    service = Service(httpx.Response(503, json=NOT_READY))
    status = service.client().ready()
    assert (status.ready, status.detail) == (False, "replaying.")
    assert len(service.requests) == 1


def test_a_proxy_without_a_service_is_an_error_of_a_single_attempt() -> None:
    service = Service(httpx.Response(503, content=b"<html>"), httpx.ConnectError("refused"))
    with pytest.raises(errors.UnavailableError):
        service.client().ready()
    with pytest.raises(UnreachableError):
        service.client().alive()
    assert len(service.requests) == 2


def test_waiting_for_a_start_returns_the_status_or_raises() -> None:
    service = Service(
        httpx.ConnectError("refused"),
        httpx.Response(503, json=NOT_READY),
        httpx.Response(200, json=READY),
        httpx.Response(503, json=NOT_READY),
    )
    assert service.client().wait_until_ready().streams == 1
    with pytest.raises(errors.UnavailableError, match="replaying"):
        service.client().wait_until_ready(timeout=0.0)


def test_a_map_is_requested_with_its_features() -> None:
    body = {"stream": "s", "seq": 2, "rounds": 1, "first": 1, "second": 0, "first_values": [0.0]}
    body |= {"second_values": [1.0], "others": [0.5, 0.5], "thresholds": [[0.4]]}
    service = Service(*[httpx.Response(200, json=body)] * 2)
    assert service.client().threshold_map("s", 1, 0, size=8).thresholds == [[0.4]]
    service.client().threshold_map("s")
    queries = [dict(request.url.params) for request in service.requests]
    assert queries[0] == {"first": "1", "second": "0", "size": "8"}
    assert queries[1] == {"first": "0", "size": "32"}


def test_the_wire_has_the_limit_of_the_library() -> None:
    assert fields.LARGEST == validation.LARGEST
