"""Duplicate keys are rejected in every body, by construction."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import Any

import msgspec
import pytest

from localarc_client.wire.config import StreamConfig
from localarc_client.wire.predictions import (
    BatchEnvelope,
    BatchRequest,
    FeedbackRequest,
    Operation,
    PredictRequest,
)
from localarc_client.wire.routes import ROUTES
from localarc_service.api.decoding import BatchDecoder, Decoder, decoder_for, unique_keys
from localarc_service.errors import ApiError

BODIES = [each.body for each in ROUTES if each.body not in (None, bytes)]


def test_the_keys_that_are_checked_follow_from_the_type() -> None:
    predicted = {"x", "id", "group", "scores", "confidence"}
    assert unique_keys(PredictRequest) == predicted
    assert unique_keys(FeedbackRequest) == {"loss", "score", "outcome", "y", "probability"}
    assert unique_keys(BatchEnvelope) == {"operations"}
    reported = {"loss", "score", "outcome", "y", "probability"}
    assert unique_keys(Operation) == {"op", "stream"} | predicted | reported
    assert unique_keys(StreamConfig) is None  # "kind" occurs in several objects


def test_a_new_field_is_checked_without_further_ado() -> None:
    class Request(msgspec.Struct):
        old: int
        new: list[str] = []

    with pytest.raises(ApiError, match="duplicate key"):
        Decoder(Request)(b'{"old": 1, "new": [], "new": ["a"]}')
    assert Decoder(Request)(b'{"old": 1, "new": ["new"]}') == Request(1, ["new"])


@pytest.mark.parametrize("kind", BODIES, ids=lambda kind: getattr(kind, "__name__", "StreamConfig"))
def test_every_field_of_every_body_is_checked(kind: Any) -> None:
    keys = unique_keys(BatchEnvelope if kind is BatchRequest else kind)
    assert keys is None or keys == set(kind.__struct_fields__)
    assert isinstance(decoder_for(kind), BatchDecoder if kind is BatchRequest else Decoder)


def test_message_types_leave_memory_intact() -> None:
    """Some unions of types corrupt memory in msgspec, which shows when a process ends."""
    code = (
        "from localarc_service.api.decoding import decoder_for\n"
        "from localarc_client.wire.config import StreamConfig\n"
        "from localarc_client.wire.lifecycle import ChangeRequest\n"
        "from localarc_client.wire.predictions import *\n"
        "kinds = StreamConfig, ChangeRequest, PredictRequest, FeedbackRequest, BatchRequest\n"
        "print(len([decoder_for(kind) for kind in kinds]))"
    )
    environment = {**os.environ, "PYTHONMALLOC": "debug"}
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True
    )
    assert (done.returncode, done.stdout) == (0, "5\n"), done.stderr
