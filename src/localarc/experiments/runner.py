"""The runner: tasks in parallel, kept as they finish, taken up again after a kill."""

from __future__ import annotations

import hashlib
import io
import json
import time
import zipfile
import zlib
from collections.abc import Callable, Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np

from localarc import atomic_write
from localarc._sweep import as_they_finish
from localarc.calibrators.base import BaseCalibrator
from localarc.experiments.experiment import Experiment, Outcome, Plan, Results, Task
from localarc.reporting.assessment import version

Progress = Callable[[int, int], None]
"""Called with the number of tasks done and the number there are."""


def run(
    experiment: Experiment,
    plan: Plan,
    folder: Path,
    jobs: int = 1,
    progress: Progress | None = None,
) -> Results:
    """Run what is missing, in parallel over tasks; the results do not depend on `jobs`.

    Finished tasks lie in `folder/tasks`, so that a run that was killed goes on from there.
    """
    methods = _asked_for(experiment.methods(plan), plan.methods)
    data = experiment.load(plan)
    digest = experiment.digest(data)
    tasks = [Task(method, trial) for trial in experiment.trials(plan) for method in methods]
    files = {
        task: folder / "tasks" / f"{_key(experiment, plan, task, digest)}.npz" for task in tasks
    }
    done = {task: found for task, file in files.items() if (found := _kept(file, task))}
    reused = len(done)
    (folder / "tasks").mkdir(parents=True, exist_ok=True)
    tell = progress or (lambda finished, total: None)
    tell(len(done), len(tasks))
    missing = [task for task in tasks if task not in done]
    calls = [(experiment, data, task, methods[task.method], plan) for task in missing]
    for _, outcome in as_they_finish(_timed, calls, jobs):
        done[outcome.task] = outcome
        _keep(files[outcome.task], outcome)
        tell(len(done), len(tasks))
    outcomes = tuple(done[task] for task in tasks)
    rows = tuple(experiment.tabulate(data, outcomes))
    return Results(experiment, plan, data, digest, outcomes, rows, reused)


def _asked_for(
    methods: Mapping[str, Callable[[], BaseCalibrator]], wanted: tuple[str, ...] | None
) -> dict[str, Callable[[], BaseCalibrator]]:
    unknown = [name for name in wanted or () if name not in methods]
    if unknown:
        raise ValueError(
            f"there is no method {unknown[0]!r} in this experiment. "
            f"Known are: {', '.join(methods)}."
        )
    return {name: make for name, make in methods.items() if wanted is None or name in wanted}


def _timed(
    experiment: Experiment, data: Any, task: Task, make: Callable[[], BaseCalibrator], plan: Plan
) -> Outcome:
    start = time.perf_counter()
    outcome = experiment.perform(data, task, make, plan)
    return replace(outcome, seconds=time.perf_counter() - start)


def _key(experiment: Experiment, plan: Plan, task: Task, digest: str) -> str:
    """A name that changes with everything the outcome depends on."""
    settings = asdict(replace(plan, methods=None, source=None))
    parts = [experiment.name, version(), settings, asdict(task), digest]
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:24]


def _keep(file: Path, outcome: Outcome) -> None:
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


def _kept(file: Path, task: Task) -> Outcome | None:
    """The outcome of an earlier run, if it is there and whole."""
    try:
        with np.load(io.BytesIO(file.read_bytes()), allow_pickle=False) as stored:
            meta = json.loads(str(stored["meta"]))
            names = [name for name in stored.files if name.startswith("array ")]
            arrays = {name.removeprefix("array "): stored[name] for name in names}
        return Outcome(task=task, arrays=arrays, **meta)
    except (OSError, KeyError, ValueError, TypeError, EOFError, zipfile.BadZipFile, zlib.error):
        return None
