"""Logs of the service on standard error: as text, or as one JSON object per line."""

from __future__ import annotations

import json
import logging
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal, TypeAlias

Format: TypeAlias = Literal["text", "json"]


@dataclass(frozen=True)
class LogOptions:
    """What is logged, and how; `audit_log` is a file, `-` for standard error, or None for none."""

    format: Format = "text"
    requests: bool = False
    audit_log: Path | None = None
    audit_predictions: bool = False


class JsonFormatter(logging.Formatter):
    """A line as JSON: time, level, logger, message, and the fields that the caller added."""

    def format(self, record: logging.LogRecord) -> str:
        """The line."""
        line: dict[str, Any] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
            **getattr(record, "fields", {}),
        }
        if record.exc_info:
            line["exception"] = self.formatException(record.exc_info)
        return json.dumps(line)


def configure(options: LogOptions) -> None:
    """Send all log lines of this process to standard error."""
    handler = logging.StreamHandler()
    text = logging.Formatter("%(asctime)s %(levelname)s %(message)s")
    handler.setFormatter(JsonFormatter() if options.format == "json" else text)
    logging.basicConfig(level=logging.INFO, handlers=[handler])
    if options.requests:
        logging.getLogger("localarc.requests").setLevel(logging.INFO)
