"""Request bodies: received up to a limit, and decoded strictly."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, Generic, TypeVar

import msgspec
from msgspec import inspect

from localarc_client.wire.config import StreamConfig
from localarc_client.wire.config_reading import decode_config
from localarc_client.wire.predictions import BatchEnvelope, BatchRequest, Operation
from localarc_service.api.request import Request
from localarc_service.errors import ApiError

Kind = TypeVar("Kind")


async def receive(request: Request, media_type: str, limit: int) -> bytes:
    """The body, if it has the media type and is not too large."""
    found = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if found != media_type or "content-encoding" in request.headers:
        raise ApiError(
            415, f"the body must be uncompressed {media_type}, got {found or 'no type'!r}."
        )
    declared = request.headers.get("content-length", "")
    if declared.isdecimal() and int(declared) > limit:
        raise ApiError(413, f"the body must have at most {limit} bytes, got {declared}.")
    return await request.body(limit)


class Decoder(Generic[Kind]):
    """Decodes one type: 400 for a body that is not JSON, 422 for JSON that is not of the type.

    The parser silently lets the last of two equal keys win. A body in which a key may occur twice
    is therefore parsed again, with a check. Which keys these are follows from the type.
    """

    def __init__(self, kind: Any) -> None:
        self._decode: Callable[[bytes | msgspec.Raw], Any] = (
            decode_config if kind == StreamConfig else msgspec.json.Decoder(kind).decode
        )
        keys = unique_keys(kind)
        self._keys = None if keys is None else [f'"{key}"'.encode() for key in sorted(keys)]

    def __call__(self, body: bytes | msgspec.Raw) -> Kind:
        """The decoded body."""
        try:
            message: Kind = self._decode(body)
            self._check_keys(bytes(body))
        except msgspec.ValidationError as error:
            raise ApiError(422, f"{str(error).rstrip('.')}.") from error
        except RecursionError as error:
            raise ApiError(400, "the body is nested too deeply.") from error
        except ValueError as error:  # msgspec's decoding errors and invalid UTF-8
            raise ApiError(400, f"the body is not JSON: {error}.") from error
        return message

    def _check_keys(self, body: bytes) -> None:
        if self._keys is None or b"\\" in body or any(body.count(key) > 1 for key in self._keys):
            json.loads(body, object_pairs_hook=_check_unique)


class BatchDecoder:
    """Decodes each operation of a batch on its own, so that an invalid one fails alone."""

    def __init__(self) -> None:
        self._envelope: Decoder[BatchEnvelope] = Decoder(BatchEnvelope)
        self._operation: Decoder[Operation] = Decoder(Operation)

    def __call__(self, body: bytes) -> list[Operation | ApiError]:
        """The operations, or what is wrong with them."""
        return [self._decode(raw) for raw in self._envelope(body).operations]

    def _decode(self, raw: msgspec.Raw) -> Operation | ApiError:
        try:
            return self._operation(raw)
        except ApiError as error:
            return error


def decoder_for(kind: Any) -> Decoder[Any] | BatchDecoder:
    """The decoder of a body type."""
    return BatchDecoder() if kind is BatchRequest else Decoder(kind)


def unique_keys(kind: Any) -> set[str] | None:
    """The keys that occur once in a valid body; None if objects are nested, so that any may recur.

    >>> from localarc_client.wire.predictions import FeedbackRequest
    >>> sorted(unique_keys(FeedbackRequest))
    ['loss', 'outcome', 'probability', 'score', 'y']
    """
    found = inspect.type_info(kind)
    structs = found.types if isinstance(found, inspect.UnionType) else (found,)
    keys: set[str] = set()
    for struct in structs:
        assert isinstance(struct, inspect.StructType), kind
        if any(_holds_objects(field.type) for field in struct.fields):
            return None
        keys |= {field.encode_name for field in struct.fields}
        keys |= {struct.tag_field} if struct.tag_field else set()
    return keys


def _holds_objects(kind: inspect.Type) -> bool:
    if isinstance(kind, inspect.Metadata):
        return _holds_objects(kind.type)
    if isinstance(kind, inspect.UnionType):
        return any(map(_holds_objects, kind.types))
    if isinstance(kind, inspect.ListType | inspect.VarTupleType):
        return _holds_objects(kind.item_type)
    if isinstance(kind, inspect.TupleType):
        return any(map(_holds_objects, kind.item_types))
    # Raw values are decoded, and checked, on their own.
    simple = (
        inspect.FloatType, inspect.IntType, inspect.StrType, inspect.BoolType, inspect.NoneType,
        inspect.LiteralType, inspect.RawType,
    )  # fmt: skip
    return not isinstance(kind, simple)


def _check_unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ApiError(422, "an object in the body has a duplicate key.")
    return found
