"""Sections of the benchmark that run by themselves: rows, CPU time, and a ratio in the same run."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from rich.table import Table


@dataclass(frozen=True)
class Cost:
    """CPU microseconds per event of one way, and relative to another one."""

    way: str
    events: int
    microseconds: float
    ratio: float
    relative_to: str


def cpu(call: Callable[[], Any], times: int = 3) -> float:
    """CPU seconds of this process, the least of a few calls."""
    spent = []
    for _ in range(times):
        start = time.process_time()
        call()
        spent.append(time.process_time() - start)
    return min(spent)


def table(title: str, rows: Sequence[Cost]) -> Table:
    """The rows to print."""
    names = "what", "events", "CPU us per event", "ratio", "to"
    made = Table(*names, title=title, box=None, header_style="bold", title_justify="left")
    for row in rows:
        numbers = f"{row.events:,}", f"{row.microseconds:.2f}", f"{row.ratio:.2f}"
        made.add_row(row.way, *numbers, row.relative_to)
    return made
