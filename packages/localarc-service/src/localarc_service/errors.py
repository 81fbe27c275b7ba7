"""Errors of the API: a status, and the reason in one sentence."""

from __future__ import annotations

from http import HTTPStatus

from localarc_client.wire.predictions import Problem

RETRY_AFTER = {429: 60, 503: 1}
"""Seconds to wait where nothing better is known: a limit stays, an interruption is short."""

_RENAMED = {413: "Content Too Large", 414: "URI Too Long", 422: "Unprocessable Content"}
"""Names of RFC 9110, which Python has from 3.13 on: responses do not depend on its version."""


class ApiError(Exception):
    """A request that failed and changed nothing; `retry_after` are seconds to wait."""

    def __init__(self, status: int, detail: str, retry_after: int | None = None) -> None:
        super().__init__(detail)
        self.status = status
        self.detail = detail
        self.retry_after = RETRY_AFTER.get(status) if retry_after is None else retry_after

    def problem(self, request_id: str | None = None) -> Problem:
        """The body of the response, as RFC 9457 defines it."""
        title = _RENAMED.get(self.status) or HTTPStatus(self.status).phrase
        return Problem(title, self.status, self.detail, request_id=request_id)
