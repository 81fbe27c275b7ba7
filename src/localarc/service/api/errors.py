"""A refusal: a request that is not served, with its status and the reason in one sentence."""

from __future__ import annotations

from http import HTTPStatus

from localarc.wire.predictions import Problem


class Refusal(Exception):  # noqa: N818
    """What the client is told, and nothing has changed."""

    def __init__(self, status: int, detail: str) -> None:
        super().__init__(detail)
        self.status = status
        self.detail = detail

    def problem(self) -> Problem:
        """The refusal as RFC 9457 writes it."""
        return Problem(HTTPStatus(self.status).phrase, self.status, self.detail)
