"""The token file: one line per token, `SCOPE TOKEN`, and what limits it as `key=value`.

    write sha256:9f86d0...  name=team-eu streams=eu-*,demand expires=2027-03-01 requests=50

The token is the secret itself, or its SHA-256 digest. `localarc token` makes such lines.
"""

from __future__ import annotations

import math
import os
import re
from datetime import UTC, datetime
from pathlib import Path

from localarc import atomic_write
from localarc_service.access.token import Scope, Token, digest_of

MIN_LENGTH = 16
KEYS = "name", "streams", "expires", "requests", "max-streams"
_COMMENT = re.compile(r"(?:^|\s)#")
_DIGEST = re.compile(r"sha256:([0-9a-f]{64})")
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_PATTERN = re.compile(r"\*|[A-Za-z0-9][A-Za-z0-9._-]{0,63}\*?")


def read(path: Path) -> list[Token]:
    """The tokens of a file. Errors name the line, and never show a token.

    A `#` starts a comment, except inside a token. Of two lines with one token, the later one holds.
    """
    found: dict[bytes, Token] = {}
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        words = _COMMENT.split(line)[0].split()
        if words:
            try:
                token = parse(words, f"token-{number}")
            except ValueError as error:
                raise ValueError(f"{path}, line {number}: {error}") from None
            found[token.digest] = token
    if not found:
        raise ValueError(f"{path} contains no token: add lines such as `write TOKEN`.")
    names = [token.name for token in found.values()]
    for name in names:
        if names.count(name) > 1:
            raise ValueError(f"{path} has two tokens named {name}: names must differ.")
    return list(found.values())


def parse(words: list[str], default_name: str) -> Token:
    """The token of a line, given its words."""
    if len(words) < 2 or words[0].upper() not in Scope.__members__:
        raise ValueError("expected read, write or admin and a token.")
    options = dict(map(_option, words[2:]))
    if len(options) < len(words) - 2:
        raise ValueError("a key occurs twice.")
    streams = _streams(options.get("streams", "*"))
    if "max-streams" in options and not streams:
        raise ValueError("max-streams requires streams=PATTERN: it counts those that match.")
    return Token(
        name=_checked_name(options.get("name", default_name)),
        scope=Scope[words[0].upper()],
        digest=_digest(words[1]),
        streams=streams,
        expires=time_of(options["expires"]) if "expires" in options else math.inf,
        requests=_positive("requests", options.get("requests")),
        max_streams=_positive("max-streams", options.get("max-streams")),
    )


def line_of(token: Token) -> str:
    """The line of a token, with its digest.

    >>> line_of(Token("eu", Scope.WRITE, digest_of("0123456789abcdef"), ("eu-*",), requests=50))
    'write sha256:9f9f5111f7b27a781f1f1ddde5ebc2dd2b796bfc7365c9c28b548e564176929f name=eu streams=eu-* requests=50'
    """  # noqa: E501
    words = [token.scope.name.lower(), f"sha256:{token.digest.hex()}", f"name={token.name}"]
    if token.streams:
        words.append(f"streams={','.join(token.streams)}")
    if token.expires < math.inf:
        words.append(f"expires={datetime.fromtimestamp(token.expires, UTC):%Y-%m-%dT%H:%M:%SZ}")
    if token.requests < math.inf:
        words.append(f"requests={token.requests:g}")
    if token.max_streams < math.inf:
        words.append(f"max-streams={token.max_streams:g}")
    return " ".join(words)


def time_of(text: str) -> float:
    """The time that a date, or a date and time, begins; in UTC, unless it says otherwise.

    >>> time_of("2027-03-01"), time_of("2027-03-01T02:00:00+02:00")
    (1803859200.0, 1803859200.0)
    """
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        raise ValueError(
            "expires must be a date such as 2027-03-01, or a time such as 2027-03-01T12:00:00Z."
        ) from None
    return (found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp()


def _option(word: str) -> tuple[str, str]:
    key, equals, value = word.partition("=")
    if not equals or key not in KEYS:
        raise ValueError(f"after the token, expected KEY=VALUE with a key of {', '.join(KEYS)}.")
    return key, value


def _digest(word: str) -> bytes:
    given = _DIGEST.fullmatch(word)
    if given:
        return bytes.fromhex(given[1])
    if len(word) < MIN_LENGTH:
        raise ValueError(
            f"a token must have at least {MIN_LENGTH} characters; `localarc token` makes one."
        )
    return digest_of(word)


def _checked_name(name: str) -> str:
    if not _NAME.fullmatch(name):
        raise ValueError("name must be 1 to 64 letters, digits, dots, underscores and hyphens.")
    return name


def _streams(text: str) -> tuple[str, ...]:
    """The patterns; none for `*`, which is everything."""
    patterns = text.split(",")
    if not all(map(_PATTERN.fullmatch, patterns)):
        raise ValueError("streams must be names, or prefixes that end with *, such as demand,eu-*.")
    return () if "*" in patterns else tuple(patterns)


def _positive(key: str, text: str | None) -> float:
    if text is None:
        return math.inf
    try:
        value = float(text) if key == "requests" else int(text)
    except ValueError:
        value = math.nan
    if not 0 < value < math.inf:
        raise ValueError(f"{key} must be a positive number.")
    return value


def add(path: Path, token: Token) -> None:
    """Add a token to a file, which is created if it does not exist; other lines stay."""
    if path.exists():
        if token.name in [other.name for other in read(path)]:
            raise ValueError(f"{path} has a token named {token.name}: choose another name.")
        text = path.read_text(encoding="utf-8")
        mode = path.stat().st_mode & 0o777
    else:
        text, mode = "", 0o600
    text += "" if not text or text.endswith("\n") else "\n"
    previous = os.umask(0o777 & ~mode)
    try:
        atomic_write.write(path, f"{text}{line_of(token)}\n".encode())
    finally:
        os.umask(previous)
