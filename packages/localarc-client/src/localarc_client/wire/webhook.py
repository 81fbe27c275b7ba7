"""Webhooks: what the service sends when the health of a stream changes, and how it is signed.

Signatures are those of Standard Webhooks (https://www.standardwebhooks.com), so that a receiver can
also verify them with the libraries that exist for it.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac

from localarc_client.wire.fields import Response
from localarc_client.wire.health import Status

ID, TIMESTAMP, SIGNATURE = "webhook-id", "webhook-timestamp", "webhook-signature"
"""Names of the headers."""

MIN_SECRET = 16
_ENCODED = "whsec_"


class HealthNotice(Response, tag_field="type", tag="health"):
    """The body of a webhook: the health of a stream, or of one of its groups, has changed.

    Attributes
    ----------
    id : str
        Identifies the change; a notice that is sent again has the same id.
    stream : str
        Name of the stream.
    group : str or None
        The group that changed; None for all rounds of the stream.
    status, previous : str
        The new status and the one before: "ok", "drifting", "broken", "recovered" or
        "stale".
    at : float
        Time of the change, in seconds since 1970.
    since_round : int
        Number of losses, of the group if there is one, at that time.
    why : str
        The reason, in a sentence with numbers.
    repeated : bool
        True if the service has been restarted, and sends again what is not "ok".

    Examples
    --------
    >>> why = "The risk is at least 0.13, above 0.12."
    >>> HealthNotice("demand.7", "demand", None, "broken", "ok", 0.0, 90, why).status
    'broken'
    """

    id: str
    stream: str
    group: str | None
    status: Status
    previous: Status
    at: float
    since_round: int
    why: str
    repeated: bool = False


def secret_key(secret: str) -> bytes:
    """The key of a secret: base64 after `whsec_`, else the text itself."""
    encoded = secret.startswith(_ENCODED)
    try:
        key = base64.b64decode(secret[len(_ENCODED) :], validate=True) if encoded else b""
    except binascii.Error as error:
        raise ValueError(f"a secret with {_ENCODED} continues in base64: {error}.") from error
    key = key if encoded else secret.encode()
    if len(key) < MIN_SECRET:
        raise ValueError(
            f"the secret of a webhook must have at least {MIN_SECRET} characters, got {len(key)}: "
            "`openssl rand -hex 32` generates one."
        )
    return key


def signature(key: bytes, identifier: str, timestamp: str, body: bytes) -> str:
    """HMAC-SHA256 of id, timestamp and body, as its header has it."""
    signed = f"{identifier}.{timestamp}.".encode("utf-8", "surrogateescape") + body
    return "v1," + base64.b64encode(hmac.digest(key, signed, hashlib.sha256)).decode()
