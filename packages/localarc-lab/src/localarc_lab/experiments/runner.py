"""The runner: tasks in parallel, stored as they finish, and resumed after an interruption."""

from __future__ import annotations

import hashlib
import io
import json
import os
import time
import zipfile
import zlib
from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np

from localarc import atomic_write
from localarc.reporting.provenance import versions
from localarc.running.parallel import as_they_finish
from localarc_lab.compare import methods as compared
from localarc_lab.experiments.experiment import (
    Data,
    Experiment,
    Outcome,
    Plan,
    Results,
    Setting,
    Task,
)
from localarc_lab.experiments.methods import Method
from localarc_lab.sources import source_digests

Progress = Callable[[int, int], None]
"""Called with the number of finished tasks and the number of all tasks."""


def run(
    experiment: Experiment[Data, Setting],
    plan: Plan,
    folder: str | os.PathLike[str],
    jobs: int = 1,
    progress: Progress | None = None,
) -> Results[Data, Setting]:
    """Run an experiment in parallel over its tasks; results do not depend on `jobs`.

    Finished tasks are stored in `folder/tasks`, and an interrupted run resumes from them. A stored
    task is reused only if data, options, plan, package versions and all of localarc's source code
    are the same.

    Parameters
    ----------
    experiment : Experiment
        What to run, with its options.
    plan : Plan
        Seed, trials and methods.
    folder : path
        Output folder.
    jobs : int, default 1
        Number of processes; -1 uses every core.
    progress : callable, optional
        Called with the numbers of finished and of all tasks.

    Returns
    -------
    Results

    Examples
    --------
    >>> import tempfile
    >>> from localarc_lab.experiments import EXPERIMENTS
    >>> plan = Plan(quick=True, trials=1, methods=("ARC",))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     first = run(EXPERIMENTS["polyps"], plan, folder)
    ...     again = run(EXPERIMENTS["polyps"], plan, folder)
    >>> first.reused, again.reused, first.rows == again.rows
    (0, 2, True)
    """
    methods = _select(experiment.methods(plan), plan.methods)
    tasks = [
        Task(method, setting, trial)
        for setting in experiment.settings(plan)
        for trial in range(experiment.trials(plan))
        for method in methods
    ]
    data = experiment.load(plan)
    digest = experiment.digest(data)
    fixed = _key_parts(experiment, plan, digest)
    keys = {task: _key([*fixed, _identity(methods[task.method])], task) for task in tasks}
    files = {task: Path(folder) / "tasks" / f"{key}.npz" for task, key in keys.items()}
    done = {task: stored for task, file in files.items() if (stored := _read(file, task))}
    reused = len(done)
    (Path(folder) / "tasks").mkdir(parents=True, exist_ok=True)
    report_progress = progress or (lambda finished, total: None)
    report_progress(len(done), len(tasks))
    missing = [task for task in tasks if task not in done]
    calls = [(experiment, data, task, methods[task.method], plan) for task in missing]
    for _, outcome in as_they_finish(_perform, calls, jobs):
        done[outcome.task] = outcome
        _write(files[outcome.task], outcome)
        report_progress(len(done), len(tasks))
    outcomes = tuple(done[task] for task in tasks)
    rows = tuple(experiment.summarize(data, outcomes))
    return Results(experiment, plan, data, digest, outcomes, rows, reused)


def _select(methods: dict[str, Method], names: tuple[str, ...] | None) -> dict[str, Method]:
    """The methods of these names, those of the experiment first; all of its if none is given."""
    if names is None:
        return methods
    others = [compared.find(name) for name in names if _is_other(name, methods)]
    titles = {*names, *(method.title for method in others)}
    mine = {name: method for name, method in methods.items() if name in titles}
    more = {other.title: Method(other=other) for other in others if other.title not in methods}
    return mine | more


def _is_other(name: str, methods: dict[str, Method]) -> bool:
    """Whether a method is not the experiment's, but of others or the user's own."""
    if name not in methods and name not in compared.KNOWN and ".py:" not in name:
        raise ValueError(
            f"this experiment has no method {name!r}. Available: {', '.join(methods)}; of "
            f"localarc compare: {', '.join(compared.KNOWN)}; or your own, my_method.py:Mine."
        )
    return name not in methods


def _identity(method: Method) -> str | None:
    """What tells a method of others from another of that name; a file, by its content."""
    return None if method.other is None else method.other.identity


def _perform(
    experiment: Experiment[Data, Setting],
    data: Data,
    task: Task[Setting],
    method: Method,
    plan: Plan,
) -> Outcome[Setting]:
    start = time.perf_counter()
    outcome = experiment.perform(data, task, method, plan)
    return replace(outcome, seconds=time.perf_counter() - start)


def _key_parts(experiment: Experiment[Data, Setting], plan: Plan, digest: str) -> list[object]:
    """Everything but the task that an outcome depends on."""
    plan_parts = asdict(replace(plan, methods=None))
    options = experiment.portable_options()
    return [experiment.name, options, plan_parts, digest, source_digests(), versions()]


def _key(fixed: list[object], task: Task[Setting]) -> str:
    text = json.dumps([*fixed, task.description()], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:24]


def _write(file: Path, outcome: Outcome[Setting]) -> None:
    meta = {
        "calibrator": outcome.calibrator,
        "rows": outcome.rows,
        "certificate": outcome.certificate,
        "seconds": outcome.seconds,
    }
    buffer = io.BytesIO()
    arrays: dict[str, Any] = {f"array {name}": array for name, array in outcome.arrays.items()}
    np.savez_compressed(buffer, meta=np.array(json.dumps(meta)), **arrays)
    atomic_write.write(file, buffer.getvalue())


def _read(file: Path, task: Task[Setting]) -> Outcome[Setting] | None:
    """The outcome of an earlier run, or None if it is missing or damaged."""
    try:
        with np.load(io.BytesIO(file.read_bytes()), allow_pickle=False) as stored:
            meta = json.loads(str(stored["meta"]))
            names = [name for name in stored.files if name.startswith("array ")]
            arrays = {name.removeprefix("array "): stored[name] for name in names}
        return Outcome(task=task, arrays=arrays, **meta)
    except (OSError, KeyError, ValueError, TypeError, EOFError, zipfile.BadZipFile, zlib.error):
        return None
