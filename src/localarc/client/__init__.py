"""The client: what a program says to the service, and what it hears.

`Client` waits for its answers, those of `AsyncClient` are awaited; both say the same. A request
that gets no answer is sent again with the same id, and the service acts on it once.
"""

from localarc.client.async_client import AsyncClient
from localarc.client.client import Client
from localarc.client.errors import ServiceError, UnreachableError
from localarc.client.operations import Learn, Predict
from localarc.client.results import (
    Feedback,
    History,
    Imported,
    Interval,
    LabelSet,
    Line,
    Outcome,
    Prediction,
    Stream,
    Summary,
)
from localarc.client.retry import Retries
from localarc.client.sse import Event

__all__ = [
    "AsyncClient",
    "Client",
    "Event",
    "Feedback",
    "History",
    "Imported",
    "Interval",
    "LabelSet",
    "Learn",
    "Line",
    "Outcome",
    "Predict",
    "Prediction",
    "Retries",
    "ServiceError",
    "Stream",
    "Summary",
    "UnreachableError",
]
