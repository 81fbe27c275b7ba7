"""Interrupts at every place where CPython handles signals, and real ones at random moments."""

from __future__ import annotations

import copy
import dis
import gc
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from types import CodeType, FrameType
from typing import Any

Call = Callable[[Any], object]
NEVER = sys.maxsize
AGAIN = 1e-3  # seconds; at once, the signal would come while the handler of the last one runs


@dataclass(frozen=True)
class Case:
    """An object in the middle of its life, and the calls that change it.

    Parameters
    ----------
    start : callable
        Returns the object; it is made once and then copied.
    calls : mapping
        By name, what is called with the object.
    facts : callable
        Everything that can be seen of an object without changing it, comparable.
    finish : callable
        Reports what is pending and goes on, so that hidden differences show.
    otherwise : mapping, optional
        By name of a call, what else it may come to if it is interrupted: a call that does that.
    """

    start: Callable[[], Any]
    calls: Mapping[str, Call]
    facts: Callable[[Any], Any]
    finish: Call
    otherwise: Mapping[str, Call] = field(default_factory=dict)


class InterruptAt:
    """Raise KeyboardInterrupt at the n-th place where CPython would handle a signal.

    These places are the start of a function, the return from a call and the jump back of a loop.
    Functions of the library and of contextlib count: to them, an interrupt in any other is a call
    that raised.
    """

    def __init__(self, n: int) -> None:
        self.left = n
        self._last: dict[FrameType, tuple[int, str]] = {}

    def __call__(self, frame: FrameType, event: str, arg: Any) -> Any:
        instructions = _instructions(frame.f_code)
        if not instructions:
            return None
        frame.f_trace_opcodes, frame.f_trace_lines = True, False
        if event == "call" or (event == "opcode" and self._is_place(frame, instructions)):
            if self.left == 0:
                raise KeyboardInterrupt(f"{frame.f_code.co_qualname}, line {frame.f_lineno}")
            self.left -= 1
        return self

    def _is_place(self, frame: FrameType, instructions: bytes) -> bool:
        """A signal after a call is handled where the call is, which matters at the end of `try`."""
        at, name = frame.f_lasti, dis.opname[instructions[frame.f_lasti]]
        (last, before), self._last[frame] = self._last.get(frame, (at, "")), (at, name)
        if name.startswith("JUMP_BACKWARD"):
            return True
        return before.startswith("CALL") and _handler(frame.f_code, last) == _handler(
            frame.f_code, at
        )


@cache
def _instructions(code: CodeType) -> bytes:
    """Those of a function that is interrupted; empty for all others."""
    ours = "localarc/" in code.co_filename and "/tests/" not in code.co_filename
    return code.co_code if ours or code.co_filename.endswith("contextlib.py") else b""


@cache
def _handler(code: CodeType, at: int) -> int | None:
    """Where an exception at an instruction is handled."""
    table = dis._parse_exception_table(code)  # type: ignore[attr-defined]
    return next((part.target for part in table if part.start <= at < part.end), None)


@contextmanager
def _tracing(trace: Any) -> Iterator[None]:
    before = sys.gettrace()
    sys.settrace(trace)
    try:
        yield
    finally:
        sys.settrace(before)


def places(case: Case, call: Call) -> int:
    """How many places a call has."""
    counter = InterruptAt(NEVER)
    target = copy.deepcopy(case.start())
    with _tracing(counter):
        call(target)
    return NEVER - counter.left


def interrupted(target: Any, call: Call, n: int) -> None:
    """A call that is interrupted at place n; the error says where that is."""
    with _tracing(InterruptAt(n)):
        call(target)


class Outcomes:
    """What may be seen after a call that was interrupted: that it was not made, or that it was."""

    def __init__(self, case: Case, call: Call) -> None:
        self.case, self.call = case, call
        self.origin = case.start()
        self.before, self.after = self._seen(copy.deepcopy(self.origin)), self._after(call)
        others = (other for name, other in case.otherwise.items() if case.calls[name] is call)
        self.otherwise = [self._after(other) for other in others]

    def _after(self, call: Call) -> tuple[Any, Any]:
        done = copy.deepcopy(self.origin)
        call(done)
        return self._seen(done)

    def _seen(self, target: Any) -> tuple[Any, Any]:
        """What is seen at once, and in the end; by another thread, which nothing may keep out."""
        found: list[Any] = []

        def look() -> None:
            try:
                found.append(self.case.facts(target))
                self.case.finish(target)
                found.append(self.case.facts(target))
            except Exception as error:  # an object that is out of order
                found[:] = [repr(error), None]

        thread = threading.Thread(target=look)
        thread.start()
        thread.join()
        return found[0], found[1]

    def interrupted_at(self, n: int) -> tuple[str, str]:
        """Whether a call was made that was interrupted at place n, and where that is."""
        target, where = copy.deepcopy(self.origin), ""
        try:
            interrupted(target, self.call, n)
        except KeyboardInterrupt as interrupt:
            where = str(interrupt)
        return self.judged(target), where

    def judged(self, target: Any) -> str:
        """Whether a call was made: "before", "after", or what is seen where it was neither."""
        seen = self._seen(target)
        if seen == self.before:
            return "before"
        done = seen in (self.after, *self.otherwise)
        return "after" if done else f"half done: {str(seen[0])[:300]}"


def faults_around_the_change(case: Case, call: Call, more: int = 2) -> list[str]:
    """The places that leave a call half done, among some, and those where the call takes effect.

    A search by halves ends between a place that leaves nothing done and the next one, which leaves
    all: if places between leave it half done, it ends there.
    """
    outcomes, count = Outcomes(case, call), places(case, call)
    faults = []
    low, high = -1, count
    while high - low > 1:
        middle = (low + high) // 2
        found, where = outcomes.interrupted_at(middle)
        if found == "before":
            low = middle
        else:
            high = middle
        if found not in ("before", "after"):
            faults.append(f"place {middle}, {where}: {found}")
    for n in range(0, count, max(1, count // more)):
        found, where = outcomes.interrupted_at(n)
        if found not in ("before", "after"):
            faults.append(f"place {n}, {where}: {found}")
    return faults


def all_faults(case: Case, call: Call, stride: int = 1) -> list[str]:
    """Every place that leaves a call half done."""
    outcomes = Outcomes(case, call)
    found = [(n, *outcomes.interrupted_at(n)) for n in range(0, places(case, call), stride)]
    return [
        f"place {n}, {where}: {what}" for n, what, where in found if what not in ("before", "after")
    ]


@contextmanager
def alarm() -> Iterator[None]:
    """SIGALRM raises KeyboardInterrupt, as SIGINT does.

    Garbage is not collected meanwhile: callbacks of the collector swallow what is raised in them,
    and those of the test runner are no part of what is tested. What a destructor or a callback
    of a weak reference raises is swallowed as well: the signal waits until they are left.
    """

    def handler(number: int, frame: FrameType | None) -> None:
        if _is_swallowed(frame):
            signal.setitimer(signal.ITIMER_REAL, AGAIN)
        else:
            raise KeyboardInterrupt

    before, collecting = signal.signal(signal.SIGALRM, handler), gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)
        if collecting:
            gc.enable()


def _is_swallowed(frame: FrameType | None) -> bool:
    """Whether a destructor, or the registry that weak references call, is on the stack."""
    while frame is not None:
        code = frame.f_code
        if code.co_name == "__del__" or code.co_filename.endswith(("weakref.py", "_weakrefset.py")):
            return True
        frame = frame.f_back
    return False


def comes_in_time(call: Callable[[], object], delay: float) -> bool:
    """Make a call, under `alarm`, with a real signal after a delay; whether it interrupts it."""
    try:
        signal.setitimer(signal.ITIMER_REAL, delay)
        call()
        signal.setitimer(signal.ITIMER_REAL, 0.0)
    except KeyboardInterrupt:
        return True
    return False


def duration(outcomes: Outcomes) -> float:
    """How many seconds a call takes, at best of three."""
    found = []
    for _ in range(3):
        target = copy.deepcopy(outcomes.origin)
        start = time.perf_counter()
        outcomes.call(target)
        found.append(time.perf_counter() - start)
    return min(found)


def signalled(outcomes: Outcomes, delay: float) -> str:
    """What a call left that a real signal interrupted after this time, if it came in time."""
    target = copy.deepcopy(outcomes.origin)
    with alarm():
        comes_in_time(lambda: outcomes.call(target), delay)
    return outcomes.judged(target)
