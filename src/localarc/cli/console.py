"""Console output: tables, progress bars and notes."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Callable, Iterator, Sequence

import click
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from localarc.measures import RISK, SIZE
from localarc.measures.text import mean_size, number, plus_minus
from localarc.reporting.assessment import Assessment
from localarc.reporting.format import (
    describe_bound,
    describe_score_range,
    format_bound,
    omitted_groups,
)

_LONG = 3000  # rounds; shorter runs end before a progress bar would be read
_MAX_GROUPS = 20
_STEP = 256
_WIDE = 200


def print_tables(assessments: Sequence[Assessment]) -> None:
    """Print verdict and tightest bound per method, then the tables of methods and groups."""
    console = Console(highlight=False)
    if not console.is_terminal:
        console.width = _WIDE  # a file or a pipe has no width to wrap at
    for assessment in assessments:
        console.print(_verdict(assessment), soft_wrap=True)
    console.print(_methods(assessments))
    if assessments[0].groups:
        console.print(_groups(assessments))
    console.print(escape(describe_score_range(assessments[0])), soft_wrap=True)


def _verdict(assessment: Assessment) -> str:
    """Return the verdict on one method, and its tightest bound."""
    style = "bold" if assessment.verdict.good else "bold red"
    text = f"{assessment.run.name}: {assessment.verdict.text}"
    return f"[{style}]{escape(text)}[/]\n{escape(describe_bound(assessment.certificate))}"


def _methods(assessments: Sequence[Assessment]) -> Table:
    """Return the table of methods."""
    head = ["method", "rounds", RISK.title, "target", "bound on |risk - target|", SIZE.title]
    table = _table(*head)
    for assessment in assessments:
        certificate = assessment.certificate
        table.add_row(
            escape(assessment.run.name),
            f"{certificate.rounds:,}",
            RISK.text(certificate.risk),
            f"{certificate.alpha:g}",
            format_bound(certificate.bound),
            mean_size(assessment.size, assessment.run.record.unbounded),
        )
    return table


def _groups(assessments: Sequence[Assessment]) -> Table:
    """Return the table of groups, from the lowest to the highest risk."""
    columns = [f"{what}, {item.run.name}" for item in assessments for what in ("risk", "size")]
    table = _table("group", "rounds", *columns)
    by_group = [{row.group: row for row in item.groups} for item in assessments]
    rows = assessments[0].groups
    for row in rows[-_MAX_GROUPS:]:
        cells = [escape(str(row.group)), f"{row.count:,}"]
        for groups in by_group:
            mine = groups[row.group]
            cells += [plus_minus(mine.risk, mine.standard_error), number(mine.size)]
        table.add_row(*cells)
    if len(rows) > _MAX_GROUPS:
        table.caption = omitted_groups(len(rows) - _MAX_GROUPS)
    return table


def _table(first: str, *rest: str) -> Table:
    """Return an empty table whose columns, but for the first, are numbers."""
    table = Table(box=None, header_style="bold", pad_edge=False)
    table.add_column(first)
    for name in rest:
        table.add_column(escape(name), justify="right")
    return table


def print_rows(title: str, head: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print a table with a title."""
    console = Console(highlight=False)
    if not console.is_terminal:
        console.width = _WIDE
    table = _table(*map(escape, head))
    table.title, table.title_justify = escape(title), "left"
    for row in rows:
        table.add_row(*map(escape, row))
    console.print(table)


@contextlib.contextmanager
def task_bar(quiet: bool) -> Iterator[Callable[[int, int], None] | None]:
    """Show a progress bar of finished tasks on standard error, if that is a terminal."""
    console = Console(stderr=True)
    if quiet or not console.is_terminal:
        yield None
        return
    from rich.progress import Progress

    with Progress(console=console, transient=True) as bar:
        task = bar.add_task("running", total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)


@contextlib.contextmanager
def progress_bar(what: str, rounds: int, quiet: bool) -> Iterator[Callable[[int], None] | None]:
    """Show a progress bar of a long replay on standard error, if that is a terminal."""
    console = Console(stderr=True)
    if quiet or rounds < _LONG or not console.is_terminal:
        yield None
        return
    from rich.progress import Progress

    pending = 0

    def advance(done: int) -> None:  # redrawing the bar costs more than a round
        nonlocal pending
        pending += done
        if pending >= _STEP:
            bar.advance(task, pending)
            pending = 0

    with Progress(console=console, transient=True) as bar:
        task = bar.add_task(what, total=rounds)
        yield advance


@contextlib.contextmanager
def warnings_as_notes() -> Iterator[None]:
    """Print each distinct warning once, as one line on standard error."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield
    for text in dict.fromkeys(str(warning.message) for warning in caught):
        click.echo(f"note: {text}", err=True)
