"""Quarantine: streams whose stored data is damaged, and what to do with them."""

from __future__ import annotations

from typing import Literal

from localarc_client.wire.fields import Request, Response


class QuarantinedStream(Response):
    """A stream that is not served, because its stored data is damaged or incomplete.

    Attributes
    ----------
    stream : str
        Name of the stream.
    reason : str
        What is damaged or missing.
    seq : int or None
        Position of the latest change that could be read; None if nothing could be read.
    missing : int
        How many acknowledged changes after it are known to be missing.

    Examples
    --------
    >>> QuarantinedStream("demand", "its snapshot is damaged", None, 12).missing
    12
    """

    stream: str
    reason: str
    seq: int | None
    missing: int


class QuarantineList(Response):
    """All streams in quarantine.

    Attributes
    ----------
    streams : list of QuarantinedStream
        One item per stream, sorted by name.

    Examples
    --------
    >>> QuarantineList([]).streams
    []
    """

    streams: list[QuarantinedStream]


class RecoverRequest(Request):
    """What to do with a stream in quarantine.

    Attributes
    ----------
    action : str
        "accept" continues the stream from what could be read; for a stream that is served, it
        acknowledges thresholds that differed on replay. "drop" deletes everything that is stored
        about a stream in quarantine.

    Examples
    --------
    >>> RecoverRequest("accept").action
    'accept'
    """

    action: Literal["accept", "drop"]


class RecoverResponse(Response):
    """Confirmation that a stream left quarantine.

    Attributes
    ----------
    stream : str
        Name of the stream.
    action : str
        What was done, "accept" or "drop".
    seq : int or None
        Position of the latest change of the stream, which continues after it; None if dropped.

    Examples
    --------
    >>> RecoverResponse("demand", "accept", 41).seq
    41
    """

    stream: str
    action: Literal["accept", "drop"]
    seq: int | None
