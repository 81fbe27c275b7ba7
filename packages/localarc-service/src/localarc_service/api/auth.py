"""Authorization: whether the token of a request permits it."""

from __future__ import annotations

from localarc_client.wire.predictions import Operation
from localarc_service.access.token import Scope, Token
from localarc_service.access.tokens import ANYONE, Tokens
from localarc_service.api.request import Request
from localarc_service.errors import ApiError

__all__ = ["ANYONE", "Scope", "Token", "Tokens", "identify", "permitted"]


def identify(tokens: Tokens, request: Request, required: Scope | None) -> Token:
    """Who sends a request; raises if that is unknown."""
    if required is None:
        return ANYONE
    return tokens.identify(request.headers.get("authorization", ""), request.address, required)


def permitted(operation: Operation | ApiError, token: Token) -> Operation | ApiError:
    """An operation of a batch, or why the token does not permit it."""
    try:
        if not isinstance(operation, ApiError):
            token.check_stream(operation.stream)
    except ApiError as error:
        return error
    return operation
