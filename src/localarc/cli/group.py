"""The command group: an error is one line on standard error and exit status 2."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from localarc.missing_data import DataError


class BadInput(click.ClickException):
    """Unusable input; the message says how to fix it."""

    exit_code = 2


class Interrupted(Exception):  # noqa: N818 - not an error
    """The user interrupted a command that stores finished runs; the message says where."""


class LocalarcGroup(click.Group):
    """A group that reports an error in one line and exits with status 2."""

    def main(self, *args: Any, **extra: Any) -> Any:
        """Run the command and exit with its status."""
        try:
            fixed = {"prog_name": "localarc", "standalone_mode": False}
            result = super().main(*args, **{**extra, **fixed})
        except click.exceptions.NoArgsIsHelpError as error:
            click.echo(error.format_message(), err=True)
            sys.exit(2)
        except click.ClickException as error:
            click.echo(f"localarc: {' '.join(error.format_message().split())}", err=True)
            sys.exit(2)
        except Interrupted as stop:
            click.echo(f"localarc: interrupted; {stop}", err=True)
            sys.exit(130)
        except (click.Abort, KeyboardInterrupt):
            click.echo("localarc: interrupted; no output was written.", err=True)
            sys.exit(130)
        sys.exit(result if isinstance(result, int) else 0)


@contextlib.contextmanager
def resumable(runs: Path, suffix: str) -> Iterator[None]:
    """Say, after an interruption, that finished runs are stored and how to go on."""
    try:
        yield
    except KeyboardInterrupt as stop:
        finished = len(list(runs.glob(f"*{suffix}")))
        raise Interrupted(
            f"{finished} finished run(s) are kept in {runs}. Run the same command again to go on."
            if finished
            else "no run had finished, and no output was written."
        ) from stop


@contextlib.contextmanager
def user_errors() -> Iterator[None]:
    """Turn errors that the user can fix into `BadInput`, without a traceback."""
    try:
        yield
    except OSError as error:
        raise BadInput(f"{error.filename or 'file'}: {error.strerror or error}.") from error
    except (ValueError, TypeError, ImportError, ArithmeticError, MemoryError, DataError) as error:
        raise BadInput(str(error)) from error
