"""Sweeps: one task at every point of a grid, with the same rows wherever they are computed.

Everything goes through joblib and never names a backend, so that
`with joblib.parallel_config("dask"): ...` moves a sweep to a cluster.
"""

from __future__ import annotations

import hashlib
import itertools
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

if TYPE_CHECKING:
    import pandas

from localarc import validation
from localarc.running.dask import WorkerLostError
from localarc.running.parallel import as_they_finish
from localarc.tables.from_rows import columns_from
from localarc.tables.to_pandas import pandas_frame

Row: TypeAlias = dict[str, Any]
Task: TypeAlias = Callable[..., Mapping[str, Any]]
Grid: TypeAlias = Mapping[str, Iterable[Any]] | Iterable[Mapping[str, Any]]


@dataclass(frozen=True, eq=False)
class Sweep:
    """The rows of a sweep in the order of its grid: the parameters of a task, then its results.

    Its `hash` is a SHA-256 of all rows, to the last bit of every number, for comparing sweeps.

    Parameters
    ----------
    rows : tuple of dict
        One for each point of the grid.

    Examples
    --------
    >>> Sweep(({"alpha": 0.1, "risk": 0.09}, {"alpha": 0.2, "risk": 0.21})).columns()
    {'alpha': [0.1, 0.2], 'risk': [0.09, 0.21]}
    """

    rows: tuple[Row, ...]
    hash: str = field(init=False)

    def __post_init__(self) -> None:
        text = json.dumps([_canonical(row) for row in self.rows], separators=(",", ":"))
        object.__setattr__(self, "hash", hashlib.sha256(text.encode()).hexdigest())

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[Row]:
        return iter(self.rows)

    def __repr__(self) -> str:
        return f"Sweep({len(self)} rows, hash {self.hash[:12]})"

    def columns(self) -> dict[str, list[Any]]:
        """The table as a dict of columns; None where a row has no value."""
        return columns_from(self.rows)

    def to_pandas(self) -> pandas.DataFrame:
        """The table as a pandas DataFrame."""
        return pandas_frame(self.columns())


def sweep(task: Task, grid: Grid, seed: int = 0, jobs: int | None = None) -> Sweep:
    """Run a task at every point of a grid.

    Parameters
    ----------
    task : callable
        `task(random, **parameters)`, which returns its results by name. `random` is a NumPy
        generator: task i gets the i-th child of `SeedSequence(seed)`, so that no result depends on
        which worker ran it.
    grid : mapping or list of dict
        Maps parameters to lists of values, of which all combinations are run, the last parameter
        fastest; or lists the points one by one.
    seed : int, default 0
        Same seed, same results.
    jobs : int or None, default None
        The number of processes; None leaves it to `joblib.parallel_config`, which means one unless
        it says otherwise.

    Returns
    -------
    Sweep
        A row for each point.

    Raises
    ------
    WorkerLostError
        On dask, if tasks killed their workers; its `rows` are those of the tasks that finished.

    Examples
    --------
    >>> def estimate(random, size):
    ...     return {"mean": float(random.normal(size=size).mean().round(3))}
    >>> sweep(estimate, {"size": [10, 1000]}, seed=1).columns()
    {'size': [10, 1000], 'mean': [..., ...]}
    """
    if not callable(task):
        raise TypeError(
            f"task must be a function task(random, **parameters), got {task!r}. "
            "It returns its results by name, e.g. {'risk': 0.1}."
        )
    points = _points(grid)
    seeds = np.random.SeedSequence(validation.integer("seed", seed, 0, "It seeds every task."))
    arguments = zip(itertools.repeat(task), points, seeds.spawn(len(points)), strict=False)
    rows: dict[int, Row] = {}
    try:
        for i, row in as_they_finish(_row, list(arguments), jobs):
            rows[i] = row
    except WorkerLostError as error:
        error.rows = tuple(rows[i] for i in sorted(rows))
        raise
    return Sweep(tuple(rows[i] for i in range(len(points))))


def _row(task: Task, point: Row, seed: np.random.SeedSequence) -> Row:
    """Parameters and results of one task, in plain values."""
    try:
        found = task(np.random.default_rng(seed), **point)
        if not isinstance(found, Mapping):
            raise TypeError(f"a task must return its results by name, got {found!r:.80}.")
        twice = sorted(set(point) & set(found))
        if twice:
            raise ValueError(f"the task returns {twice[0]!r}, which is one of its parameters.")
        row = {str(name): _plain(value) for name, value in (point | dict(found)).items()}
        _canonical(row)  # raises for what has no hash
    except Exception as error:
        error.add_note(f"in the task of the sweep with {point}")
        raise
    return row


def _points(grid: Grid) -> list[Row]:
    try:
        if isinstance(grid, Mapping):
            values = [[each] if isinstance(each, str) else list(each) for each in grid.values()]
            points = [dict(zip(grid, point, strict=True)) for point in itertools.product(*values)]
        else:
            points = [dict(**point) for point in grid]
    except TypeError as error:
        raise TypeError(
            f"grid must map parameters to lists of values, or list parameters by name, got "
            f"{grid!r:.80}. For example {{'alpha': [0.1, 0.2]}}."
        ) from error
    if not points:
        raise ValueError(
            f"grid has no point, got {grid!r:.80}. Pass at least one value per parameter."
        )
    return points


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value


def _canonical(value: Any) -> Any:
    """A value as JSON that differs whenever a bit of it does."""
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return {"float": value.hex()}
    if isinstance(value, np.ndarray) and value.dtype.kind in "biuf":
        digest = hashlib.sha256(np.ascontiguousarray(value).tobytes()).hexdigest()
        return {"array": [value.dtype.str, list(value.shape), digest]}
    if isinstance(value, np.generic):
        return _canonical(value.item())
    if isinstance(value, Mapping):
        return {"map": [[str(name), _canonical(each)] for name, each in value.items()]}
    if isinstance(value, list | tuple):
        return [_canonical(each) for each in value]
    if hasattr(value, "__dataclass_fields__"):
        return {"repr": repr(value)}
    raise TypeError(
        f"a row of a sweep holds numbers, text, arrays of numbers, lists and dicts of them, got "
        f"{value!r:.80}."
    )
