"""A contest: one stream, the methods and targets to run on it, and what has been run."""

from __future__ import annotations

import os
import time
import traceback
import warnings
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import ArrayLike

from localarc import replay, validation
from localarc.calibrators.base import BaseCalibrator
from localarc.calibrators.health import PromiseWarning
from localarc.calibrators.role import Calibrator
from localarc.guarantees.assumptions import AssumptionWarning
from localarc.kernels import Kernel
from localarc.running.parallel import as_they_finish
from localarc.running.record import Record
from localarc.streams import Stream
from localarc.validation import FloatArray, IntArray
from localarc_lab.compare.comparison import Comparison
from localarc_lab.compare.late_replay import check_delays, late_replay
from localarc_lab.compare.measures import measure
from localarc_lab.compare.methods import Method, Methods, Setting, resolve
from localarc_lab.compare.store import Run, Store, Task

_FIRST = 50  # rounds that are played once before the clock starts, to compile loops

Progress = Callable[[int, int], None]
"""Called with the numbers of finished and of all runs."""


class MethodError(ValueError):
    """A method raised an error; the message says which method, on which stream."""

    @classmethod
    def of(cls, method: Method, stream: Stream, error: Exception) -> MethodError:
        """Return the error with the traceback of its cause as a note."""
        found = cls(f"{method.title} failed on {stream.name}: {error!r}")
        found.add_note("".join(traceback.format_exception(error)))
        return found


class Contest:
    """One stream, with a run for each target and method; stored runs are read at once."""

    def __init__(
        self,
        methods: Methods | None,
        stream: Stream,
        alpha: float | Sequence[float] = 0.1,
        delay: int | ArrayLike = 0,
        kernel: Kernel | None = None,
        folder: str | os.PathLike[str] | None = None,
    ) -> None:
        if not isinstance(stream, Stream):
            raise TypeError(f"stream must be a Stream, got {stream!r:.60}. See localarc.streams.")
        targets = dict.fromkeys(validation.numbers("alpha", alpha).reshape(-1).tolist())
        self.stream, self.kernel = stream, kernel
        self.delays = check_delays(delay, stream.curves)
        found = resolve(methods, stream)
        self.tasks: list[Task] = [(method, target) for target in targets for method in found]
        for method, target in self.tasks:
            method.build(Setting(target, stream, kernel))  # raises before a long run
        self._store = Store(folder, stream, self.delays, kernel)
        stored = {i: self._store.read(task) for i, task in enumerate(self.tasks)}
        self.done = {i: run for i, run in stored.items() if run is not None}
        self.failed: dict[int, MethodError] = {}
        self.reused = len(self.done)

    def missing(self) -> list[int]:
        """Return the numbers of the tasks that are still to be run."""
        return [i for i in range(len(self.tasks)) if i not in self.done]

    def add(self, number: int, run: Run) -> None:
        """Add a finished run, and store it."""
        self.done[number] = run
        self._store.write(self.tasks[number], *run)

    def comparison(self) -> Comparison:
        """Return the results, once all tasks are done, of those that did not fail."""
        tasks = [self.tasks[i] for i in sorted(self.done)]
        records, seconds = zip(*(self.done[i] for i in sorted(self.done)), strict=True)
        results = measure([method.title for method, _ in tasks], records, seconds, self.stream)
        named = {
            (target, method.title): record
            for (method, target), record in zip(tasks, records, strict=True)
        }
        return Comparison(self.stream.name, results, named, self.reused)


def run_contests(
    contests: Sequence[Contest],
    jobs: int,
    progress: Progress | None = None,
    keep_going: bool = False,
) -> None:
    """Run everything that is missing, in parallel over streams and methods.

    A method that raises an error ends the run, unless it is to keep going with the others.
    """
    report = progress or (lambda finished, total: None)
    total = sum(len(contest.tasks) for contest in contests)
    missing = [(contest, number) for contest in contests for number in contest.missing()]
    report(total - len(missing), total)
    calls = [(c.tasks[number], c.stream, c.delays, c.kernel) for c, number in missing]
    for finished, (position, run) in enumerate(as_they_finish(_run, calls, jobs), start=1):
        contest, number = missing[position]
        if not isinstance(run, MethodError):
            contest.add(number, run)
        elif keep_going:
            contest.failed[number] = run
        else:
            raise run
        report(total - len(missing) + finished, total)


def _run(task: Task, stream: Stream, delays: IntArray, kernel: Kernel | None) -> Run | MethodError:
    """The record of one method, and the seconds of processor time that it took."""
    method, alpha = task
    setting = Setting(alpha, stream, kernel)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AssumptionWarning)  # about the stream, not the method
        warnings.simplefilter("ignore", PromiseWarning)  # methods may fail: that is the comparison
        try:
            _play(method.build(setting), stream.take(slice(_FIRST)), delays[:_FIRST])
            calibrator = method.build(setting)
            start = time.process_time()
            record = _play(calibrator, stream, delays)
        except Exception as error:
            return MethodError.of(method, stream, error)
        return record, time.process_time() - start


def _play(calibrator: Calibrator, stream: Stream, delays: IntArray) -> Record:
    X = _inputs(calibrator, stream)
    if delays.any():
        return late_replay(calibrator, X, stream, delays)
    return replay(calibrator, X, stream.curves, stream.groups)


def _inputs(calibrator: Calibrator, stream: Stream) -> FloatArray:
    """The inputs; the number of the round where there are none, but our calibrators need none."""
    if stream.X.shape[1] or isinstance(calibrator, BaseCalibrator):
        return stream.X
    return np.arange(1.0, len(stream) + 1.0)[:, None]
