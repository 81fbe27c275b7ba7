"""What can go wrong between a client and the service, as one exception with one sentence."""

from __future__ import annotations

import json


class ServiceError(Exception):
    """The service refused a request, and said why.

    `status` is the HTTP status: 404 for what is not there, 409 for an id or a name that is taken
    by something else, 410 for feedback that came too late, 422 for values that make no sense.
    """

    def __init__(self, status: int, reason: str) -> None:
        super().__init__(f"{reason} (status {status})")
        self.status = status
        self.reason = reason


class UnreachableError(ConnectionError):
    """No answer came, however often the same request was repeated.

    Whether the service has acted on it is not known. Repeating the call with the same id is safe.
    """


def refusal(status: int, content: bytes) -> ServiceError:
    """The exception for an answer that is an error, problem+json or not."""
    try:
        problem = json.loads(content)
        reason = str(problem.get("detail") or problem["title"])
    except (ValueError, AttributeError, KeyError):
        text = content[:200].decode(errors="replace").strip()
        reason = text or "the service gave no reason"
    return ServiceError(status, reason)
