"""Names of streams for keys of any text, and back: what a name cannot contain is escaped.

Letters, digits, ".", "_" and "-" stay as they are. Every byte of another character, in UTF-8, is
`.xHH`, and `0xHH` at the beginning, where a name has a letter or a digit. Text that looks like an
escape gets one, so that every name belongs to one key.
"""

from __future__ import annotations

import re

from localarc_client.wire.fields import STREAM_NAME_PATTERN

_LONGEST = 64
_TO_ESCAPE = re.compile(r"^0(?=x[0-9A-F]{2})|^[^A-Za-z0-9]|\.(?=x[0-9A-F]{2})|[^A-Za-z0-9._-]")
_ESCAPE = re.compile(rb"(?:^0|\.)x([0-9A-F]{2})")


def stream_name(key: str) -> str:
    """Return the name of the stream that `localarc import` makes of a key.

    Parameters
    ----------
    key : str
        A key of keyed streams. Its name must have at most 64 characters: an escaped byte has four.

    Examples
    --------
    >>> stream_name("customer-17"), stream_name("DE/Berlin"), stream_name("_all")
    ('customer-17', 'DE.x2FBerlin', '0x5Fall')
    """
    name = _TO_ESCAPE.sub(_escaped, key)
    if not re.fullmatch(STREAM_NAME_PATTERN, name):
        raise ValueError(
            f"the key {key!r} would be a stream named {name!r}, of {len(name)} character(s): a "
            f"name has between 1 and {_LONGEST}. Give the key another name first."
        )
    return name


def key_of_stream(name: str) -> str:
    """Return the key of a stream: the inverse of `stream_name`.

    Parameters
    ----------
    name : str
        The name of a stream; ValueError if no key has it.

    Examples
    --------
    >>> key_of_stream("DE.x2FBerlin"), key_of_stream("demand")
    ('DE/Berlin', 'demand')
    """
    plain = _ESCAPE.sub(lambda found: bytes([int(found[1], 16)]), name.encode())
    key = plain.decode(errors="replace")
    if _TO_ESCAPE.sub(_escaped, key) != name:
        raise ValueError(
            f"no key has a stream named {name!r}: in names of keys, .x and two hexadecimal digits "
            "stand for what a name cannot contain. Rename the stream first."
        )
    return key


def _escaped(found: re.Match[str]) -> str:
    text = "".join(f".x{byte:02X}" for byte in found[0].encode())
    return "0" + text[1:] if found.start() == 0 else text
