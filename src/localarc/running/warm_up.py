"""Warm-up: compile what a calibrator will need, so that a later process finds it on disk."""

from __future__ import annotations

import copy
import dataclasses
import warnings
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from localarc.calibrators.arc import ARC
from localarc.calibrators.auto import AutoLARC, LabelSets, many_labels
from localarc.calibrators.larc import LARC
from localarc.curves import Curves, miscoverage
from localarc.kernels import Kernel
from localarc.many.panel import Panel
from localarc.many.panel.late import LateEvents, serve
from localarc.memory import KeepLast, Memory
from localarc.rates import Constant
from localarc.running.replay import replay, replay_many
from localarc.validation import FloatArray

_ROUNDS = 600  # more than a dictionary buffers, and enough for the arrays of a window to move
_WINDOW = 100  # fewer, so that terms leave


@dataclass(frozen=True)
class Loops:
    """How many compiled functions a warm-up found on disk, stored and could not store."""

    found: int
    stored: int
    not_stored: int
    folders: frozenset[str]


def warm_up(kernel: Kernel, memory: Memory | str, features: int) -> Loops:
    """Use all that is compiled for one kernel, memory and number of features, on made-up rounds."""
    return counted(lambda: _use_all(kernel, memory, features))


def warm_up_auto() -> Loops:
    """Use all that is compiled for AutoLARC and LabelSets, for any number of features."""
    return counted(_use_auto)


def counted(use: Callable[[], None]) -> Loops:
    """Use something, and return what was compiled for it."""
    from localarc.engine.disk_cache import activity

    before = copy.copy(activity)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # made-up rounds break promises made to no caller
        use()
    return Loops(
        activity.found - before.found,
        activity.stored - before.stored,
        activity.not_stored - before.not_stored,
        frozenset(activity.folders),
    )


def _use_all(kernel: Kernel, memory: Memory | str, features: int) -> None:
    """Learn online and at once, one stream and many; evaluate, average, save and resume."""
    random = np.random.default_rng(0)
    X, curves = random.uniform(size=(_ROUNDS, features)), miscoverage(random.uniform(size=_ROUNDS))
    if isinstance(memory, KeepLast):
        memory = dataclasses.replace(memory, m=min(memory.m, _WINDOW))

    def new() -> LARC:  # it forgets fast: weights that became small are folded by a loop of its own
        return LARC(0.1, kernel, Constant(0.5), regularization=1.0, memory=memory)

    cal = new()
    replay(cal, X, curves)
    for x in X:
        cal.update(x, float(cal.threshold(x) < 0.5))
    again = LARC.from_state(cal.state()).partial_fit(X[:3], [0.0, 1.0, 0.0])
    again.threshold(X)
    if again.memory.averages:
        again.averaged_threshold_function(X)
    replay_many([new(), new()], X, curves)
    for prototype in (new(), ARC(0.1)):
        _use_panel(Panel(prototype), X, curves)


def _use_auto() -> None:
    """Learn online, late and at once; evaluate, certify, save and resume."""
    random = np.random.default_rng(0)
    X, scores = random.uniform(size=(_ROUNDS, 2)), random.uniform(size=_ROUNDS)
    groups = [t % 2 for t in range(_ROUNDS)]
    cal = AutoLARC(0.1)
    replay(cal, X, miscoverage(scores), groups)
    for x, score, group in zip(X, scores.tolist(), groups, strict=True):
        cal.update(x, float(cal.threshold(x, group) < score), score, group)
    first, second, third = (cal.ask(x, groups=0) for x in X[:3])
    cal.tell(second, 0.0, 0.5).forget(first)
    again = AutoLARC.from_state(cal.state()).tell(third.id, 1.0, 2.0)
    again.threshold(X)
    again.tell_many(again.ask_many(X), scores, scores).forget_many(again.ask_many(X))
    again.certificate()
    _use_labels(X, np.column_stack([scores, 1.0 - scores]))


def _use_labels(X: FloatArray, scores: FloatArray) -> None:
    """Learn labels online, late and in batches."""
    cal, true = LabelSets(0.1, labels=range(2)), scores.argmin(axis=1)
    cal.update(X[0], scores[0], int(true[0]))
    cal.tell(cal.ask(X[1], scores[1]), int(true[1]))
    many_labels.learn(cal, X, scores, true, None)
    many_labels.ask(cal, X, scores, None)
    many_labels.thresholds(cal, X, None)


def _use_panel(panel: Panel, X: FloatArray, curves: Curves) -> None:
    """Replay, learn, evaluate and resume two streams."""
    keys = [t % 2 for t in range(_ROUNDS)]
    panel.replay(keys, X, curves)
    panel.update(keys, X, np.zeros(_ROUNDS)).thresholds(keys, X)
    asked = LateEvents.each_its_own(X, curves)
    serve(panel, ["0", "1"], np.array(keys), asked)
    Panel.from_state(panel.state())
