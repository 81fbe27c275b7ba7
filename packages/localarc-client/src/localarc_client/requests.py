"""Requests: what each method sends and how its response is read, for both clients."""

from __future__ import annotations

import functools
import json
import math
import re
import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any, Generic, SupportsFloat, TypeAlias, TypeVar
from urllib.parse import quote, urlencode

import msgspec

from localarc_client.errors import UnexpectedResponseError, UnreachableError, error_from_response
from localarc_client.retry import Attempt, NoReply
from localarc_client.wire.config import VALID_NAMES, CreateResponse, StreamConfig
from localarc_client.wire.fields import LARGEST, Outcome, Score
from localarc_client.wire.lifecycle import (
    ChangeRequest,
    ChangeResponse,
    DeleteResponse,
    RenameRequest,
    RenameResponse,
)
from localarc_client.wire.predictions import (
    AuditRequest,
    BatchRequest,
    BatchResponse,
    BatchResult,
    FeedbackOperation,
    FeedbackRequest,
    FeedbackResponse,
    Operation,
    PredictOperation,
    PredictRequest,
    PredictResponse,
)
from localarc_client.wire.quarantine import QuarantinedStream, QuarantineList, RecoverResponse
from localarc_client.wire.status import (
    AcknowledgeResponse,
    Alive,
    History,
    ImportResponse,
    Ready,
    StreamList,
    StreamListItem,
    StreamSummary,
    ThresholdMap,
)

T = TypeVar("T")

Numbers: TypeAlias = SupportsFloat | Iterable[SupportsFloat]
"""A number, or a flat sequence of numbers such as a list, a NumPy array or a pandas Series."""

_JSON = {"Content-Type": "application/json"}
_BYTES = {"Content-Type": "application/octet-stream"}
_encode = msgspec.json.Encoder().encode


@dataclass(frozen=True)
class Call(Generic[T]):
    """One request; `repeatable` means that sending it twice has the same effect as once."""

    method: str
    path: str
    read: Callable[[bytes], T]
    content: bytes | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    repeatable: bool = True
    also_read: tuple[int, ...] = ()  # error statuses whose body is read like a success

    def arguments(self) -> dict[str, Any]:
        """Return the arguments of httpx's `request` and `stream`."""
        return {
            "method": self.method,
            "url": self.path,
            "content": self.content,
            "headers": self.headers,
        }

    def result(self, attempt: Attempt) -> T:
        """Return the content of the response, or raise the exception for it."""
        if isinstance(attempt, NoReply):
            raise UnreachableError(
                f"no response to {self.method} {self.path}: {attempt.error!r}. Check the URL and "
                "that the service is running, then repeat the call with the same id."
            ) from attempt.error
        if 200 <= attempt.status < 300:
            return self.read(attempt.content)
        if attempt.status in self.also_read:
            try:
                return self.read(attempt.content)
            except UnexpectedResponseError:
                pass  # the response of a proxy
        raise error_from_response(attempt.status, attempt.content)


def http_options(url: str, token: str | None, timeout: float) -> dict[str, Any]:
    """Return the options of httpx's clients."""
    if not isinstance(url, str) or not url.startswith(("http://", "https://")):
        raise ValueError(
            f"url must start with http:// or https://, got {url!r}. Use the one that "
            "`localarc serve` prints, e.g. http://127.0.0.1:8090."
        )
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    # Proxies from the environment are ignored: the token is for the service alone.
    return {"base_url": url, "headers": headers, "timeout": timeout, "trust_env": False}


# ---- one function per endpoint ---------------------------------------------------------------


def create(stream: str, config: StreamConfig | Mapping[str, object]) -> Call[CreateResponse]:
    """Create a stream."""
    body = _encode(_checked_config(config))
    return Call("PUT", _path(stream), _reader(CreateResponse), body, _JSON)


def predict(
    stream: str,
    x: Numbers,
    key: str | None,
    group: str | Sequence[str] | None,
    scores: Numbers | None,
    confidence: SupportsFloat | None,
) -> Call[PredictResponse]:
    """Request a threshold; with an id of its own the request can be repeated."""
    request = PredictRequest(
        _numbers("x", x),
        _new_id() if key is None else key,
        group if group is None or isinstance(group, str) else list(group),
        None if scores is None else _numbers("scores", scores),
        None if confidence is None else _number("confidence", confidence),
    )
    path = _path(stream, "predict")
    return Call("POST", path, _reader(PredictResponse), _encode(request), _JSON)


def feedback(
    stream: str,
    key: str,
    loss: SupportsFloat | None,
    score: SupportsFloat | str | None,
    outcome: SupportsFloat | str | None,
    y: SupportsFloat | str | None,
    probability: SupportsFloat | None = None,
) -> Call[FeedbackResponse]:
    """Report a loss, or what came true."""
    path = _path(stream, "predictions", key, "feedback")
    stated = None if probability is None else _number("probability", probability)
    request = FeedbackRequest(*_report(loss, score, outcome, y), stated)
    return Call("PUT", path, _reader(FeedbackResponse), _encode(request), _JSON)


def audit(stream: str, key: str, wrong: bool) -> Call[FeedbackResponse]:
    """Report what became of an answer that was withheld."""
    if not isinstance(wrong, bool):
        raise TypeError(f"wrong must be True or False, got {wrong!r}.")
    path = _path(stream, "predictions", key, "audit")
    return Call("PUT", path, _reader(FeedbackResponse), _encode(AuditRequest(wrong)), _JSON)


def batch(operations: Sequence[Operation]) -> Call[list[BatchResult]]:
    """Send operations together."""
    request = BatchRequest([_checked_operation(operation) for operation in operations])
    read = _reader(BatchResponse)
    return Call("POST", "/v1/batch", lambda body: read(body).results, _encode(request), _JSON)


def change(stream: str, **changes: object) -> Call[ChangeResponse]:
    """Change what may change of a config."""
    sent = {name: value for name, value in changes.items() if value is not msgspec.UNSET}
    try:
        request = msgspec.convert(msgspec.to_builtins(sent, enc_hook=_to_builtin), ChangeRequest)
    except (msgspec.MsgspecError, NotImplementedError) as error:
        raise ValueError(f"invalid change: {error}.") from error
    return Call("PATCH", _path(stream), _reader(ChangeResponse), _encode(request), _JSON)


def rename(stream: str, name: str) -> Call[RenameResponse]:
    """Rename a stream; not repeatable, since the old name is gone."""
    path, body = _path(stream, "rename"), _encode(RenameRequest(name))
    return Call("POST", path, _reader(RenameResponse), body, _JSON, repeatable=False)


def delete(stream: str) -> Call[DeleteResponse]:
    """Delete a stream; not repeatable, since another may be created with its name."""
    return Call("DELETE", _path(stream), _reader(DeleteResponse), repeatable=False)


def streams(
    search: str, status: str | None, sort: str, labels: Mapping[str, str] | None
) -> Call[list[StreamListItem]]:
    """List the streams."""
    page = stream_list(search, status, sort, None, None, labels)
    return Call("GET", page.path, lambda body: page.read(body).streams)


def stream_list(
    search: str,
    status: str | None,
    sort: str,
    limit: int | None,
    cursor: str | None,
    labels: Mapping[str, str] | None,
) -> Call[StreamList]:
    """List streams, a page at a time."""
    pairs = ",".join(f"{key}={value}" for key, value in (labels or {}).items())
    asked = {"search": search, "status": status, "sort": sort, "limit": limit, "cursor": cursor}
    asked["labels"] = pairs
    query = urlencode({name: value for name, value in asked.items() if value not in (None, "")})
    return Call("GET", f"/v1/streams?{query}", _reader(StreamList))


def summary(stream: str) -> Call[StreamSummary]:
    """Read the status of a stream."""
    return Call("GET", _path(stream), _reader(StreamSummary))


def history(stream: str) -> Call[History]:
    """Read the history of a stream."""
    return Call("GET", _path(stream, "history"), _reader(History))


def threshold_map(stream: str, first: int, second: int | None, size: int) -> Call[ThresholdMap]:
    """Read the threshold as a function of one or two features."""
    query = f"first={first:d}&size={size:d}" + ("" if second is None else f"&second={second:d}")
    return Call("GET", f"{_path(stream, 'map')}?{query}", _reader(ThresholdMap))


def export_state(stream: str) -> Call[bytes]:
    """Read the state of a calibrator."""
    return Call("GET", _path(stream, "state"), lambda body: body)


def import_state(stream: str, state: bytes) -> Call[ImportResponse]:
    """Replace the state; not repeatable, since losses may have arrived in between."""
    path = _path(stream, "state")
    return Call("PUT", path, _reader(ImportResponse), state, _BYTES, repeatable=False)


def acknowledge(stream: str) -> Call[AcknowledgeResponse]:
    """Acknowledge the alarms of a stream."""
    return Call("POST", _path(stream, "acknowledge"), _reader(AcknowledgeResponse))


def quarantine() -> Call[list[QuarantinedStream]]:
    """List the streams whose stored data is damaged."""
    read = _reader(QuarantineList)
    return Call("GET", "/v1/quarantine", lambda body: read(body).streams)


def recover(stream: str, action: str) -> Call[RecoverResponse]:
    """Decide about a stream in quarantine; not repeatable, since a dropped stream is gone."""
    if action not in ("accept", "drop"):
        raise ValueError(f"action must be 'accept' or 'drop', got {action!r}.")
    path, body = _path(stream, "recovery"), _encode({"action": action})
    return Call("POST", path, _reader(RecoverResponse), body, _JSON, repeatable=False)


def events(stream: str, last_id: str) -> Call[None]:
    """Subscribe to the events of a stream, from now on or after the event `last_id`."""
    headers = {"Accept": "text/event-stream"} | ({"Last-Event-ID": last_id} if last_id else {})
    return Call("GET", _path(stream, "events"), lambda body: None, headers=headers)


def alive() -> Call[Alive]:
    """Ask whether the process is alive."""
    return Call("GET", "/livez", _reader(Alive))


def ready() -> Call[Ready]:
    """Ask whether the service accepts requests; 503 is an answer, too."""
    return Call("GET", "/readyz", _reader(Ready), also_read=(503,))


def wait_until_ready() -> Call[Ready]:
    """Ask whether the service accepts requests; 503 is an error."""
    return Call("GET", "/readyz", _reader(Ready))


def metrics() -> Call[str]:
    """Read the metrics."""
    return Call("GET", "/metrics", lambda body: body.decode())


def openapi() -> Call[dict[str, object]]:
    """Read the OpenAPI document."""
    return Call("GET", "/openapi.json", _reader(dict[str, object]))


def _path(stream: str, *rest: str) -> str:
    for part in (stream, *rest):
        if not isinstance(part, str) or not part:
            raise ValueError(
                f"a stream name or prediction id must be a string that is not empty, got {part!r}. "
                "Use letters, digits, '.', '_' and '-'."
            )
    return "/".join(["/v1/streams", *(quote(part, safe="") for part in (stream, *rest))])


def _new_id() -> str:
    return uuid.uuid4().hex


# ---- what is sent ----------------------------------------------------------------------------


def _checked_config(config: StreamConfig | Mapping[str, object]) -> StreamConfig:
    """Return the config with its types and ranges checked; constructors do not check them."""
    try:
        plain = msgspec.to_builtins(config, enc_hook=_to_builtin)
        return msgspec.convert(plain, StreamConfig)
    except (msgspec.MsgspecError, NotImplementedError) as error:
        raise ValueError(f"invalid config: {error}{_valid_names(str(error))}.") from error


def _to_builtin(value: object) -> object:
    """Convert the numbers and arrays of NumPy and its kind."""
    if hasattr(value, "tolist"):
        return value.tolist()
    raise NotImplementedError(f"{value!r} is not a number, a string, a list or a dict")


def _valid_names(error: str) -> str:
    """List the names that would be valid where an error found another one."""
    if not error.startswith(("Invalid", "Object contains unknown field")):
        return ""
    place = re.search(r" - at `(\$[^`]*)`$", error)
    names = VALID_NAMES.get(place[1] if place else "$", ())
    return f": expected one of {', '.join(names)}" if names else ""


def _checked_operation(operation: Operation) -> Operation:
    """Return the operation with plain numbers, and fix its id, so that it can be repeated."""
    if isinstance(operation, FeedbackOperation):
        sent = operation.loss, operation.score, operation.outcome, operation.y
        loss, score, outcome, y = _report(*sent)
        stated = (
            None if operation.probability is None else _number("probability", operation.probability)
        )
        return msgspec.structs.replace(
            operation, loss=loss, score=score, outcome=outcome, y=y, probability=stated
        )
    if not isinstance(operation, PredictOperation):
        raise TypeError(
            f"operations must be PredictOperation or FeedbackOperation objects, got {operation!r}."
        )
    if operation.id is None:
        operation.id = _new_id()
    scores = None if operation.scores is None else _numbers("scores", operation.scores)
    return msgspec.structs.replace(operation, x=_numbers("x", operation.x), scores=scores)


def _numbers(name: str, values: Numbers) -> list[float]:
    """Return the numbers of one input; several inputs must not be mistaken for a longer one."""
    array: Any = values
    if getattr(array, "ndim", 1) > 1:
        raise _not_flat(name, f"shape {array.shape}")
    plain = array.tolist() if hasattr(array, "tolist") else array
    if not isinstance(plain, Iterable) or isinstance(plain, str | bytes | Mapping):
        return [_number(name, plain)]
    return [_number(name, value) for value in plain]


def _number(name: str, value: Any) -> float:
    if isinstance(value, list | tuple) or getattr(value, "ndim", 0) > 0:
        raise _not_flat(name, f"{value!r} in it")
    try:
        if isinstance(value, str | bytes):
            raise TypeError("text")
        number = float(value)
    except (TypeError, ValueError, OverflowError) as error:
        raise TypeError(f"{name} must be made of numbers, got {value!r}.") from error
    if not abs(number) <= LARGEST:
        raise ValueError(
            f"{name} must be finite, at most {LARGEST:g} in absolute value, got {number}."
        )
    return number


def _report(
    loss: SupportsFloat | None, score: Any, outcome: Any, y: Any
) -> tuple[float | None, Score | None, Outcome | None, Outcome | None]:
    """Return what is reported of a prediction, as it is sent."""
    return (
        None if loss is None else _number("loss", loss),
        None if score is None else _score(score),
        outcome if outcome is None or isinstance(outcome, str) else _number("outcome", outcome),
        y if y is None or isinstance(y, str) else _number("y", y),
    )


def _score(value: Any) -> Score:
    """Return a score; infinity is sent as text."""
    if value in ("inf", "-inf") or (not isinstance(value, str | bytes) and _is_infinite(value)):
        return "inf" if float(value) > 0 else "-inf"
    return _number("score", value)


def _is_infinite(value: Any) -> bool:
    try:
        return math.isinf(value)
    except (TypeError, ValueError, OverflowError):
        return False


def _not_flat(name: str, got: str) -> ValueError:
    return ValueError(
        f"{name} must be a number or a flat list of numbers, got {got}: predict one input at a "
        "time, or several in a batch."
    )


# ---- what is received ------------------------------------------------------------------------


@functools.cache
def _reader(kind: Any) -> Callable[[bytes], Any]:
    """Return a function that decodes one type of response."""
    decode = msgspec.json.Decoder(kind).decode

    def read(body: bytes) -> Any:
        try:
            return decode(body)
        except msgspec.ValidationError:
            return _read_known_fields(kind, body)
        except (msgspec.MsgspecError, ValueError, RecursionError) as error:
            raise _unexpected(error) from error

    return read


def _read_known_fields(kind: Any, body: bytes) -> Any:
    """Decode without regard to unknown fields, which configs, as requests, would reject."""
    try:
        objects = json.loads(body, object_hook=lambda fields: SimpleNamespace(**fields))
        return msgspec.convert(objects, kind, from_attributes=True)
    except (msgspec.MsgspecError, ValueError, RecursionError) as error:
        raise _unexpected(error) from error


def _unexpected(error: Exception) -> UnexpectedResponseError:
    return UnexpectedResponseError(
        f"cannot read the response: {error}. Check that the URL is that of a localarc service, "
        "and that the client is not older than the service."
    )
