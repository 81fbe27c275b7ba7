"""Exceptions of the client: one class per kind of error, all under `ClientError`."""

from __future__ import annotations

import json

from localarc_client.wire.predictions import Problem


class ClientError(Exception):
    """Base class of all exceptions that a request can raise.

    Examples
    --------
    >>> issubclass(NotFoundError, ClientError), issubclass(UnreachableError, ClientError)
    (True, True)
    """


class UnreachableError(ClientError, ConnectionError):
    """The service did not respond, also not when the request was repeated.

    It is unknown whether the service processed the request. Repeating it with the same id is safe.

    Examples
    --------
    >>> issubclass(UnreachableError, ConnectionError)
    True
    """


class UnexpectedResponseError(ClientError):
    """The response has a success status but cannot be read: it may come from a proxy.

    Examples
    --------
    >>> issubclass(UnexpectedResponseError, ServiceError)
    False
    """


class WebhookError(ClientError, ValueError):
    """A request claims to be a webhook of the service, but its signature does not say so.

    Examples
    --------
    >>> issubclass(WebhookError, ValueError)
    True
    """


class ServiceError(ClientError):
    """The service rejected a request. Its subclasses name the reasons.

    Parameters
    ----------
    status : int
        HTTP status.
    reason : str
        The reason, as the service states it.
    request_id : str, optional
        Id of the request, by which the service's logs name it.

    Examples
    --------
    >>> error = ServiceError(418, "this is a teapot.")
    >>> error.status, error.reason
    (418, 'this is a teapot.')
    """

    def __init__(self, status: int, reason: str, request_id: str | None = None) -> None:
        super().__init__(f"{reason} (status {status})")
        self.status = status
        self.reason = reason
        self.request_id = request_id


class BadRequestError(ServiceError):
    """The body is not JSON, or the request is malformed (400).

    Examples
    --------
    >>> BadRequestError(400, "the reason.")
    BadRequestError('the reason. (status 400)')
    """


class UnauthorizedError(ServiceError):
    """The token is missing, unknown or expired (401).

    Examples
    --------
    >>> UnauthorizedError(401, "the reason.")
    UnauthorizedError('the reason. (status 401)')
    """


class ForbiddenError(ServiceError):
    """The token does not permit the request: its scope, or its streams (403).

    Examples
    --------
    >>> ForbiddenError(403, "the reason.")
    ForbiddenError('the reason. (status 403)')
    """


class NotFoundError(ServiceError):
    """The stream or the prediction does not exist (404).

    Examples
    --------
    >>> NotFoundError(404, "the reason.")
    NotFoundError('the reason. (status 404)')
    """


class RequestTimeoutError(ServiceError):
    """The body did not arrive in time (408).

    Examples
    --------
    >>> RequestTimeoutError(408, "the reason.")
    RequestTimeoutError('the reason. (status 408)')
    """


class ConflictError(ServiceError):
    """The name or the id is in use with other content (409).

    Examples
    --------
    >>> ConflictError(409, "the reason.")
    ConflictError('the reason. (status 409)')
    """


class GoneError(ServiceError):
    """The prediction expired before its loss arrived (410).

    Examples
    --------
    >>> GoneError(410, "the reason.")
    GoneError('the reason. (status 410)')
    """


class TooLargeError(ServiceError):
    """The body is too large (413).

    Examples
    --------
    >>> TooLargeError(413, "the reason.")
    TooLargeError('the reason. (status 413)')
    """


class UnsupportedMediaTypeError(ServiceError):
    """The content type of the body is not supported (415).

    Examples
    --------
    >>> UnsupportedMediaTypeError(415, "the reason.")
    UnsupportedMediaTypeError('the reason. (status 415)')
    """


class InvalidRequestError(ServiceError):
    """A field has an invalid value, or does not fit the stream (422).

    Examples
    --------
    >>> InvalidRequestError(422, "the reason.")
    InvalidRequestError('the reason. (status 422)')
    """


class LimitExceededError(ServiceError):
    """A limit of the service or a quota of the token is exceeded (429).

    Examples
    --------
    >>> LimitExceededError(429, "the reason.")
    LimitExceededError('the reason. (status 429)')
    """


class InternalServerError(ServiceError):
    """The service failed to process the request; it made no changes (500).

    Examples
    --------
    >>> InternalServerError(500, "the reason.")
    InternalServerError('the reason. (status 500)')
    """


class UnavailableError(ServiceError):
    """The service is starting or cannot write, or a proxy cannot reach it (502, 503, 504).

    Examples
    --------
    >>> UnavailableError(502, "the reason.")
    UnavailableError('the reason. (status 502)')
    """


_BY_STATUS: dict[int, type[ServiceError]] = {
    400: BadRequestError,
    401: UnauthorizedError,
    403: ForbiddenError,
    404: NotFoundError,
    408: RequestTimeoutError,
    409: ConflictError,
    410: GoneError,
    413: TooLargeError,
    415: UnsupportedMediaTypeError,
    422: InvalidRequestError,
    429: LimitExceededError,
    500: InternalServerError,
    502: UnavailableError,
    503: UnavailableError,
    504: UnavailableError,
}


def error_from_problem(problem: Problem) -> ServiceError:
    """Return the exception for a problem, e.g. of one operation in a batch.

    Parameters
    ----------
    problem : Problem
        The problem, `BatchResult.problem`.

    Returns
    -------
    ServiceError
        An instance of the subclass for its status.

    Examples
    --------
    >>> error_from_problem(Problem("Not Found", 404, "there is no stream 'demand'."))
    NotFoundError("there is no stream 'demand'. (status 404)")
    """
    return _error(problem.status, problem.detail, problem.request_id)


def error_from_response(status: int, content: bytes) -> ServiceError:
    """Return the exception for an error response, whether its body is a problem or not."""
    key = None
    try:
        problem = json.loads(content)
        reason = str(problem.get("detail") or problem["title"])
        key = problem.get("request_id")
    except (ValueError, AttributeError, KeyError):
        text = content[:200].decode(errors="replace").strip()
        reason = text or "the service gave no reason"
    return _error(status, reason, key)


def _error(status: int, reason: str, request_id: str | None) -> ServiceError:
    return _BY_STATUS.get(status, ServiceError)(status, reason, request_id)
