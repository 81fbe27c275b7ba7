"""The list of streams: searched, filtered by status, sorted by name or worst first, in pages.

A cursor is the sort key of the stream at the edge of a page, and the direction in which the list
continues from there: streams that come, go or change their place in between are no obstacle.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Sequence
from typing import Literal, TypeAlias

import msgspec

from localarc_client.wire.health import Status
from localarc_client.wire.quarantine import QuarantinedStream
from localarc_client.wire.status import StatusCounts, StreamList, StreamListItem
from localarc_service.api.auth import ANYONE, Token
from localarc_service.api.queries import list_item, quarantine
from localarc_service.errors import ApiError
from localarc_service.streams.manager import StreamManager
from localarc_service.streams.stream import Stream
from localarc_service.streams.watch import SEVERITY

_SEPARATOR = "~"  # occurs in no name of a stream

Sort: TypeAlias = Literal["name", "worst"]
Key: TypeAlias = tuple[int, int, str]
"""Where a stream belongs in the list: its rank by status, by risk, and its name."""

_STATUSES: list[str] = [*sorted(SEVERITY, key=SEVERITY.__getitem__)]


class ListPart(msgspec.Struct):
    """The streams of one process that a page may contain, with their keys, and how many there are.

    `before` are streams in front of them in the list; `limit` and `backwards` are the page's.
    """

    keys: list[Key]
    items: list[StreamListItem]
    before: int
    found: int
    statuses: dict[str, int]
    quarantined: list[QuarantinedStream]
    sort: str
    limit: int | None
    backwards: bool


def streams(
    manager: StreamManager,
    search: str = "",
    status: Status | None = None,
    sort: Sort = "name",
    limit: int | None = None,
    cursor: str | None = None,
    labels: str = "",
    token: Token = ANYONE,
) -> StreamList:
    """List streams: all of them, or a page of those that match."""
    return merge([part(manager, search, status, sort, limit, cursor, labels, token)])


def part(
    manager: StreamManager,
    search: str = "",
    status: Status | None = None,
    sort: Sort = "name",
    limit: int | None = None,
    cursor: str | None = None,
    labels: str = "",
    token: Token = ANYONE,
) -> ListPart:
    """Streams of this process that belong to a page, if no others come before them."""
    text, wanted = search.lower(), _labels(labels).items()
    keys = [
        _badness(stream)
        for name, stream in manager.streams.items()
        if text in name.lower()
        and wanted <= stream.state.config.labels.items()
        and token.permits(name)
    ]
    statuses = Counter(_STATUSES[max(0, rank)] for rank, _, _ in keys)
    if status is not None:
        keys = [key for key in keys if _STATUSES[max(0, key[0])] == status]
    keys = sorted(keys if sort == "worst" else [(0, 0, name) for _, _, name in keys])
    start, stop = _edges(keys, limit or max(1, len(keys)), sort, cursor)
    moment = manager.moment()
    return ListPart(
        keys=keys[start:stop],
        items=[list_item(manager.streams[name], moment) for _, _, name in keys[start:stop]],
        before=start,
        found=len(keys),
        statuses=statuses,
        quarantined=quarantine(manager, token).streams,
        sort=sort,
        limit=limit,
        backwards=cursor is not None and _read_cursor(sort, cursor)[0] == "previous",
    )


def merge(parts: Sequence[ListPart]) -> StreamList:
    """The page that follows from the parts of all processes, each with other streams."""
    sort, limit, backwards = parts[0].sort, parts[0].limit, parts[0].backwards
    rows = sorted(
        (row for each in parts for row in zip(each.keys, each.items, strict=True)), key=_key
    )
    excess = 0 if limit is None else max(0, len(rows) - limit)
    rows = rows[excess:] if backwards else rows[: len(rows) - excess]
    found = sum(each.found for each in parts)
    first = sum(each.before for each in parts) + (excess if backwards else 0)
    stop = first + len(rows)
    statuses: Counter[str] = sum((Counter(each.statuses) for each in parts), Counter())
    return StreamList(
        streams=[item for _, item in rows],
        quarantined=sorted((q for each in parts for q in each.quarantined), key=lambda q: q.stream),
        first=first,
        found=found,
        statuses=StatusCounts(**statuses),
        previous=_cursor(sort, "previous", rows[0][0]) if rows and first > 0 else None,
        next=_cursor(sort, "next", rows[-1][0]) if rows and stop < found else None,
    )


def _key(row: tuple[Key, StreamListItem]) -> Key:
    return row[0]


def _labels(text: str) -> dict[str, str]:
    """The labels to look for.

    >>> _labels("team=pricing,region=north")
    {'team': 'pricing', 'region': 'north'}
    """
    pairs = [pair.partition("=") for pair in text.split(",") if text]
    if not all(key and value for key, _, value in pairs):
        raise ApiError(
            422, f"labels must be pairs such as team=pricing,region=north, got {text[:80]!r}."
        )
    return {key: value for key, _, value in pairs}


# ---- the order -------------------------------------------------------------------------------


def _badness(stream: Stream) -> Key:
    """The status first, then how many tenths of the target the risk is; the worst is smallest.

    Streams that are ok are sorted by name, so that a reader finds them where they were. One that
    must not be relied on is worse than broken.
    """
    if not stream.consistent:
        return -1, 0, stream.name
    watch = stream.watch
    if not watch.announced:
        return SEVERITY["ok"], 0, stream.name
    part = watch.worst_part
    excess = (watch.recent_risk(part) or 0.0) / stream.state.config.alpha
    return SEVERITY[watch.announced_status(part)], -round(10 * excess), stream.name


# ---- pages -----------------------------------------------------------------------------------


def _edges(keys: list[Key], limit: int, sort: str, cursor: str | None) -> tuple[int, int]:
    """The positions of the first stream of a page, and of the first one after it."""
    if cursor is None:
        return 0, limit
    direction, key = _read_cursor(sort, cursor)
    if direction == "previous":
        stop = bisect_left(keys, key)
        return max(0, stop - limit), stop
    start = bisect_right(keys, key)
    return start, start + limit


def _cursor(sort: str, direction: str, key: Key) -> str:
    return _SEPARATOR.join([sort, direction, *map(str, key)])


def _read_cursor(sort: str, cursor: str) -> tuple[str, Key]:
    """The direction and the key of a cursor, which must be one of a list in the same order."""
    try:
        order, direction, rank, risk, name = cursor.split(_SEPARATOR)
        if order == sort and direction in ("next", "previous"):
            return direction, (int(rank), int(risk), name)
    except ValueError:
        pass
    raise ApiError(
        422,
        f"cursor must be `next` or `previous` of a page of the list sorted by {sort}, got "
        f"{cursor!r}. Omit it for the first page.",
    )
