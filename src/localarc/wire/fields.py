"""Fields: what a number, a name and a list may be in a message."""

from __future__ import annotations

from typing import Annotated, TypeAlias

import msgspec
from msgspec import Meta

from localarc.validation import LARGEST

# Python's `$` also matches before a last line feed; the lookahead shuts that door.
NAME = r"^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$(?!\n)"
ID = r"^[A-Za-z0-9][A-Za-z0-9._~-]{0,127}$(?!\n)"
GROUP = r"^[^\x00-\x1f\x7f]{1,64}$(?!\n)"

MOST_FEATURES = 1024
MOST_SCORES = 10_000
MOST_OPERATIONS = 1_000

Number: TypeAlias = Annotated[float, Meta(ge=-LARGEST, le=LARGEST)]
Name: TypeAlias = Annotated[str, Meta(pattern=NAME, description="a stream")]
Id: TypeAlias = Annotated[str, Meta(pattern=ID, description="a prediction of a stream")]
Group: TypeAlias = Annotated[str, Meta(pattern=GROUP, description="a kind of input")]
Features: TypeAlias = Annotated[list[Number], Meta(max_length=MOST_FEATURES)]
Scores: TypeAlias = Annotated[list[Number], Meta(min_length=1, max_length=MOST_SCORES)]


class Message(msgspec.Struct, forbid_unknown_fields=True):
    """Something said over the wire."""
