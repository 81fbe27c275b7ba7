"""Requests: what the arguments of the clients' methods become, checked before it is sent."""

from __future__ import annotations

import math
import uuid
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, SupportsFloat, TypeAlias

import msgspec

from localarc_client.wire.config import StreamConfig
from localarc_client.wire.config_reading import read_config
from localarc_client.wire.fields import LARGEST, Outcome, Score
from localarc_client.wire.lifecycle import ChangeRequest
from localarc_client.wire.predictions import (
    AuditRequest,
    BatchRequest,
    FeedbackOperation,
    FeedbackRequest,
    Operation,
    PredictOperation,
    PredictRequest,
)
from localarc_client.wire.quarantine import RecoverRequest

Numbers: TypeAlias = SupportsFloat | Iterable[SupportsFloat]
"""A number, or a flat sequence of numbers such as a list, a NumPy array or a pandas Series."""


def create(config: StreamConfig | Mapping[str, object]) -> StreamConfig:
    """Return the config with its types and ranges checked; constructors do not check them."""
    try:
        plain = msgspec.to_builtins(config, enc_hook=_to_builtin)
        return read_config(plain)
    except (msgspec.MsgspecError, NotImplementedError) as error:
        raise ValueError(f"invalid config: {str(error).rstrip('.')}.") from error


def predict(
    x: Numbers,
    key: str | None,
    group: str | Sequence[str] | None,
    scores: Numbers | None,
    confidence: SupportsFloat | None,
) -> PredictRequest:
    """Return a prediction's request; with an id of its own it can be repeated."""
    return PredictRequest(
        _numbers("x", x),
        _new_id() if key is None else key,
        group if group is None or isinstance(group, str) else list(group),
        None if scores is None else _numbers("scores", scores),
        None if confidence is None else _number("confidence", confidence),
    )


def feedback(
    loss: SupportsFloat | None,
    score: SupportsFloat | str | None,
    outcome: SupportsFloat | str | None,
    y: SupportsFloat | str | None,
    probability: SupportsFloat | None,
) -> FeedbackRequest:
    """Return the report of a loss, or of what came true."""
    stated = None if probability is None else _number("probability", probability)
    return FeedbackRequest(*_report(loss, score, outcome, y), stated)


def audit(wrong: bool) -> AuditRequest:
    """Return the report of what became of an answer that was withheld."""
    if not isinstance(wrong, bool):
        raise TypeError(f"wrong must be True or False, got {wrong!r}.")
    return AuditRequest(wrong)


def batch(operations: Sequence[Operation]) -> BatchRequest:
    """Return operations that are sent together."""
    return BatchRequest([_checked_operation(operation) for operation in operations])


def change(**changes: object) -> ChangeRequest:
    """Return what changes of a config."""
    sent = {name: value for name, value in changes.items() if value is not msgspec.UNSET}
    try:
        return msgspec.convert(msgspec.to_builtins(sent, enc_hook=_to_builtin), ChangeRequest)
    except (msgspec.MsgspecError, NotImplementedError) as error:
        raise ValueError(f"invalid change: {error}.") from error


def recover(action: str) -> RecoverRequest:
    """Return the decision about a stream in quarantine."""
    if action not in ("accept", "drop"):
        raise ValueError(f"action must be 'accept' or 'drop', got {action!r}.")
    return RecoverRequest(action)  # type: ignore[arg-type]


def labels(pairs: Mapping[str, str] | None) -> str:
    """Return labels as a parameter of the list of streams."""
    return ",".join(f"{key}={value}" for key, value in (pairs or {}).items())


def _to_builtin(value: object) -> object:
    """Convert the numbers and arrays of NumPy and its kind."""
    if hasattr(value, "tolist"):
        return value.tolist()
    raise NotImplementedError(f"{value!r} is not a number, a string, a list or a dict")


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


def _new_id() -> str:
    return uuid.uuid4().hex
