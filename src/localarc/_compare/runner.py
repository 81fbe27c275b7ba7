"""The runner: every method on the same rounds, in parallel, and resumed after an interruption."""

from __future__ import annotations

import hashlib
import json
import os
import time
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from localarc import atomic_write, validation
from localarc._compare.comparison import Comparison
from localarc._compare.late_replay import check_delays, late_replay
from localarc._compare.measures import measure
from localarc._compare.methods import Method, Methods, Setting, resolve
from localarc._replay import replay
from localarc._sweep import as_they_finish
from localarc.calibrators.base import BaseCalibrator, Calibrator
from localarc.calibrators.health import PromiseWarning
from localarc.guarantees.assumptions import AssumptionWarning
from localarc.kernels import Kernel
from localarc.record import Record
from localarc.reporting.provenance import source_digest, versions
from localarc.serialization import StateError
from localarc.streams import Stream
from localarc.validation import FloatArray, IntArray

_FIRST = 50  # rounds that are played once before the clock starts, to compile loops

Task = tuple[Method, float]
Progress = Callable[[int, int], None]


def compare(
    methods: Methods | None,
    stream: Stream,
    *,
    alpha: float | Sequence[float] = 0.1,
    delay: int | ArrayLike = 0,
    kernel: Kernel | None = None,
    jobs: int = 1,
    folder: str | os.PathLike[str] | None = None,
    progress: Progress | None = None,
) -> Comparison:
    """Run several methods over the same rounds, and compare what they did.

    Parameters
    ----------
    methods : sequence of str or callable, mapping of names to them, or None
        Names such as "auto", "aci" or "pid"; a class in a file, "my_method.py:Mine"; or a function
        that makes a calibrator from a target. None compares AutoLARC with ARC, ACI, DtACI, PID,
        SAOCP and a rolling quantile.
    stream : Stream
        The rounds, with features and groups if it has them.
    alpha : float or sequence of float, default 0.1
        The target, or several.
    delay : int or array of int, shape (n,), default 0
        After how many further rounds a loss is known, for all rounds or for each.
    kernel : Kernel or None, default None
        The kernel of L-ARC. None reaches about a tenth of the rounds.
    jobs : int, default 1
        Number of processes; -1 uses every core. Only the times depend on it.
    folder : path or None, default None
        Finished runs are stored here, and an interrupted comparison resumes from them. They are
        used again only for the same rounds, target, delay, code and packages.
    progress : callable or None, default None
        Called with the numbers of finished and of all runs.

    Returns
    -------
    Comparison
        The results, with a table.

    Examples
    --------
    >>> from localarc.streams import heteroscedastic
    >>> found = compare(["auto", "rolling"], heteroscedastic(500, seed=0))
    >>> [result.method for result in found.results], found.results[0].rounds
    (['AutoLARC', 'Rolling quantile'], 500)
    """
    if not isinstance(stream, Stream):
        raise TypeError(f"stream must be a Stream, got {stream!r:.60}. See localarc.streams.")
    targets = dict.fromkeys(validation.numbers("alpha", alpha).reshape(-1).tolist())
    delays = check_delays(delay, stream.curves)
    tasks = [(method, target) for target in targets for method in resolve(methods, stream)]
    for method, target in tasks:
        method.build(Setting(target, stream, kernel))  # raises before a long run
    store = _Store(folder, stream, delays, kernel)
    done = {i: found for i, task in enumerate(tasks) if (found := store.read(task))}
    reused = len(done)
    report = progress or (lambda finished, total: None)
    report(reused, len(tasks))
    missing = [i for i in range(len(tasks)) if i not in done]
    calls = [(tasks[i], stream, delays, kernel) for i in missing]
    for position, run in as_they_finish(_run, calls, jobs):
        done[missing[position]] = run
        store.write(tasks[missing[position]], *run)
        report(len(done), len(tasks))
    records, seconds = zip(*(done[i] for i in range(len(tasks))), strict=True)
    results = measure([method.title for method, _ in tasks], records, seconds, stream)
    named = {
        (target, method.title): record
        for (method, target), record in zip(tasks, records, strict=True)
    }
    return Comparison(stream.name, results, named, reused)


def _run(
    task: Task, stream: Stream, delays: IntArray, kernel: Kernel | None
) -> tuple[Record, float]:
    """The record of one method, and the seconds of processor time that it took."""
    method, alpha = task
    setting = Setting(alpha, stream, kernel)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AssumptionWarning)  # about the stream, not the method
        warnings.simplefilter("ignore", PromiseWarning)  # methods may fail: that is the comparison
        _play(method.build(setting), _beginning(stream), delays[:_FIRST])
        calibrator = method.build(setting)
        start = time.process_time()
        record = _play(calibrator, stream, delays)
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


def _beginning(stream: Stream) -> Stream:
    groups = None if stream.groups is None else stream.groups[:_FIRST]
    curves = stream.curves.take(slice(0, _FIRST))
    return Stream(stream.name, stream.X[:_FIRST], curves, groups, stream.features)


class _Store:
    """Finished runs in a folder, by everything that they depend on."""

    def __init__(
        self,
        folder: str | os.PathLike[str] | None,
        stream: Stream,
        delays: IntArray,
        kernel: Kernel | None,
    ) -> None:
        self._folder = None if folder is None else Path(folder)
        if self._folder is None:
            return
        self._folder.mkdir(parents=True, exist_ok=True)
        parts = [_digest(stream, delays), repr(kernel), source_digest(), versions()]
        self._common = json.dumps(parts, sort_keys=True)

    def read(self, task: Task) -> tuple[Record, float] | None:
        """A stored run, or None if it is missing or damaged."""
        file = self._file(task)
        if file is None:
            return None
        try:
            seconds = float(json.loads(file.with_suffix(".json").read_text())["seconds"])
            return Record.load(file), seconds
        except (OSError, ValueError, KeyError, TypeError, StateError):
            return None

    def write(self, task: Task, record: Record, seconds: float) -> None:
        """Store a run."""
        file = self._file(task)
        if file is None:
            return
        record.save(file)
        about = {"method": task[0].title, "target": task[1], "seconds": seconds}
        atomic_write.write(file.with_suffix(".json"), json.dumps(about).encode())

    def _file(self, task: Task) -> Path | None:
        method, alpha = task
        if self._folder is None or method.identity is None:
            return None
        text = json.dumps([self._common, method.identity, alpha])
        return self._folder / f"{hashlib.sha256(text.encode()).hexdigest()[:24]}.record"


def _digest(stream: Stream, delays: IntArray) -> str:
    """A SHA-256 of all rounds."""
    digest = hashlib.sha256()
    curves = stream.curves
    arrays: list[Any] = [stream.X, curves.breakpoints, curves.losses, curves.offsets, delays]
    arrays += [array for array in (curves.sizes, curves.widths) if array is not None]
    for array in arrays:
        digest.update(f"{array.dtype.str}{array.shape}".encode())
        digest.update(np.ascontiguousarray(array).tobytes())
    digest.update(repr((curves.bound, stream.groups)).encode())
    return digest.hexdigest()
