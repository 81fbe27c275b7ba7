"""The compiler: loops are compiled in processes of their own, and then loaded in any thread but the
writer's, so that no stream waits for the loops of another."""

from __future__ import annotations

import contextlib
import importlib
import logging
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterable
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor

from localarc_client.wire.config import StreamConfig
from localarc_service import compile_cache, garbage_collection
from localarc_service.compile_watch import NotCompiledError, only_from_disk
from localarc_service.errors import ApiError
from localarc_service.streams import rehearsal
from localarc_service.streams.config_defaults import completed
from localarc_service.streams.rehearsal import USUAL, Shape, check, rehearse, shape_of

_METHODS = "larc", "auto", "gate"  # that have compiled loops
_PATIENCE = 0.5  # seconds that a request waits for its loops
_RETRY_AFTER = 4  # seconds; the longest pause of our client
_PROCESS_SECONDS = 600.0
_log = logging.getLogger("localarc.service")
_loaded: set[Shape] = set()  # in this process


class Compiler:
    """Loads the loops of one service, and compiles those that are not on disk."""

    def __init__(self) -> None:
        _import_engine()
        self._futures: dict[Shape, Future[None]] = {}
        self._lock = threading.Lock()
        self._pool = ThreadPoolExecutor(os.cpu_count() or 1, "compiler")
        self._processes: set[subprocess.Popen[bytes]] = set()
        self._stopped = False

    def load_all(self, configs: Iterable[StreamConfig]) -> None:
        """Load what is in use and what is likely to come, at the start of a service."""
        shapes = dict.fromkeys((*USUAL, *filter(None, map(shape_of, configs))))
        for future in [self._load(shape) for shape in shapes]:
            with contextlib.suppress(CancelledError):
                future.result()

    def prepare(self, body: StreamConfig) -> None:
        """Raise ValueError if a config is invalid, and load what its streams need.

        While that is compiled, it raises an error that asks the client to come again.
        """
        config = completed(body)
        shape = shape_of(config)
        if shape is not None and shape not in _loaded:
            with contextlib.suppress(NotCompiledError), only_from_disk():
                check(config)  # an invalid config fails here, before anything is compiled
            self._wait_for(self._load(shape))
        check(config)

    def stop(self) -> None:
        """Compile nothing more."""
        with self._lock:
            self._stopped = True
            self._pool.shutdown(wait=False, cancel_futures=True)
        for process in list(self._processes):
            process.kill()

    def _wait_for(self, future: Future[None]) -> None:
        try:
            future.result(_PATIENCE)
        except (TimeoutError, CancelledError) as error:
            raise ApiError(
                503,
                "the service compiles for streams of this kind, which takes seconds: try again.",
                retry_after=_RETRY_AFTER,
            ) from error

    def _load(self, shape: Shape) -> Future[None]:
        with self._lock:
            found = self._futures.get(shape)
            if found is None or _failed(found):
                found = self._futures[shape] = self._submit(shape)
            return found

    def _submit(self, shape: Shape) -> Future[None]:
        if not self._stopped:
            return self._pool.submit(self._load_now, shape)
        cancelled: Future[None] = Future()
        cancelled.cancel()
        return cancelled

    def _load_now(self, shape: Shape) -> None:
        if shape in _loaded:
            return
        try:
            with only_from_disk():
                rehearse(shape)
        except NotCompiledError:
            started = time.perf_counter()
            _log.info("compiling for streams with %s", shape)
            self._compile(shape)
            _log.info("compiled for them in %.0f s", time.perf_counter() - started)
        _loaded.add(shape)
        garbage_collection.exclude_existing()  # loops stay, and have many parts

    def _compile(self, shape: Shape) -> None:
        code = self._run(shape)
        if self._stopped:
            raise CancelledError
        try:
            with only_from_disk():
                rehearse(shape)
        except NotCompiledError:
            _log.warning("nothing was stored (exit code %s): compiling here", code)
            rehearse(shape)

    def _run(self, shape: Shape) -> int | None:
        """Compile in another process; returns its exit code."""
        command = [sys.executable, "-m", rehearsal.__name__, *map(str, shape)]
        environment = compile_cache.child_environment()
        with subprocess.Popen(command, stdin=subprocess.DEVNULL, env=environment) as process:
            self._processes.add(process)
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(0.0 if self._stopped else _PROCESS_SECONDS)
            process.kill()
        self._processes.discard(process)
        return process.returncode


def _import_engine() -> None:
    """Import what compiles, in one thread: those that import numba at once find half of it."""
    for name in ("numba.core.event", *(f"localarc.calibrators.{each}" for each in _METHODS)):
        importlib.import_module(name)


def _failed(future: Future[None]) -> bool:
    return future.cancelled() or (future.done() and future.exception() is not None)
