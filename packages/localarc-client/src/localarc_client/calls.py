"""Calls: requests made from the rows of `wire/routes.py`, and their responses, for both clients."""

from __future__ import annotations

import functools
import json
import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any, Generic, TypeVar
from urllib.parse import quote, urlencode

import msgspec

from localarc_client.errors import UnexpectedResponseError, UnreachableError, error_from_response
from localarc_client.retry import Attempt, NoReply
from localarc_client.wire.routes import BYTES, EVENT_STREAM, JSON, Parameter, Route

T = TypeVar("T")

_encode = msgspec.json.Encoder().encode


@dataclass(frozen=True)
class Call(Generic[T]):
    """One request; `repeatable` means that sending it twice has the same effect as once."""

    method: str
    path: str
    read: Callable[[bytes], T]
    content: bytes | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    repeatable: bool = True
    also_read: tuple[int, ...] = ()  # error statuses whose body is read like a success

    def arguments(self) -> dict[str, Any]:
        """Return the arguments of httpx's `request` and `stream`."""
        return {
            "method": self.method,
            "url": self.path,
            "content": self.content,
            "headers": self.headers,
        }

    def result(self, attempt: Attempt) -> T:
        """Return the content of the response, or raise the exception for it."""
        if isinstance(attempt, NoReply):
            raise UnreachableError(
                f"no response to {self.method} {self.path}: {attempt.error!r}. Check the URL and "
                "that the service is running, then repeat the call with the same id."
            ) from attempt.error
        if 200 <= attempt.status < 300:
            return self.read(attempt.content)
        if attempt.status in self.also_read:
            try:
                return self.read(attempt.content)
            except UnexpectedResponseError:
                pass  # the response of a proxy
        raise error_from_response(attempt.status, attempt.content)


def http_options(url: str, token: str | None, timeout: float) -> dict[str, Any]:
    """Return the options of httpx's clients."""
    if not isinstance(url, str) or not url.startswith(("http://", "https://")):
        raise ValueError(
            f"url must start with http:// or https://, got {url!r}. Use the one that "
            "`localarc serve` prints, e.g. http://127.0.0.1:8090."
        )
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    # Proxies from the environment are ignored: the token is for the service alone.
    return {"base_url": url, "headers": headers, "timeout": timeout, "trust_env": False}


def call(route: Route[T], *path: str, body: object = None, **parameters: object) -> Call[T]:
    """Return the request of a route; parameters that are None or empty are left out."""
    kind: Any = route.response
    given = [each for each in route.query if parameters.get(each.name) not in (None, "")]
    values = [(each, _value(each, parameters[each.name])) for each in given]
    query = urlencode({each.name: value for each, value in values if each.place == "query"})
    headers = {each.header: value for each, value in values if each.place == "header"}
    if route.media_type == EVENT_STREAM:
        headers["Accept"] = EVENT_STREAM
    if body is not None:
        headers["Content-Type"] = BYTES if route.body is bytes else JSON
    return Call(
        route.method,
        _path(route.path, path) + (f"?{query}" if query else ""),
        _reader(kind),
        body if body is None or isinstance(body, bytes) else _encode(body),
        headers,
        route.repeatable,
        tuple(status for status in route.statuses if status >= 400),
    )


def _value(parameter: Parameter, value: Any) -> str:
    is_text = parameter.is_text or parameter.choices or isinstance(value, str)
    return str(value if is_text else operator.index(value))


def _path(pattern: str, given: tuple[str, ...]) -> str:
    for part in given:
        if not isinstance(part, str) or not part:
            raise ValueError(
                f"a stream name or prediction id must be a string that is not empty, got {part!r}. "
                "Use letters, digits, '.', '_' and '-'."
            )
    parts = iter(given)
    return "/".join(
        quote(next(parts), safe="") if part[:1] == "{" else part for part in pattern.split("/")
    )


# ---- responses -------------------------------------------------------------------------------


@functools.cache
def _reader(kind: Any) -> Callable[[bytes], Any]:
    """Return a function that reads one type of response."""
    if kind is bytes:
        return bytes
    return bytes.decode if kind is str else _decoder(kind)


def _decoder(kind: Any) -> Callable[[bytes], Any]:
    decode = msgspec.json.Decoder(kind).decode

    def read(body: bytes) -> Any:
        try:
            return decode(body)
        except msgspec.ValidationError:
            return _read_known_fields(kind, body)
        except (msgspec.MsgspecError, ValueError, RecursionError) as error:
            raise _unexpected(error) from error

    return read


def _read_known_fields(kind: Any, body: bytes) -> Any:
    """Decode without regard to unknown fields, which configs, as requests, would reject."""
    try:
        objects = json.loads(body, object_hook=lambda fields: SimpleNamespace(**fields))
        return msgspec.convert(objects, kind, from_attributes=True)
    except (msgspec.MsgspecError, ValueError, RecursionError) as error:
        raise _unexpected(error) from error


def _unexpected(error: Exception) -> UnexpectedResponseError:
    return UnexpectedResponseError(
        f"cannot read the response: {error}. Check that the URL is that of a localarc service, "
        "and that the client is not older than the service."
    )
