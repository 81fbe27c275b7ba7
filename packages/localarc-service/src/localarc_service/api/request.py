"""A request, as far as the service reads it: Starlette's attributes, at a fraction of the cost."""

from __future__ import annotations

from collections.abc import Mapping, MutableMapping
from typing import Any
from urllib.parse import parse_qsl

from starlette.requests import ClientDisconnect
from starlette.types import Receive

from localarc_service.addresses import address_of
from localarc_service.api.request_ids import request_id
from localarc_service.errors import ApiError


class Headers(dict[str, str]):
    """Header fields by lower-case name."""

    def get(self, name: str, default: Any = None) -> Any:
        """A field by its name, in any case."""
        return super().get(name.lower(), default)


class Request:
    """Headers, of which the first of a name counts, parameters, and the body."""

    __slots__ = ("_receive", "_scope", "headers", "id")

    def __init__(self, scope: MutableMapping[str, Any], receive: Receive) -> None:
        self._scope = scope
        self._receive = receive
        self.headers = Headers(
            (name.decode("latin-1"), value.decode("latin-1"))
            for name, value in reversed(scope["headers"])
        )
        self.id = request_id(self.headers.get("x-request-id"))

    @property
    def address(self) -> str:
        """The address that it comes from, as clients are counted."""
        client = self._scope.get("client")
        return address_of(client[0]) if client else ""

    @property
    def path_params(self) -> Mapping[str, str]:
        """The parts of the path that an endpoint names."""
        found: Mapping[str, str] = self._scope["path_params"]
        return found

    @property
    def query_params(self) -> Mapping[str, str]:
        """The parameters after the path, of which the last of a name counts."""
        text = self._scope["query_string"].decode("latin-1")
        return dict(parse_qsl(text, keep_blank_values=True))

    async def body(self, limit: int) -> bytes:
        """The body; the connection has a deadline for it."""
        parts: list[bytes] = []
        size = 0
        while True:
            message = await self._receive()
            if message["type"] == "http.disconnect":
                raise ClientDisconnect
            parts.append(message.get("body", b""))
            size += len(parts[-1])
            if size > limit:
                raise ApiError(413, f"the body must have at most {limit} bytes, got more.")
            if not message.get("more_body", False):
                return parts[0] if len(parts) == 1 else b"".join(parts)
