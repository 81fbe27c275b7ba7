"""The options that name a database, of all commands that work with stored streams."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click


def database_options(command: Callable[..., Any]) -> Callable[..., Any]:
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
        help="PostgreSQL database, instead of a folder: postgresql://user@host/database, or "
        "LOCALARC_STORE.",
    )
    return url(schema(command))
