"""Errors of the API: a status, and the reason in one sentence."""

from __future__ import annotations

from http import HTTPStatus

from localarc.wire.predictions import Problem


class ApiError(Exception):
    """A request that failed and changed nothing; `retry_after` are seconds to wait."""

    def __init__(self, status: int, detail: str, retry_after: int | None = None) -> None:
        super().__init__(detail)
        self.status = status
        self.detail = detail
        self.retry_after = retry_after

    def problem(self) -> Problem:
        """The body of the response, as RFC 9457 defines it."""
        return Problem(HTTPStatus(self.status).phrase, self.status, self.detail)
