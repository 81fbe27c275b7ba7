"""What an experiment is: a question, a stream, methods, trials, measurements and figures."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

from localarc.calibrators.base import BaseCalibrator

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Row = dict[str, Any]
"""One line of the results: text, numbers and None."""

Table = tuple[list[str], list[list[str]]]
"""A head and a body of text, to be shown."""


@dataclass(frozen=True)
class Plan:
    """What was asked for; None where the experiment decides."""

    quick: bool = False
    seed: int = 0
    trials: int | None = None
    methods: tuple[str, ...] | None = None
    length_scales: tuple[float, ...] | None = None
    source: str | None = None
    source_kind: str = "data"
    engine: str | None = None
    as_released: bool = False


@dataclass(frozen=True)
class Task:
    """One method in one trial: the unit that runs in parallel and is kept when it is done."""

    method: str
    trial: str


@dataclass(frozen=True)
class Outcome:
    """What came of a task: rows for the table, arrays for figures and comparisons."""

    task: Task
    calibrator: str
    rows: list[Row]
    arrays: Mapping[str, NDArray[Any]]
    certificate: Mapping[str, Any]
    seconds: float = 0.0


def _always(results: Results) -> bool:
    return True


@dataclass(frozen=True)
class Drawing:
    """A figure of the report: what is drawn, what to see in it, and when it can be drawn."""

    name: str
    caption: str
    draw: Callable[[Axes, Results], Axes]
    possible: Callable[[Results], bool] = _always


@dataclass(frozen=True)
class Experiment:
    """A declaration. The functions are at module level, so that workers can import them.

    `sources` are the kinds of data that may be named instead of what the experiment finds itself,
    `engines` what can compute its data, and `has_released` says that it can follow the released
    code where that differs from the paper.
    """

    name: str
    title: str
    question: str
    claim: str
    differs: tuple[str, ...]
    load: Callable[[Plan], Any]
    digest: Callable[[Any], str]
    methods: Callable[[Plan], Mapping[str, Callable[[], BaseCalibrator]]]
    trials: Callable[[Plan], Sequence[str]]
    perform: Callable[[Any, Task, Callable[[], BaseCalibrator], Plan], Outcome]
    tabulate: Callable[[Any, Sequence[Outcome]], list[Row]]
    findings: Callable[[Sequence[Row]], list[str]]
    tables: Mapping[str, Callable[[Sequence[Row]], Table]]
    drawings: tuple[Drawing, ...]
    sources: tuple[str, ...] = ("data",)
    engines: tuple[str, ...] = ()
    has_released: bool = False


@dataclass(frozen=True)
class Results:
    """What an experiment came to."""

    experiment: Experiment
    plan: Plan
    data: Any
    data_sha256: str
    outcomes: tuple[Outcome, ...]
    rows: tuple[Row, ...]
    reused: int = field(default=0, compare=False)

    def tables(self) -> dict[str, Table]:
        """The tables that have a row in these results."""
        made = {title: make(self.rows) for title, make in self.experiment.tables.items()}
        return {title: table for title, table in made.items() if table[1]}

    def drawings(self) -> list[Drawing]:
        """The figures that can be drawn of these results."""
        return [drawing for drawing in self.experiment.drawings if drawing.possible(self)]

    def outcome(self, method: str, trial: str) -> Outcome | None:
        """What came of one task, or None if it was not asked for."""
        wanted = Task(method, trial)
        return next((each for each in self.outcomes if each.task == wanted), None)
