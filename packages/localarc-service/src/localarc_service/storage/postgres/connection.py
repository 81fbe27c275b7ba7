"""Addresses of PostgreSQL databases, and connections that notice when the other end is gone."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import psycopg
from psycopg.conninfo import conninfo_to_dict, make_conninfo

Connection: TypeAlias = "psycopg.Connection[tuple[Any, ...]]"

_SCHEMA_NAME = re.compile(r"[a-z_][a-z0-9_]{0,62}")

# Both ends give up a silent connection after about ten seconds. These can be overridden in the URL.
_CLIENT: dict[str, Any] = {
    "application_name": "localarc",
    "connect_timeout": 5,
    "keepalives_idle": 3,
    "keepalives_interval": 2,
    "keepalives_count": 3,
    "tcp_user_timeout": 8_000,  # ms
}
_SESSION = {
    "tcp_keepalives_idle": "4",
    "tcp_keepalives_interval": "2",
    "tcp_keepalives_count": "3",
    "tcp_user_timeout": "10000",
    "idle_in_transaction_session_timeout": "30000",  # ms; an owner that stalls inside one
    "lock_timeout": "10000",
}


@dataclass(frozen=True)
class Address:
    """A database, and the schema in it that belongs to one service and those that stand by."""

    url: str = field(repr=False)  # may contain a password
    schema: str = "localarc"

    def __post_init__(self) -> None:
        if not _SCHEMA_NAME.fullmatch(self.schema) or self.schema.startswith("pg_"):
            raise ValueError(
                f"the schema must be lower-case letters, digits and _, got {self.schema!r}: "
                "choose a name such as localarc."
            )
        try:
            conninfo_to_dict(self.url)
        except psycopg.Error as error:
            raise ValueError(
                "the store must be a PostgreSQL URL such as postgresql://user@host/database: "
                f"{str(error).strip()}."
            ) from error

    @property
    def lock_key(self) -> int:
        """The advisory lock of the schema's owner; locks are counted per database."""
        digest = hashlib.blake2b(f"localarc {self.schema}".encode(), digest_size=8).digest()
        return int.from_bytes(digest, "little", signed=True)

    def connect(self) -> Connection:
        """A connection that commits each statement, unless it is in a transaction."""
        given = conninfo_to_dict(self.url)
        usual = {name: value for name, value in _CLIENT.items() if name not in given}
        connection: Connection = psycopg.connect(make_conninfo(self.url, **usual), autocommit=True)
        try:
            for name, value in (_SESSION | {"search_path": self.schema}).items():
                connection.execute("SELECT set_config(%s, %s, false)", (name, value))
        except psycopg.Error:
            connection.close()
            raise
        return connection
