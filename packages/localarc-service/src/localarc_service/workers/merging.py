"""The responses of all workers as one: lists, health, metrics, batches."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from localarc_client.wire.predictions import BatchEnvelope, BatchResult, Problem
from localarc_client.wire.quarantine import QuarantineList
from localarc_client.wire.routes import JSON, PROMETHEUS
from localarc_client.wire.status import Ready
from localarc_client.wire.workers import owner_of
from localarc_service.api.decoding import Decoder
from localarc_service.api.responses import Response, encode, response
from localarc_service.api.stream_list import ListPart, merge
from localarc_service.errors import ApiError
from localarc_service.workers.channel import Answer
from localarc_service.workers.exposition import sum_texts


def _failure(answers: Iterable[Answer]) -> Response | None:
    """The first response that is an error, if there is one."""
    for found in answers:
        if found.status != 200:
            return Response(found.status, found.body, list(found.headers))
    return None


def stream_list(answers: Sequence[Answer]) -> Response:
    """The list of streams, or a page of it."""
    failed = _failure(answers)
    if failed is not None:
        return failed
    parts = [msgspec.json.decode(found.body, type=ListPart) for found in answers]
    return response(encode(merge(parts)), JSON)


def quarantine(answers: Sequence[Answer]) -> Response:
    """The streams in quarantine, sorted by name."""
    failed = _failure(answers)
    if failed is not None:
        return failed
    lists = [msgspec.json.decode(found.body, type=QuarantineList) for found in answers]
    streams = [each for found in lists for each in found.streams]
    return response(encode(QuarantineList(sorted(streams, key=lambda each: each.stream))), JSON)


def ready(answers: Sequence[Answer]) -> Response:
    """Ready if all workers are; otherwise how many are, and why the others are not."""
    found = [_ready(each, index) for index, each in enumerate(answers)]
    waiting = [each for each in found if not each.ready]
    counts = [
        sum(getattr(each, name) for each in found)
        for name in ("streams", "read_only", "quarantined")
    ]
    if waiting:
        detail = " ".join(dict.fromkeys(each.detail for each in waiting))
        if count := len(found) - len(waiting):
            detail = f"{count} of {len(found)} workers are ready: {detail}"
        return response(encode(msgspec.structs.replace(waiting[0], detail=detail)), JSON, 503)
    return response(encode(Ready(True, found[0].detail, *counts)), JSON)


def _ready(found: Answer, index: int) -> Ready:
    try:
        return msgspec.json.decode(found.body, type=Ready)
    except msgspec.ValidationError:
        return Ready(False, f"worker {index} is starting.", 0, 0)


def metrics(answers: Sequence[Answer], stream_series: int = 0) -> Response:
    """The metrics of all workers that run, added up."""
    failed = _failure(each for each in answers if each.status not in (502, 503))
    if failed is not None:
        return failed
    found = [each.body.decode() for each in answers if each.status == 200]
    return response(sum_texts(found, len(answers), stream_series), PROMETHEUS)


# ---- batches ---------------------------------------------------------------------------------


class _Stream(msgspec.Struct):
    stream: str = ""


class _Results(msgspec.Struct):
    results: list[msgspec.Raw]


_envelope: Decoder[BatchEnvelope] = Decoder(BatchEnvelope)
_operation = msgspec.json.Decoder(_Stream).decode


@dataclass(frozen=True)
class SplitBatch:
    """A batch as one body per worker; `owners` has the worker of each operation."""

    owners: list[int]
    bodies: dict[int, bytes]


def split_batch(body: bytes, workers: int) -> SplitBatch:
    """Give each operation to the owner of its stream; what cannot be read is left to worker 0."""
    try:
        operations = _envelope(body).operations
    except ApiError:
        return SplitBatch([], {0: body})
    owners = [owner_of(_name(each), workers) for each in operations]
    return SplitBatch(
        owners,
        {
            index: b'{"operations":[%s]}' % b",".join(_of(index, owners, operations))
            for index in dict.fromkeys(owners)
        },
    )


def _of(index: int, owners: list[int], operations: list[msgspec.Raw]) -> list[bytes]:
    found = zip(owners, operations, strict=True)
    return [bytes(operation) for owner, operation in found if owner == index]


def _name(operation: msgspec.Raw) -> str:
    """The stream of an operation; empty if it has none, which its owner will reject."""
    try:
        return _operation(operation).stream
    except (ValueError, RecursionError):
        return ""


def batch(split: SplitBatch, answers: dict[int, Answer]) -> Response:
    """The results of all operations, in their order."""
    failed = _failure(answers.values())
    if failed is not None and (not split.owners or _all_failed(answers)):
        return failed
    if not split.owners:
        (only,) = answers.values()
        return response(only.body, JSON)
    results = {index: iter(_results(split, index, found)) for index, found in answers.items()}
    return response(encode(_Results([next(results[owner]) for owner in split.owners])), JSON)


def _all_failed(answers: dict[int, Answer]) -> bool:
    return all(found.status != 200 for found in answers.values())


def _results(split: SplitBatch, index: int, found: Answer) -> list[Any]:
    if found.status == 200:
        return msgspec.json.decode(found.body, type=_Results).results
    problem = msgspec.json.decode(found.body, type=Problem)
    error = msgspec.Raw(encode(BatchResult(found.status, problem=problem)))
    return [error] * split.owners.count(index)
