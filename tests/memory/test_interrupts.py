"""A round that is interrupted has happened completely or not at all, in every memory."""

from __future__ import annotations

import dis
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from itertools import count
from types import CodeType, FrameType
from typing import Any

import numpy as np
import pytest

from examples import bump
from interrupts import alarm, comes_in_time
from localarc import RBF, Dictionary, KeepAll, KeepLast, Lattice
from localarc.kernels import Custom, Kernel
from localarc.memory.base import Expansion

pytestmark = pytest.mark.slow

GAUSSIAN, PYTHON = RBF.from_paper(1.0), Custom(bump, scale=1.0)
MEMORIES: dict[str, tuple[Any, Kernel]] = {
    "all": (KeepAll(), GAUSSIAN),
    "last": (KeepLast(7), GAUSSIAN),
    "last, no archive": (KeepLast(7, archive=False), GAUSSIAN),
    "lattice": (Lattice(), GAUSSIAN),
    "dictionary": (Dictionary(), GAUSSIAN),
    "python": (KeepAll(), PYTHON),
    "python, last": (KeepLast(7), PYTHON),
    "python, last, no archive": (KeepLast(7, archive=False), PYTHON),
}
# The factors of a round: hardly any decay; one that renormalises often, in either place.
FACTORS = {"plain": (0.999, 1.0), "folding": (0.3, 0.2)}
each = pytest.mark.parametrize("name", MEMORIES)
both = pytest.mark.parametrize("factors", FACTORS.values(), ids=FACTORS.keys())

# In these rounds arrays grow, a window is full, a buffer is flushed, or nothing special happens.
IN_PYTHON, COMPILED = (0, 1, 7, 16, 32), (0, 1, 7, 255, 256, 512)
MORE = 12  # rounds after an interrupt
POINTS = np.random.default_rng(0).normal(scale=4.0, size=(COMPILED[-1] + MORE, 2))


def new(name: str) -> Expansion:
    memory, kernel = MEMORIES[name]
    made: Expansion = memory.expansion(kernel, 2)
    return made


def one_round(local: Expansion, t: int, factors: tuple[float, float]) -> None:
    point = POINTS[t % len(POINTS)]
    local.evaluate_one(point)
    local.learn(point, factors[0], 0.1 * (1 + t % 3), factors[1])


def play(local: Expansion, until: int, factors: tuple[float, float]) -> Expansion:
    for t in range(local.rounds, until):
        one_round(local, t, factors)
    return local


def assert_same(local: Expansion, expected: dict[str, Any]) -> None:
    for part, array in local.arrays().items():
        np.testing.assert_array_equal(array, expected[part], part)


@cache
def code_of(code: CodeType) -> bytes:
    """The instructions of a function that may change an expansion; empty for all others."""
    ours = any(f"localarc/{part}/" in code.co_filename for part in ("memory", "engine"))
    return code.co_code if ours or code is one_round.__code__ else b""


class InterruptAt:
    """Raise KeyboardInterrupt at the n-th place where CPython would handle a signal.

    These places are the start of a function, the return from a call and the jump back of a loop.
    Only functions of expansions and their caller count: to them, an interrupt in any other is a
    call that raised.
    """

    def __init__(self, n: int) -> None:
        self.left = n
        self.last: dict[FrameType, str] = {}

    def __call__(self, frame: FrameType, event: str, arg: Any) -> Any:
        if not code_of(frame.f_code):
            return None
        frame.f_trace_opcodes, frame.f_trace_lines = True, False
        if event == "call" or (event == "opcode" and self._is_place(frame)):
            if self.left == 0:
                raise KeyboardInterrupt
            self.left -= 1
        return self

    def _is_place(self, frame: FrameType) -> bool:
        name = dis.opname[code_of(frame.f_code)[frame.f_lasti]]
        before, self.last[frame] = self.last.get(frame, ""), name
        return before.startswith("CALL") or name.startswith("JUMP_BACKWARD")


@contextmanager
def tracing(trace: Any) -> Iterator[None]:
    before = sys.gettrace()
    sys.settrace(trace)
    try:
        yield
    finally:
        sys.settrace(before)


def interrupted(local: Expansion, n: int, factors: tuple[float, float]) -> bool:
    """One round with an interrupt at place n; whether there is such a place."""
    t = local.rounds
    try:
        with tracing(InterruptAt(n)):
            one_round(local, t, factors)
    except KeyboardInterrupt:
        return True
    return False


@each
@both
def test_a_round_interrupted_anywhere_is_learned_completely_or_not_at_all(
    name: str, factors: tuple[float, float]
) -> None:
    for t in IN_PYTHON if name.startswith("python") else COMPILED:
        states = [play(new(name), rounds, factors).arrays() for rounds in (t, t + 1, t + MORE)]
        for n in count():
            local = play(new(name), t, factors)
            if not interrupted(local, n, factors):
                assert n >= 5  # or the trace does not work
                break
            assert_same(local, states[local.rounds - t])  # type: ignore[arg-type]
            assert_same(play(local, t + MORE, factors), states[-1])  # type: ignore[arg-type]


@each
@both
def test_three_hundred_signals_in_a_tight_loop_lose_nothing(
    name: str, factors: tuple[float, float]
) -> None:
    local, twin = new(name), new(name)
    delays = np.random.default_rng(0).uniform(2e-5, 3e-4, size=300)

    def run_on() -> None:
        for t in range(local.rounds, local.rounds + 100_000):  # longer than a signal takes
            one_round(local, t, factors)

    with alarm():
        for delay in delays.tolist():
            assert comes_in_time(run_on, delay)
            assert_same(local, play(twin, local.rounds, factors).arrays())  # type: ignore[arg-type]
