"""The options that name a store: a data folder, or a schema of a PostgreSQL database."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import click

from localarc.cli.group import BadInput

if TYPE_CHECKING:
    from localarc.service.storage.interface import Store


def database_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Adds `--store` and `--store-schema` to a command."""
    schema = click.option(
        "--store-schema",
        default="localarc",
        metavar="NAME",
        show_default=True,
        help="Schema of the database; each service of its own has another.",
    )
    url = click.option(
        "--store",
        envvar="LOCALARC_STORE",
        metavar="URL",
        help="Database that keeps the streams: postgresql://user@host/database, or LOCALARC_STORE.",
    )
    return url(schema(function))


@contextlib.contextmanager
def owned_database(url: str, schema: str) -> Iterator[Store]:
    """The store in a database that no service uses."""
    from localarc.service.storage.opening import open_store, postgres_address

    with contextlib.closing(open_store(postgres_address(url, schema))) as store:
        try:
            if not store.acquire():
                raise ValueError(
                    f"a service uses schema {schema!r} of the database: stop it first."
                )
            yield store
        except store.errors as error:
            raise BadInput(f"the database cannot be used: {error}.") from error
