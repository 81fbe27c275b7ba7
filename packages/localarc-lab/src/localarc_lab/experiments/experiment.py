"""An experiment: a question, a stream, methods to compare, measurements, tables and figures."""

from __future__ import annotations

import dataclasses
from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Self, TypeAlias, TypeVar

from numpy.typing import NDArray

from localarc import validation
from localarc_lab.experiments.methods import Method

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Data = TypeVar("Data")
Setting = TypeVar("Setting", bound=Hashable)

Row: TypeAlias = dict[str, Any]
"""One row of the results: column names to text, numbers or None."""

Table: TypeAlias = tuple[list[str], list[list[str]]]
"""A header and rows of text, ready to print."""


@dataclass(frozen=True)
class Plan:
    """What to run; None leaves the choice to the experiment.

    Parameters
    ----------
    quick : bool, default False
        Use a small part of the data, as a quick check that everything works.
    seed : int, default 0
        Seed of everything random.
    trials : int, optional
        Number of trials per setting.
    methods : tuple of str, optional
        Names of the methods to run: those of the experiment, of `localarc compare`, or classes of
        your own such as `"my_method.py:Mine"`. By default all of the experiment's.
    length_scales : tuple of float, optional
        Values of the paper's l, in `exp(-d^2 / l)`, for L-ARC.
    alpha : float, optional
        Target risk, between 0 and 1.
    rate : float, optional
        eta in `eta / sqrt(t)`, for ARC, Mondrian and L-ARC.

    Examples
    --------
    >>> Plan(quick=True, methods=("ARC",)).alpha is None
    True
    """

    quick: bool = False
    seed: int = 0
    trials: int | None = None
    methods: tuple[str, ...] | None = None
    length_scales: tuple[float, ...] | None = None
    alpha: float | None = None
    rate: float | None = None

    def __post_init__(self) -> None:
        if self.alpha is not None and not 0.0 < self.alpha < 1.0:
            raise ValueError(
                f"alpha must lie strictly between 0 and 1, got {self.alpha}. It is the mean loss "
                "you accept, e.g. 0.1."
            )
        if self.rate is not None:
            validation.positive("rate", self.rate, "It is eta in eta / sqrt(t), e.g. 1.0.")


@dataclass(frozen=True)
class Task(Generic[Setting]):
    """One method in one trial of one setting: the unit that runs in parallel and is stored.

    Parameters
    ----------
    method : str
        Name of the method.
    setting : hashable
        The variant of the experiment, e.g. a split or a score; None where there is only one.
    trial : int, default 0
        Number of the trial, from 0.

    Examples
    --------
    >>> Task("ARC", "forward").description()
    {'method': 'ARC', 'setting': 'forward', 'trial': 0}
    """

    method: str
    setting: Setting
    trial: int = 0

    def description(self) -> dict[str, str | int | None]:
        """Return the task as JSON values."""
        setting = None if self.setting is None else str(self.setting)
        return {"method": self.method, "setting": setting, "trial": self.trial}


@dataclass(frozen=True)
class Outcome(Generic[Setting]):
    """The result of a task.

    Parameters
    ----------
    task : Task
        What was run.
    calibrator : str
        The calibrator with all its settings, as text.
    rows : list of Row
        Measurements, for the table.
    arrays : mapping of str to array
        Values per round or per cell, for figures and comparisons.
    certificate : mapping
        The calibrator's certificate as JSON values.
    seconds : float, default 0.0
        Wall-clock time of the task.

    Examples
    --------
    >>> Outcome(Task("ARC", None), "ARC(alpha=0.1)", [{"risk": 0.1}], {}, {}).rows
    [{'risk': 0.1}]
    """

    task: Task[Setting]
    calibrator: str
    rows: list[Row]
    arrays: Mapping[str, NDArray[Any]]
    certificate: Mapping[str, object]
    seconds: float = 0.0


@dataclass(frozen=True)
class FigureSpec(Generic[Data, Setting]):
    """A figure of the report.

    Parameters
    ----------
    name : str
        File name without its extension.
    caption : str
        What the figure shows.
    draw : callable
        Draws the results on axes and returns the axes.
    available : callable, optional
        Whether the results contain what the figure needs. By default they always do.

    Examples
    --------
    >>> FigureSpec("risk", "Risk so far.", lambda axes, results: axes).name
    'risk'
    """

    name: str
    caption: str
    draw: Callable[[Axes, Results[Data, Setting]], Axes]
    available: Callable[[Results[Data, Setting]], bool] = lambda results: True


class Experiment(ABC, Generic[Data, Setting]):
    """An experiment of the paper. Subclasses are frozen dataclasses whose fields are the options.

    `name`, `title`, `question`, `claim` (what the paper reports) and `differences` (what differs
    from the paper) are class attributes that the report prints.

    Examples
    --------
    >>> from localarc_lab.experiments import EXPERIMENTS
    >>> beams = EXPERIMENTS["beams"].with_options({"engine": "sionna"})
    >>> beams.options()
    {'engine': 'sionna', 'radio': 'paper', 'city': 'city'}
    """

    name: ClassVar[str]
    title: ClassVar[str]
    question: ClassVar[str]
    claim: ClassVar[str]
    differences: ClassVar[tuple[str, ...]]

    @abstractmethod
    def load(self, plan: Plan) -> Data:
        """Return the data that every task of the plan works on."""

    @abstractmethod
    def digest(self, data: Data) -> str:
        """Return a SHA-256 of everything in the data that results depend on."""

    @abstractmethod
    def methods(self, plan: Plan) -> dict[str, Method]:
        """Return the methods to compare, by name."""

    @abstractmethod
    def settings(self, plan: Plan) -> Sequence[Setting]:
        """Return the variants of the experiment; each runs with every method in every trial."""

    @abstractmethod
    def trials(self, plan: Plan) -> int:
        """Return the number of trials per setting."""

    @abstractmethod
    def perform(
        self, data: Data, task: Task[Setting], method: Method, plan: Plan
    ) -> Outcome[Setting]:
        """Run one task. The result depends on the arguments and the options alone."""

    @abstractmethod
    def summarize(self, data: Data, outcomes: Sequence[Outcome[Setting]]) -> list[Row]:
        """Return the rows of the results table, e.g. means over trials."""

    @abstractmethod
    def findings(self, rows: Sequence[Row]) -> list[str]:
        """Return what the rows show, in sentences, including what contradicts the claim."""

    @abstractmethod
    def tables(self, rows: Sequence[Row]) -> dict[str, Table]:
        """Return the tables of the report, by title."""

    @abstractmethod
    def figures(self) -> tuple[FigureSpec[Data, Setting], ...]:
        """Return the figures of the report."""

    def options(self) -> dict[str, str | None]:
        """Return the options as text; None where an option is not set."""
        values = {item.name: getattr(self, item.name) for item in _fields(self)}
        return {name: None if value is None else str(value) for name, value in values.items()}

    def with_options(self, options: Mapping[str, str]) -> Self:
        """Return the experiment with these options, or raise ValueError if it has no such option.

        Parameters
        ----------
        options : mapping of str to str
            Option names to values, as given on the command line.
        """
        known = {item.name: item for item in _fields(self)}
        for name, value in options.items():
            if name not in known:
                listed = f"Available: {', '.join(known)}." if known else "It has none."
                raise ValueError(f"{self.name} has no option {name!r}. {listed}")
            choices = known[name].metadata["choices"]
            if choices and value not in choices:
                raise ValueError(f"{name} must be {' or '.join(choices)}, got {value!r}.")
        paths = {name for name in options if known[name].metadata["is_path"]}
        values = {k: Path(value) if k in paths else value for k, value in options.items()}
        return dataclasses.replace(self, **values)  # type: ignore[type-var]

    def portable_options(self) -> dict[str, str]:
        """Return the options that differ from their defaults, with `PATH` instead of a path."""
        return {
            item.name: "PATH" if item.metadata["is_path"] else str(getattr(self, item.name))
            for item in _fields(self)
            if getattr(self, item.name) != item.default
        }

    @classmethod
    def option_help(cls) -> dict[str, str]:
        """Return what each option means, by name."""
        return {item.name: item.metadata["help"] for item in _fields(cls)}


def option(help_text: str, choices: Sequence[str] = (), is_path: bool = False) -> dict[str, object]:
    """Return the metadata of a dataclass field that is an option of an experiment.

    Parameters
    ----------
    help_text : str
        One line for `localarc reproduce --list`.
    choices : sequence of str, optional
        The valid values. By default the experiment itself checks the value.
    is_path : bool, default False
        Whether the option names a file or a folder.

    Examples
    --------
    >>> @dataclass(frozen=True)
    ... class Tracing:
    ...     engine: str = field(default="images", metadata=option("Ray tracer"))
    >>> Tracing().engine
    'images'
    """
    return {"help": help_text, "choices": tuple(choices), "is_path": is_path}


def _fields(experiment: object) -> tuple[dataclasses.Field[Any], ...]:
    return dataclasses.fields(experiment)  # type: ignore[arg-type]


@dataclass(frozen=True)
class Results(Generic[Data, Setting]):
    """The results of a run.

    Parameters
    ----------
    experiment : Experiment
        What was run, with its options.
    plan : Plan
        What was requested.
    data : Data
        The data that the tasks worked on.
    data_sha256 : str
        The data's digest.
    outcomes : tuple of Outcome
        The result of each task, in the order of settings, trials and methods.
    rows : tuple of Row
        The results table.
    reused : int, default 0
        Number of tasks whose stored result was used.

    Examples
    --------
    >>> from localarc_lab.experiments import EXPERIMENTS, Plan
    >>> results = Results(EXPERIMENTS["beams"], Plan(), None, "", outcomes=(), rows=())
    >>> results.outcome("ARC", None) is None
    True
    """

    experiment: Experiment[Data, Setting]
    plan: Plan
    data: Data
    data_sha256: str
    outcomes: tuple[Outcome[Setting], ...]
    rows: tuple[Row, ...]
    reused: int = field(default=0, compare=False)

    def tables(self) -> dict[str, Table]:
        """Return the tables that have at least one row, by title."""
        tables = self.experiment.tables(self.rows)
        return {title: table for title, table in tables.items() if table[1]}

    def figures(self) -> list[FigureSpec[Data, Setting]]:
        """Return the figures that these results can show."""
        return [figure for figure in self.experiment.figures() if figure.available(self)]

    def outcome(self, method: str, setting: Setting, trial: int = 0) -> Outcome[Setting] | None:
        """Return the result of one task, or None if it was not part of the plan."""
        wanted = Task(method, setting, trial)
        return next((outcome for outcome in self.outcomes if outcome.task == wanted), None)

    def of_method(self, method: str, *settings: Setting) -> list[Outcome[Setting]]:
        """Return the results of a method in all its trials, of some settings or of all."""
        return [
            outcome
            for outcome in self.outcomes
            if outcome.task.method == method and (not settings or outcome.task.setting in settings)
        ]
