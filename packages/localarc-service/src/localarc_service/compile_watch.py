"""Notices when a thread compiles a loop: to prevent it, or to report it."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any, NoReturn

_handlers: dict[int, Callable[[str], None]] = {}  # by thread


class NotCompiledError(Exception):
    """A loop is neither loaded nor on disk."""


@contextlib.contextmanager
def only_from_disk() -> Iterator[None]:
    """In this thread, raise NotCompiledError instead of compiling."""
    with _handler(_refuse):
        yield


def report_compiling(report: Callable[[str], None]) -> None:
    """Call `report` with the name of each loop that this thread compiles from now on."""
    _listen()
    _handlers[threading.get_ident()] = report


@contextlib.contextmanager
def _handler(handle: Callable[[str], None]) -> Iterator[None]:
    _listen()
    thread = threading.get_ident()
    _handlers[thread] = handle
    try:
        yield
    finally:
        del _handlers[thread]


def _refuse(name: str) -> NoReturn:
    raise NotCompiledError(name)


@cache
def _listen() -> None:
    """Hear of everything that numba compiles."""
    from numba.core import event

    class Listener(event.Listener):
        def on_start(self, event: Any) -> None:
            handle = _handlers.get(threading.get_ident())
            if handle is not None:
                handle(event.data["dispatcher"].py_func.__name__)

        def on_end(self, event: Any) -> None:
            pass

    event.register("numba:compile", Listener())  # type: ignore[no-untyped-call]
