"""Routes: the requests that the service answers, one row each.

The service's endpoints, the clients' requests, the OpenAPI document and the tables of the
documentation are made from these rows. A row's name is that of the operation in the service and of
the method of the clients.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Generic, Literal, TypeAlias, TypeVar, get_args

from msgspec import Meta

from localarc_client.wire.config import CreateResponse, StreamConfig
from localarc_client.wire.events import AnyEvent
from localarc_client.wire.fields import MAX_FEATURES, PREDICTION_ID_PATTERN, STREAM_NAME_PATTERN
from localarc_client.wire.health import Status
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
    FeedbackRequest,
    FeedbackResponse,
    PredictRequest,
    PredictResponse,
)
from localarc_client.wire.quarantine import QuarantineList, RecoverRequest, RecoverResponse
from localarc_client.wire.status import (
    AcknowledgeResponse,
    Alive,
    History,
    ImportResponse,
    Ready,
    StreamList,
    StreamSummary,
    ThresholdMap,
)

T = TypeVar("T")
Permission: TypeAlias = Literal["read", "write", "admin"]

JSON = "application/json"
BYTES = "application/octet-stream"
EVENT_STREAM = "text/event-stream"
PROMETHEUS = "text/plain; version=0.0.4; charset=utf-8"
MAX_PAGE = 1_000
_BODY_ERRORS = 408, 413, 415, 422


@dataclass(frozen=True)
class Parameter:
    """A parameter outside the body: an integer, text, or one of several choices."""

    name: str  # of the operation's argument
    constraint: Meta
    default: int | str | None = None
    choices: tuple[str, ...] = ()
    place: Literal["path", "query", "header"] = "query"
    header: str = ""

    @property
    def external_name(self) -> str:
        """Its name in a request."""
        return self.header or self.name

    @property
    def is_text(self) -> bool:
        """Whether it must match a pattern, rather than be a number."""
        return self.constraint.pattern is not None


def _text(pattern: str, description: str) -> Meta:
    return Meta(pattern=pattern, description=description)


def _integer(least: int, most: int, description: str) -> Meta:
    return Meta(ge=least, le=most, description=description)


_IN_PATH = {
    "stream": _text(STREAM_NAME_PATTERN, "name of a stream"),
    "prediction": _text(PREDICTION_ID_PATTERN, "id of a prediction, unique in its stream"),
}


@dataclass(frozen=True)
class Route(Generic[T]):
    """One method of one path: what is sent, and what is returned.

    The response has the same type with each of the `statuses`. `errors` are those beside the ones
    that follow from the types. A request that is not `repeatable` has another effect when it is
    sent twice. The `scope` is what a token must permit; None for everyone.
    """

    name: str
    method: str
    path: str
    scope: Permission | None
    response: type[T]
    summary: str
    details: str = ""  # for readers of the documentation, in its Markdown
    body: Any = None
    query: tuple[Parameter, ...] = ()
    errors: tuple[int, ...] = ()
    statuses: tuple[int, ...] = (200,)
    media_type: str = JSON
    repeatable: bool = True

    @property
    def writes(self) -> bool:
        """Whether it may change a stream."""
        return self.method != "GET"

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        """All parameters, those of the path first."""
        named = (part[1:-1] for part in self.path.split("/") if part[:1] == "{")
        return *(Parameter(each, _IN_PATH[each], place="path") for each in named), *self.query

    @property
    def all_errors(self) -> tuple[int, ...]:
        """The statuses of all errors: those of the row, and those that follow from its types."""
        found = set(self.errors)
        if self.parameters:
            found.add(422)
        if self.body is not None:
            found |= {*_BODY_ERRORS} if self.body is bytes else {400, *_BODY_ERRORS}
        if self.scope is not None:
            found |= {401, 403, 429, 503}
        return tuple(sorted(found))


# fmt: off
_STREAM = "/v1/streams/{stream}"
_PREDICTION = _STREAM + "/predictions/{prediction}"

CREATE = Route(
    "create", "PUT", _STREAM, "write", CreateResponse,
    "Create a stream; a retry with the same config has no effect.",
    "a new stream: 201; the same config again: 200; a different one: 409",
    body=StreamConfig, errors=(409,), statuses=(200, 201),
)
CHANGE = Route(
    "change", "PATCH", _STREAM, "write", ChangeResponse,
    "Change labels, timeout, default loss or retention; a retry has no effect.",
    "`{labels?, timeout?, default_loss?, retention?}`, null to remove: "
    "[what may change](#changing-and-deleting-streams); returns `{stream, seq, config}`",
    body=ChangeRequest, errors=(404,),
)
DELETE = Route(
    "delete", "DELETE", _STREAM, "admin", DeleteResponse,
    "Delete a stream and all that is stored about it, also if it is damaged.",
    "see [deleting streams](#changing-and-deleting-streams); returns `{stream, seq}`",
    errors=(404,), repeatable=False,
)
RENAME = Route(
    "rename", "POST", f"{_STREAM}/rename", "admin", RenameResponse,
    "Give a stream another name, under which it continues; pending predictions stay.",
    "`{name}`, which no stream has, else 409; returns `{stream, seq}`",
    body=RenameRequest, errors=(404, 409), repeatable=False,
)
PREDICT = Route(
    "predict", "POST", f"{_STREAM}/predict", "write", PredictResponse,
    "Return a threshold for an input; a retry with the same id and body has no effect.",
    "`{x, id?, group?, scores?}`; returns `{id, seq, threshold, set}`",
    body=PredictRequest, errors=(404, 409),
)
FEEDBACK = Route(
    "feedback", "PUT", f"{_PREDICTION}/feedback", "write", FeedbackResponse,
    "Report the loss of a prediction, or y; a retry with the same has no effect.",
    "`{loss, score?}` or `{y}`, for a gate `{loss?, probability?}`; returns `{seq, rounds}`; "
    "unknown 404, expired 410",
    body=FeedbackRequest, errors=(404, 409, 410),
)
AUDIT = Route(
    "audit", "PUT", f"{_PREDICTION}/audit", "write", FeedbackResponse,
    "Report what became of an answer that a gate withheld; a retry has no effect.",
    "`{wrong}`; returns `{seq, rounds}`; unknown 404, not withheld 409",
    body=AuditRequest, errors=(404, 409),
)
BATCH = Route(
    "batch", "POST", "/v1/batch", "write", BatchResponse,
    "Run several operations in order, with one commit; each succeeds or fails on its own.",
    "`{operations}`; returns `{results}`, each with a status",
    body=BatchRequest,
)
STREAMS = Route(
    "streams", "GET", "/v1/streams", "read", StreamList,
    "List streams: all of them, or a page of those that match.",
    "consistent, verdict, health, warnings, risk, target, pending, late, expired, memory; "
    "`search`, `status`, `labels=team=pricing`, `sort=worst`, and pages by `limit` and `cursor`",
    query=(
        Parameter("search", _text(
            r"^[^\x00-\x1f\x7f]{0,64}$(?!\n)", "part of the name, in any case; empty for all"
        ), ""),
        Parameter("status", Meta(description="only streams with this status"),
                  choices=get_args(Status)),
        Parameter("sort", Meta(
            description="by name, or by status (broken, drifting, stale, recovered, ok) and risk"
        ), "name", ("name", "worst")),
        Parameter("limit", _integer(
            1, MAX_PAGE, "number of streams in a page; omit it for all"
        )),
        Parameter("cursor", _text(
            r"^[A-Za-z0-9._~-]{1,120}$(?!\n)",
            "`next` or `previous` of another page of the same list",
        )),
        Parameter("labels", _text(
            r"^[^\x00-\x1f\x7f]{0,1024}$(?!\n)",
            "only streams with all of these labels: key=value,key=value",
        ), ""),
    ),
)
SUMMARY = Route(
    "summary", "GET", _STREAM, "read", StreamSummary,
    "Stream summary.",
    "also config, certificate, groups with their health, and features",
    errors=(404,),
)
HISTORY = Route(
    "history", "GET", f"{_STREAM}/history", "read", History,
    "Downsampled history.",
    errors=(404,),
)
THRESHOLD_MAP = Route(
    "threshold_map", "GET", f"{_STREAM}/map", "read", ThresholdMap,
    "Current threshold as a function of one or two features.",
    query=(
        Parameter("first", _integer(
            0, MAX_FEATURES - 1, "index of the horizontal feature, from 0"
        ), 0),
        Parameter("second", _integer(
            0, MAX_FEATURES - 1,
            "index of the vertical feature; omit it for a map of one feature",
        )),
        Parameter("size", _integer(2, 64, "number of values per feature"), 32),
    ),
    errors=(404, 409),
)
EXPORT_STATE = Route(
    "export_state", "GET", f"{_STREAM}/state", "read", bytes,
    "Export the calibrator's state, in the format that `from_state` of its class reads.",
    errors=(404,), media_type=BYTES,
)
IMPORT_STATE = Route(
    "import_state", "PUT", f"{_STREAM}/state", "admin", ImportResponse,
    "Replace the calibrator by a state with the same settings; pending predictions stay.",
    "for auto and mondrian, those that it has no ticket for expire",
    body=bytes, errors=(404,), repeatable=False,
)
ACKNOWLEDGE = Route(
    "acknowledge", "POST", f"{_STREAM}/acknowledge", "write", AcknowledgeResponse,
    "Start the evidence about a stream and its groups anew; a retry has no effect.",
    "acknowledges the alarms; returns `{seq, health}`",
    errors=(404,),
)
RECOVER = Route(
    "recover", "POST", f"{_STREAM}/recovery", "admin", RecoverResponse,
    "Decide about a stream in quarantine: accept what could be read of it, or drop it.",
    "`{action}` for a stream in [quarantine](#damage): accept or drop; returns "
    "`{stream, action, seq}`",
    body=RecoverRequest, errors=(404, 409), repeatable=False,
)
QUARANTINE = Route(
    "quarantine", "GET", "/v1/quarantine", "read", QuarantineList,
    "List the streams whose stored data is damaged, sorted by name.",
    "with the reason",
)
EVENTS: Route[AnyEvent] = Route(
    "events", "GET", f"{_STREAM}/events", "read", AnyEvent,  # type: ignore[arg-type]
    "Server-sent events; resumes after `Last-Event-ID` or `after`.",
    query=(
        Parameter("after", _integer(0, 2**53, "seq of the last event received")),
        Parameter("last_event_id", _integer(0, 2**53, "seq of the last event received"),
                  place="header", header="Last-Event-ID"),
    ),
    errors=(404,), media_type=EVENT_STREAM,
)
ALIVE = Route("alive", "GET", "/livez", None, Alive, "The process is alive.")
READY = Route(
    "ready", "GET", "/readyz", None, Ready,
    "Whether the service accepts requests.",
    statuses=(200, 503),
)
METRICS = Route(
    "metrics", "GET", "/metrics", "read", str,
    "Prometheus metrics.",
    media_type=PROMETHEUS,
)
# fmt: on


ROUTES: tuple[Route[Any], ...] = tuple(
    found for found in list(globals().values()) if isinstance(found, Route)
)
"""All of these, in their order."""

OPENAPI: Route[dict[str, object]] = Route(
    "openapi",
    "GET",
    "/openapi.json",
    None,
    dict[str, object],
    "The OpenAPI document of all others.",
)
