"""Calls: what each request says and how its answer is read, the same for both clients."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar
from urllib.parse import quote

import numpy as np

from localarc.client import results
from localarc.client.errors import UnreachableError, refusal
from localarc.client.operations import Learn, Operation, Predict
from localarc.client.results import (
    Feedback,
    History,
    Imported,
    Line,
    Prediction,
    Stream,
    Summary,
    known,
)
from localarc.client.retry import Lost
from localarc.client.retry import Outcome as Heard

T = TypeVar("T")


@dataclass(frozen=True)
class Call(Generic[T]):
    """One request; `repeatable` says that sending it twice does no more than sending it once."""

    method: str
    path: str
    read: Callable[[bytes], T]
    content: bytes | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    repeatable: bool = True

    def result(self, heard: Heard) -> T:
        """What was answered, or the exception that says why not."""
        if isinstance(heard, Lost):
            raise UnreachableError(
                f"the service gave no answer to {self.method} {self.path}: {heard.error!r}. "
                "Check its address and that it runs, then repeat the call with the same id."
            ) from heard.error
        if not 200 <= heard.status < 300:
            raise refusal(heard.status, heard.content)
        return self.read(heard.content)


def create(stream: str, config: Mapping[str, Any]) -> Call[Stream]:
    """Create a stream."""
    return _say("PUT", _path(stream), config, lambda answer: known(Stream, answer))


def predict(operation: Predict) -> Call[Prediction]:
    """Ask for a threshold."""
    path = _path(operation.stream, "predict")
    return _say("POST", path, operation.message(), results.prediction)


def feedback(operation: Learn) -> Call[Feedback]:
    """Report a loss."""
    path = _path(operation.stream, "predictions", operation.id, "feedback")
    return _say("PUT", path, operation.message(), lambda answer: known(Feedback, answer))


def batch(operations: Sequence[Operation]) -> Call[list[results.Outcome]]:
    """Many operations, one commit."""
    message = {"operations": [_in_batch(each) for each in operations]}
    return _say("POST", "/v1/batch", message, _outcomes)


def _in_batch(operation: Operation) -> dict[str, Any]:
    if not isinstance(operation, Predict | Learn):
        raise TypeError(f"operations must be Predict or Learn objects, got {operation!r}.")
    return operation.in_batch()


def _outcomes(answer: Mapping[str, Any]) -> list[results.Outcome]:
    return [results.outcome(each) for each in answer["results"]]


def streams() -> Call[list[Line]]:
    """List the streams."""
    return _ask("/v1/streams", lambda answer: [known(Line, each) for each in answer["streams"]])


def summary(stream: str) -> Call[Summary]:
    """Ask how a stream stands."""
    return _ask(_path(stream), results.summary)


def history(stream: str) -> Call[History]:
    """Ask how it came to stand there."""
    return _ask(_path(stream, "history"), lambda answer: known(History, answer))


def export_state(stream: str) -> Call[bytes]:
    """Read a stream's calibrator."""
    return Call("GET", _path(stream, "state"), lambda content: content)


def import_state(stream: str, state: bytes) -> Call[Imported]:
    """Replace a stream's calibrator; not repeated blindly, since losses may have come since."""
    headers = {"Content-Type": "application/octet-stream"}
    read = _json(lambda answer: known(Imported, answer))
    return Call("PUT", _path(stream, "state"), read, state, headers, repeatable=False)


def events(stream: str, last: str) -> Call[None]:
    """Listen to a stream, from now on or from after the event `last`."""
    headers = {"Accept": "text/event-stream"} | ({"Last-Event-ID": last} if last else {})
    return Call("GET", _path(stream, "events"), lambda content: None, headers=headers)


def ready() -> Call[None]:
    """Ask whether requests are taken."""
    return Call("GET", "/readyz", lambda content: None)


def _path(stream: str, *rest: str) -> str:
    for part in (stream, *rest):
        if not isinstance(part, str) or not part:
            raise ValueError(
                f"streams and ids are named by text that is not empty, got {part!r}. "
                "Letters, digits, '.', '_' and '-' are taken."
            )
    return "/".join(["/v1/streams", *(quote(part, safe="") for part in (stream, *rest))])


def _say(method: str, path: str, message: Any, read: Callable[[Any], T]) -> Call[T]:
    content = _encoded(message)
    return Call(method, path, _json(read), content, {"Content-Type": "application/json"})


def _encoded(message: Any) -> bytes:
    try:
        return json.dumps(message, allow_nan=False, default=_plain).encode()
    except ValueError as error:
        raise ValueError(
            "what is sent must hold finite numbers only, got NaN or an infinity: leave out what "
            "has no value."
        ) from error


def _plain(value: Any) -> Any:
    """NumPy's numbers and arrays as Python's, which JSON knows."""
    if isinstance(value, np.generic | np.ndarray):
        return value.tolist()
    raise TypeError(
        f"what is sent must be made of numbers, text, lists and dicts, got {value!r}: convert it."
    )


def _ask(path: str, read: Callable[[Any], T]) -> Call[T]:
    return Call("GET", path, _json(read))


def _json(read: Callable[[Any], T]) -> Callable[[bytes], T]:
    return lambda content: read(json.loads(content))
