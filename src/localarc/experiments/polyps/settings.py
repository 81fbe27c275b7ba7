"""Settings: which images calibrate, to which target, how fast, and on which scale of scores."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np

from localarc.calibrators.arc import ARC
from localarc.calibrators.base import BaseCalibrator
from localarc.calibrators.larc import LARC
from localarc.calibrators.mondrian import Mondrian
from localarc.experiments.polyps.images import SOURCES
from localarc.experiments.polyps.model_outputs import LOGITS, Outputs
from localarc.experiments.polyps.reduction import UnitBox, projection
from localarc.kernels import RBF
from localarc.memory import KeepAll, KeepLast, Memory
from localarc.validation import FloatArray, IntArray

HELD_OUT = 50
_EXACT = KeepAll()
COMPONENTS = 5
_RANGES = {"probability": (-1.0, 0.0), "logit": (-float(LOGITS[0]), 0.1 - float(LOGITS[-1]))}


class Setting(NamedTuple):
    """One variant of the experiment. The pool is "all" images, or those "unseen" in training."""

    pool: str
    alpha: float
    eta: float
    space: str

    def __str__(self) -> str:
        return f"{self.pool} images, target {self.alpha:g}, eta {self.eta:g}, {self.space}"


HEADLINE = Setting("all", 0.1, 1.0, "probability")
ON_ALL = (
    HEADLINE,
    Setting("all", 0.1, 0.1, "probability"),
    Setting("all", 0.1, 1.0, "logit"),
    Setting("all", 0.1, 0.1, "logit"),
)
ON_UNSEEN = (
    Setting("unseen", 0.1, 1.0, "probability"),
    Setting("unseen", 0.2, 1.0, "probability"),
    Setting("unseen", 0.1, 1.0, "logit"),
    Setting("unseen", 0.2, 1.0, "logit"),
)
_NAMED = {str(setting): setting for setting in (*ON_ALL, *ON_UNSEEN)}


def trial_name(setting: Setting, trial: int) -> str:
    """What a task calls one trial of a setting."""
    return f"{setting} / {trial}"


def trial_of(name: str) -> tuple[Setting, int]:
    """The setting and the trial that `trial_name` named."""
    setting, _, trial = name.rpartition(" / ")
    return _NAMED[setting], int(trial)


@dataclass(frozen=True)
class Recipe:
    """How to make a method's calibrator, for any setting: without one, for the headline's."""

    length_scale: float | None = None
    memory: Memory = _EXACT
    by_source: bool = False

    def __call__(self, setting: Setting = HEADLINE) -> BaseCalibrator:
        """A new calibrator."""
        alpha, eta, scores = setting.alpha, setting.eta, _RANGES[setting.space]
        if self.length_scale is not None:
            kernel = RBF.from_paper(self.length_scale)
            return LARC(alpha, kernel, eta, 1e-4, score_range=scores, memory=self.memory)
        make = partial(ARC, alpha, eta, score_range=scores)
        return Mondrian(make) if self.by_source else make()

    def without_archive(self) -> Recipe:
        """The same thresholds in less memory, where the average is not asked for."""
        if not isinstance(self.memory, KeepLast):
            return self
        return Recipe(self.length_scale, KeepLast(self.memory.m, archive=False))


def split(data: Outputs, pool: str, seed: int, trial: int) -> tuple[IntArray, IntArray]:
    """Rows that calibrate, in random order, and rows held out: 50 of each source.

    A source with no more than 50 images gives half of them. Some images are in the pool several
    times: all of CVC-300 is in CVC-ColonDB too. As in the paper, the pool of all images does not
    mind; from the unseen pool, a copy of a held-out image does not calibrate.
    """
    random = np.random.default_rng([seed, trial])
    rows = np.flatnonzero(~data.trained) if pool == "unseen" else np.arange(len(data))
    held = []
    for source in range(len(SOURCES)):
        mine = rows[data.sources[rows] == source]
        number = HELD_OUT if len(mine) > HELD_OUT else len(mine) // 2
        held.append(random.choice(mine, number, replace=False))
    out = np.concatenate(held)
    rest = np.setdiff1d(rows, out)
    if pool == "unseen":
        rest = rest[~np.isin(data.copies()[rest], data.copies()[out])]
    return random.permutation(rest), out


def coordinates(features: FloatArray, calibration: IntArray) -> FloatArray:
    """Every image's place for the kernel: PCA(5) and min-max, fitted on calibration images."""
    onto = projection(features[calibration], COMPONENTS)
    places = onto(features)
    # Rounded far below what a kernel can see, so that threads and machines agree on every digit.
    return UnitBox.around(places[calibration])(places).round(6)
