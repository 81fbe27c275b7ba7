"""The endpoints of the service: all that can be asked of it."""

from __future__ import annotations

from localarc.service import handlers, messages, notices, standing, stream_config
from localarc.service.bodies import BYTES
from localarc.service.endpoint import Endpoint
from localarc.service.handlers import EVENTS, METRICS
from localarc.service.tokens import Scope

_STREAM = "/v1/streams/{stream}"
_FEEDBACK = _STREAM + "/predictions/{id}/feedback"
_BODY = 400, 408, 413, 415, 422
READ, WRITE, ADMIN = Scope.READ, Scope.WRITE, Scope.ADMIN

ENDPOINTS = (
    Endpoint(
        "PUT", _STREAM, handlers.create, "Create a stream; the same config again has no effect.",
        WRITE, stream_config.StreamConfig,
        {200: stream_config.StreamCreated, 201: stream_config.StreamCreated},
        refusals=(*_BODY, 409, 429),
    ),
    Endpoint(
        "POST", f"{_STREAM}/predict", handlers.predict,
        "A threshold for an input; the same id and body again get the same answer.",
        WRITE, messages.PredictRequest, {200: messages.PredictResponse},
        refusals=(*_BODY, 404, 409, 429),
    ),
    Endpoint(
        "PUT", _FEEDBACK, handlers.feedback,
        "The loss of a prediction; the same loss again gets the same answer.",
        WRITE, messages.FeedbackRequest, {200: messages.FeedbackResponse},
        refusals=(*_BODY, 404, 409, 410),
    ),
    Endpoint(
        "POST", "/v1/batch", handlers.batch, "Many operations, one commit, a status each.",
        WRITE, messages.BatchRequest, {200: messages.BatchResponse}, refusals=_BODY,
    ),
    Endpoint(
        "GET", "/v1/streams", handlers.streams, "All streams.", READ,
        answers={200: standing.StreamList},
    ),
    Endpoint(
        "GET", _STREAM, handlers.summary, "How a stream stands.", READ,
        answers={200: standing.Summary}, refusals=(404, 422),
    ),
    Endpoint(
        "GET", f"{_STREAM}/history", handlers.history, "The run so far, thinned out.", READ,
        answers={200: standing.History}, refusals=(404, 422),
    ),
    Endpoint(
        "GET", f"{_STREAM}/map", handlers.threshold_map,
        "The present threshold over two features.", READ,
        answers={200: standing.ThresholdMap}, refusals=(404, 409, 422),
        queries=(handlers.FIRST, handlers.SECOND, handlers.SIZE),
    ),
    Endpoint(
        "GET", f"{_STREAM}/state", handlers.export_state, "The calibrator's state.", READ,
        answers={200: bytes}, answer_type=BYTES, refusals=(404, 422),
    ),
    Endpoint(
        "PUT", f"{_STREAM}/state", handlers.import_state,
        "Replace the calibrator by a state with the same settings.", ADMIN, bytes,
        {200: standing.StateImported}, refusals=(404, 408, 413, 415, 422),
    ),
    Endpoint(
        "GET", f"{_STREAM}/events", handlers.events,
        "What happens, as server-sent events; goes on after Last-Event-ID.", READ,
        answers={200: notices.StreamEvent}, answer_type=EVENTS, refusals=(404, 422, 429),
        queries=(handlers.AFTER,),
    ),
    Endpoint("GET", "/livez", handlers.alive, "The process answers.",
             answers={200: standing.Alive}),
    Endpoint("GET", "/readyz", handlers.ready, "Requests are taken.",
             answers={200: standing.Ready, 503: standing.Ready}),
    Endpoint("GET", "/metrics", handlers.metrics, "Figures for Prometheus.", READ,
             answers={200: str}, answer_type=METRICS),
)  # fmt: skip
