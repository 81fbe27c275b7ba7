"""The endpoints of the service: all that can be asked of it."""

from __future__ import annotations

from localarc.service.api import handlers
from localarc.service.api.auth import Scope
from localarc.service.api.bodies import BYTES
from localarc.service.api.endpoint import Endpoint
from localarc.service.api.handlers import EVENTS, METRICS
from localarc.wire import config, events, predictions, status

_STREAM = "/v1/streams/{stream}"
_FEEDBACK = _STREAM + "/predictions/{id}/feedback"
_BODY = 400, 408, 413, 415, 422
READ, WRITE, ADMIN = Scope.READ, Scope.WRITE, Scope.ADMIN

ENDPOINTS = (
    Endpoint(
        "PUT", _STREAM, handlers.create, "Create a stream; the same config again has no effect.",
        WRITE, config.StreamConfig,
        {200: config.CreateResponse, 201: config.CreateResponse},
        refusals=(*_BODY, 409, 429),
    ),
    Endpoint(
        "POST", f"{_STREAM}/predict", handlers.predict,
        "A threshold for an input; the same id and body again get the same answer.",
        WRITE, predictions.PredictRequest, {200: predictions.PredictResponse},
        refusals=(*_BODY, 404, 409, 429),
    ),
    Endpoint(
        "PUT", _FEEDBACK, handlers.feedback,
        "The loss of a prediction; the same loss again gets the same answer.",
        WRITE, predictions.FeedbackRequest, {200: predictions.FeedbackResponse},
        refusals=(*_BODY, 404, 409, 410),
    ),
    Endpoint(
        "POST", "/v1/batch", handlers.batch, "Many operations, one commit, a status each.",
        WRITE, predictions.BatchRequest, {200: predictions.BatchResponse}, refusals=_BODY,
    ),
    Endpoint(
        "GET", "/v1/streams", handlers.streams, "All streams.", READ,
        answers={200: status.StreamList},
    ),
    Endpoint(
        "GET", _STREAM, handlers.summary, "How a stream stands.", READ,
        answers={200: status.StreamSummary}, refusals=(404, 422),
    ),
    Endpoint(
        "GET", f"{_STREAM}/history", handlers.history, "The run so far, thinned out.", READ,
        answers={200: status.History}, refusals=(404, 422),
    ),
    Endpoint(
        "GET", f"{_STREAM}/map", handlers.threshold_map,
        "The present threshold over two features.", READ,
        answers={200: status.ThresholdMap}, refusals=(404, 409, 422),
        queries=(handlers.FIRST, handlers.SECOND, handlers.SIZE),
    ),
    Endpoint(
        "GET", f"{_STREAM}/state", handlers.export_state, "The calibrator's state.", READ,
        answers={200: bytes}, answer_type=BYTES, refusals=(404, 422),
    ),
    Endpoint(
        "PUT", f"{_STREAM}/state", handlers.import_state,
        "Replace the calibrator by a state with the same settings.", ADMIN, bytes,
        {200: status.ImportResponse}, refusals=(404, 408, 413, 415, 422),
    ),
    Endpoint(
        "GET", f"{_STREAM}/events", handlers.events,
        "What happens, as server-sent events; goes on after Last-Event-ID.", READ,
        answers={200: events.AnyEvent}, answer_type=EVENTS, refusals=(404, 422, 429),
        queries=(handlers.AFTER,),
    ),
    Endpoint("GET", "/livez", handlers.alive, "The process answers.",
             answers={200: status.Alive}),
    Endpoint("GET", "/readyz", handlers.ready, "Requests are taken.",
             answers={200: status.Ready, 503: status.Ready}),
    Endpoint("GET", "/metrics", handlers.metrics, "Figures for Prometheus.", READ,
             answers={200: str}, answer_type=METRICS),
)  # fmt: skip
