"""Settings: which images calibrate, to which target, at which rate and on which score scale."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from localarc.validation import FloatArray, IntArray
from localarc_lab.experiments.experiment import Plan
from localarc_lab.experiments.polyps.images import SOURCES
from localarc_lab.experiments.polyps.model_outputs import LOGITS, Outputs
from localarc_lab.experiments.polyps.reduction import UnitBox, projection

HELD_OUT = 50
COMPONENTS = 5
_RANGES = {"probability": (-1.0, 0.0), "logit": (-float(LOGITS[0]), 0.1 - float(LOGITS[-1]))}


class Setting(NamedTuple):
    """One variant of the experiment; the pool is "all" images, or those "unseen" in training."""

    pool: str
    alpha: float
    eta: float
    space: str

    @property
    def score_range(self) -> tuple[float, float]:
        """The smallest and the largest score."""
        return _RANGES[self.space]

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


def planned(settings: Sequence[Setting], plan: Plan) -> list[Setting]:
    """Return the settings with the target and the rate that the plan states, each once."""
    found = settings
    if plan.alpha is not None:
        found = [setting._replace(alpha=plan.alpha) for setting in found]
    if plan.rate is not None:
        found = [setting._replace(eta=plan.rate) for setting in found]
    return list(dict.fromkeys(found))


def calibration_split(data: Outputs, pool: str, seed: int, trial: int) -> tuple[IntArray, IntArray]:
    """Return rows that calibrate, in random order, and rows held out: 50 of each source.

    A source with at most 50 images gives half of them. Some images are in the pool several times:
    all of CVC-300 is also in CVC-ColonDB. As in the paper, the pool of all images ignores that; in
    the unseen pool, a copy of a held-out image does not calibrate.
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
    """Return the kernel's inputs: PCA(5) and min-max scaling, fitted on calibration images."""
    onto = projection(features[calibration], COMPONENTS)
    places = onto(features)
    # Rounded far below what affects a kernel, so that all machines agree on every digit.
    return UnitBox.around(places[calibration])(places).round(6)
