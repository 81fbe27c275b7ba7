"""Options of `localarc serve` about logs."""

from __future__ import annotations

import functools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from localarc_service.logs import Format, LogOptions

_OPTIONS = (
    click.option(
        "--log-format",
        default="text",
        type=click.Choice(["text", "json"]),
        help="Format of the log on standard error: lines of text, or of JSON.",
    ),
    click.option("--log-requests", is_flag=True, help="Log a line for every request."),
    click.option(
        "--audit-log",
        type=click.Path(path_type=Path, dir_okay=False, allow_dash=True),
        help="File to append a line of JSON to for every change: who, what, which stream; - for "
        "standard error.",
    ),
    click.option(
        "--audit-predictions",
        is_flag=True,
        help="List every prediction and every loss in the audit log, instead of counting them.",
    ),
)


def log_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options to a command, which receives them as `logs`."""

    @functools.wraps(command)
    def run(
        log_format: Format,
        log_requests: bool,
        audit_log: Path | None,
        audit_predictions: bool,
        **others: Any,
    ) -> Any:
        logs = LogOptions(log_format, log_requests, audit_log, audit_predictions)
        return command(logs=logs, **others)

    for option in reversed(_OPTIONS):
        run = option(run)
    return run
