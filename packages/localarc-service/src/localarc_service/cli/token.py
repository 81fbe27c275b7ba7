"""`localarc token`: make a token for the service, of which only the digest is stored."""

from __future__ import annotations

import time
from pathlib import Path

import click

from localarc.cli.group import user_errors

_DAY = 86_400


@click.command("token", short_help="Make a token for the HTTP service.")
@click.option("--name", required=True, help="Whose it is; the audit log shows this name.")
@click.option(
    "--scope",
    default="write",
    type=click.Choice(["read", "write", "admin"]),
    help="What it permits; each scope includes the previous ones.",
)
@click.option("--streams", help="Names and prefixes, such as `demand,eu-*`.  [default: all]")
@click.option("--expires", metavar="DATE", help="Date, or time, in UTC.  [default: never]")
@click.option("--days", type=click.IntRange(1), help="Days until it expires, instead of --expires.")
@click.option("--requests", type=click.FloatRange(0, min_open=True), help="Requests a second.")
@click.option("--max-streams", type=click.IntRange(1), help="Streams that match --streams.")
@click.option(
    "--token-file",
    type=click.Path(path_type=Path, dir_okay=False),
    help="File to add it to; a service that uses the file reads it again by itself.",
)
def token_command(
    name: str,
    scope: str,
    streams: str | None,
    expires: str | None,
    days: int | None,
    requests: float | None,
    max_streams: int | None,
    token_file: Path | None,
) -> None:
    """Make a token: 256 random bits, of which the token file has the SHA-256 digest.

    The token itself is printed, once. To withdraw it, delete its line.

    \b
    Example:
      localarc token --name team-eu --streams 'eu-*' --days 90 --token-file tokens
    """
    with user_errors():
        if expires is not None and days is not None:
            raise ValueError("pass --expires or --days, not both.")
        if days is not None:
            expires = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() + days * _DAY))
        limits = {
            "streams": streams,
            "expires": expires,
            "requests": None if requests is None else f"{requests:g}",
            "max-streams": max_streams,
        }
        options = [f"{key}={value}" for key, value in limits.items() if value is not None]
        secret, line = _make(scope, [f"name={name}", *options], token_file)
    click.echo(secret)
    if token_file is None:
        click.echo(f"Add this line to the token file: {line}", err=True)


def _make(scope: str, options: list[str], file: Path | None) -> tuple[str, str]:
    """A token and its line, which is added to the file unless that is None."""
    import secrets

    from localarc_service.access.token_file import add, line_of, parse

    secret = secrets.token_urlsafe(32)
    token = parse([scope, secret, *options], "token")
    if file is not None:
        add(file, token)
    return secret, line_of(token)
