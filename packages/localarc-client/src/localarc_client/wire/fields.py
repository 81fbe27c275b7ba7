"""Field types: the allowed numbers, names and lists, and the base classes of all messages."""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias

import msgspec
from msgspec import Meta

LARGEST = 1e100
"""Largest absolute value of a number; `localarc.validation` has the same limit, but needs NumPy."""

# Python's `$` also matches before a final line feed; the lookahead rejects that.
STREAM_NAME_PATTERN = r"^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$(?!\n)"
PREDICTION_ID_PATTERN = r"^[A-Za-z0-9][A-Za-z0-9._~-]{0,127}$(?!\n)"
GROUP_PATTERN = r"^[^\x00-\x1f\x7f]{1,64}$(?!\n)"

LABEL_KEY_PATTERN = r"^[A-Za-z0-9][A-Za-z0-9._/-]{0,63}$(?!\n)"
LABEL_VALUE_PATTERN = r"^[^\x00-\x1f\x7f,]{1,64}$(?!\n)"

MAX_FEATURES = 1024
MAX_SCORES = 10_000
MAX_OPERATIONS = 1_000
MAX_GROUPS = 64
MAX_LABELS = 16
SHORTEST_RETENTION = 60.0

Number: TypeAlias = Annotated[float, Meta(ge=-LARGEST, le=LARGEST)]
StreamName: TypeAlias = Annotated[
    str, Meta(pattern=STREAM_NAME_PATTERN, description="name of a stream")
]
PredictionId: TypeAlias = Annotated[
    str, Meta(pattern=PREDICTION_ID_PATTERN, description="id of a prediction, unique in its stream")
]
GroupName: TypeAlias = Annotated[
    str, Meta(pattern=GROUP_PATTERN, description="name of a group of inputs, a label or a feature")
]
# msgspec 0.22 corrupts memory where a str with a pattern and a list meet in a union: the pattern of
# a single group is documented here, and checked by the request.
_SingleGroup: TypeAlias = Annotated[
    str, Meta(min_length=1, max_length=64, extra_json_schema={"pattern": GROUP_PATTERN})
]
Group: TypeAlias = (
    _SingleGroup | Annotated[list[GroupName], Meta(min_length=1, max_length=MAX_GROUPS)]
)
Score: TypeAlias = Number | Literal["inf", "-inf"]
"""A score; JSON has no infinity, so that it is written as text."""
Outcome: TypeAlias = Number | GroupName
"""What came true: a number, a label, or the position of a label."""
Labels: TypeAlias = Annotated[
    dict[
        Annotated[str, Meta(pattern=LABEL_KEY_PATTERN)],
        Annotated[str, Meta(pattern=LABEL_VALUE_PATTERN)],
    ],
    Meta(max_length=MAX_LABELS),
]
"""What people say about a stream, such as {"team": "pricing"}."""
Probability: TypeAlias = Annotated[float, Meta(ge=0.001, le=1.0)]
"""With which an answer was to be looked at."""
Timeout: TypeAlias = Annotated[float, Meta(gt=0, le=LARGEST)]
DefaultLoss: TypeAlias = Annotated[float, Meta(ge=0, le=LARGEST)]
Retention: TypeAlias = Annotated[float, Meta(ge=SHORTEST_RETENTION, le=LARGEST)]
Features: TypeAlias = Annotated[list[Number], Meta(max_length=MAX_FEATURES)]
Scores: TypeAlias = Annotated[list[Number], Meta(min_length=1, max_length=MAX_SCORES)]


class Request(msgspec.Struct, forbid_unknown_fields=True):
    """Base of everything that a client sends: unknown fields are errors."""


class Response(msgspec.Struct):
    """Base of everything that the service sends: unknown fields are ignored."""
