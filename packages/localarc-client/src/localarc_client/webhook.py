"""Receiving webhooks: was this sent by the service, and lately?"""

from __future__ import annotations

import hmac
import re
import time
from collections.abc import Mapping

import msgspec

from localarc_client.errors import WebhookError
from localarc_client.wire.webhook import (
    ID,
    SIGNATURE,
    TIMESTAMP,
    HealthNotice,
    secret_key,
    signature,
)

_decode = msgspec.json.Decoder(HealthNotice).decode


def verify_webhook(
    body: bytes,
    headers: Mapping[str, str],
    secret: str,
    *,
    max_age: float = 300.0,
    now: float | None = None,
) -> HealthNotice:
    """Return the notice in a webhook, if it was signed with the secret, and not long ago.

    Parameters
    ----------
    body : bytes
        The body as it was received: a signature is one of bytes, not of parsed JSON.
    headers : mapping of str to str
        The headers of the request; upper and lower case are the same.
    secret : str
        The secret that the service was started with.
    max_age : float, default 300.0
        Seconds that may lie between the signature and now, in either direction.
    now : float, optional
        Seconds since 1970; default: the time of this machine.

    Returns
    -------
    HealthNotice
        The notice. A service that got no answer sends it again, with the same `id`.

    Raises
    ------
    WebhookError
        If a header is missing, the signature is wrong or too old, or the body cannot be read.

    References
    ----------
    .. [1] Standard Webhooks, https://www.standardwebhooks.com

    Examples
    --------
    >>> secret, stamp = "a secret of the receiver", "1000"
    >>> body = msgspec.json.encode(HealthNotice("s.7", "s", None, "broken", "ok", 999.0, 90, "."))
    >>> headers = {"webhook-id": "s.7", "webhook-timestamp": stamp}
    >>> headers["webhook-signature"] = signature(secret_key(secret), "s.7", stamp, body)
    >>> verify_webhook(body, headers, secret, now=1010.0).status
    'broken'
    """
    found = {name.lower(): value for name, value in headers.items()}
    missing = [name for name in (ID, TIMESTAMP, SIGNATURE) if name not in found]
    if missing:
        raise WebhookError(f"the request has no {missing[0]} header: it is not a webhook.")
    _check_age(found[TIMESTAMP], max_age, time.time() if now is None else now)
    wanted = signature(secret_key(secret), found[ID], found[TIMESTAMP], body)
    signed = found[SIGNATURE].encode("utf-8", "surrogateescape").split()  # may be several
    if not any(hmac.compare_digest(wanted.encode(), each) for each in signed):
        raise WebhookError("the signature does not match: check that both sides have one secret.")
    try:
        return _decode(body)
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise WebhookError(f"the body is signed but cannot be read: {error}.") from error


def _check_age(timestamp: str, max_age: float, now: float) -> None:
    if not re.fullmatch(r"[0-9]{1,12}", timestamp):
        raise WebhookError(f"{TIMESTAMP} must be whole seconds since 1970, got {timestamp!r}.")
    age = now - int(timestamp)
    if abs(age) > max_age:
        raise WebhookError(
            f"the webhook was signed {age:.0f} s ago, more than {max_age:.0f} s: it may be a "
            "replay. Check the clocks of both machines."
        )
