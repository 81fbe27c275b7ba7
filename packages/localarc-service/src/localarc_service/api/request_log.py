"""The log of requests: a line for each, on a logger of its own, without names of streams.

It is silent unless the logger `localarc.requests` has the level INFO: clients must not be able to
fill the log of a service that did not ask for it.
"""

from __future__ import annotations

import logging

from localarc_service.access.token import Token
from localarc_service.api.endpoints import Endpoint
from localarc_service.api.request import Request

LOGGER = logging.getLogger("localarc.requests")
LOGGER.setLevel(logging.WARNING)


def log_request(
    request: Request, endpoint: Endpoint, token: Token | None, status: int, seconds: float
) -> None:
    """Log a request by its route."""
    if not LOGGER.isEnabledFor(logging.INFO):
        return
    fields = {
        "request_id": request.id,
        "method": endpoint.method,
        "route": endpoint.path,
        "status": status,
        "seconds": round(seconds, 6),
        "token": None if token is None else token.name,
        "address": request.address,
    }
    values = endpoint.method, endpoint.path, status, seconds, request.id
    LOGGER.info("%s %s: %d in %.4f s, request %s", *values, extra={"fields": fields})
