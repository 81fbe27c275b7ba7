"""Request ids: a request is found again by its id, in logs and in reports of errors."""

from __future__ import annotations

import re
import secrets

HEADER = "X-Request-Id"
_WELL_FORMED = re.compile(r"[A-Za-z0-9._~:/+=@-]{1,128}")


def request_id(given: str | None) -> str:
    """The id that a client or a proxy gave, if it is well-formed, else a new one.

    >>> request_id("4f1c-77"), len(request_id("two words")), len(request_id(None))
    ('4f1c-77', 16, 16)
    """
    return given if given and _WELL_FORMED.fullmatch(given) else secrets.token_hex(8)
