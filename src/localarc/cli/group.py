"""The group of commands: errors are one sentence on standard error and exit code 2."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from typing import Any

import click


class BadInput(click.ClickException):
    """Input that cannot be used; the message says what to do."""

    exit_code = 2


class OneSentence(click.Group):
    """A group whose errors are one sentence on standard error and exit code 2."""

    def main(self, *args: Any, **extra: Any) -> Any:
        """Run the command and leave with its exit code."""
        try:
            fixed = {"prog_name": "localarc", "standalone_mode": False}
            result = super().main(*args, **{**extra, **fixed})
        except click.exceptions.NoArgsIsHelpError as error:
            click.echo(error.format_message(), err=True)
            sys.exit(2)
        except click.ClickException as error:
            click.echo(f"localarc: {' '.join(error.format_message().split())}", err=True)
            sys.exit(2)
        except (click.Abort, KeyboardInterrupt):
            click.echo("localarc: stopped; no report was written.", err=True)
            sys.exit(130)
        sys.exit(result if isinstance(result, int) else 0)


@contextlib.contextmanager
def refusing() -> Iterator[None]:
    """Errors that tell the user what to do become the command's one sentence."""
    from localarc.experiments.data import DataError

    try:
        yield
    except OSError as error:
        raise BadInput(f"{error.filename or 'file'}: {error.strerror or error}.") from error
    except (ValueError, TypeError, ImportError, ArithmeticError, MemoryError, DataError) as error:
        raise BadInput(str(error)) from error
