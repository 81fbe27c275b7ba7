"""The project's own streams: the experiments' and the synthetic ones."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from localarc.curves import Curves, miscoverage
from localarc.streams import heteroscedastic
from localarc.validation import FloatArray
from localarc_lab.experiments.beams.experiment import Beams
from localarc_lab.experiments.electricity import data as electricity_data
from localarc_lab.experiments.experiment import Plan
from localarc_lab.experiments.fruit import measurements as fruit_measurements
from localarc_lab.experiments.fruit import model_outputs as fruit_outputs
from localarc_lab.experiments.polyps import model_outputs as polyps_outputs
from localarc_lab.experiments.polyps.settings import HEADLINE, calibration_split, coordinates


@dataclass(frozen=True)
class Work:
    """A stream with its target."""

    name: str
    X: FloatArray
    curves: Curves
    alpha: float

    def __len__(self) -> int:
        return len(self.X)

    @property
    def spread(self) -> FloatArray:
        """The standard deviation of each feature."""
        return np.asarray(self.X.std(axis=0))


def electricity() -> Work:
    """Elec2, every second half-hour, as in the experiment: the past seven days' mean demands."""
    stream = electricity_data.load().take(slice(1, None, 2)).stream()
    return Work("electricity", stream.X, stream.curves, 0.1)


def fruit(trial: int = 0) -> Work:
    """Labels of fruit, localized on the confidence."""
    outputs = fruit_outputs.shipped()
    online = outputs.take(fruit_measurements.calibration_split(outputs, 0, trial)[0])
    X, curves = online.confidence[:, None], online.curves("probability")
    return Work("fruit", X, curves, fruit_measurements.ALPHA)


def polyps(trial: int = 0) -> Work:
    """False negatives of polyp masks, localized on five components of the features."""
    outputs = polyps_outputs.shipped()
    rows, _ = calibration_split(outputs, HEADLINE.pool, 0, trial)
    X = coordinates(outputs.features, rows)[rows]
    return Work("polyps", X, outputs.take(rows).curves(HEADLINE.space), HEADLINE.alpha)


def beams() -> Work:
    """Beam sets, localized on the position of the user."""
    city = Beams().load(Plan(trials=1))
    users = city.trials[0].calibration
    return Work("beams", users.positions, users.curves(), 0.1)


def synthetic(shift: bool, n: int = 10_000, seed: int = 0) -> Work:
    """Residuals that are larger on one side of the unit square, doubled half-way or not."""
    stream = heteroscedastic(n, seed, shift)
    name = "synthetic, shift" if shift else "synthetic"
    return Work(name, stream.X, stream.curves, 0.1)


def own() -> list[Work]:
    """All of them."""
    return [electricity(), fruit(), polyps(), beams(), synthetic(False), synthetic(True)]


def scores_of(work: Work) -> FloatArray:
    """The least threshold of each round whose loss is at most the target."""
    return np.array([work.curves[t].min_threshold(work.alpha) for t in range(len(work))])


def heavy_tails(n: int = 10_000, seed: int = 0) -> Work:
    """Lognormal scores in one feature, with a change of the tail half-way."""
    random = np.random.default_rng(seed)
    X = random.uniform(size=(n, 1))
    width = np.where(np.arange(n) < n / 2, 0.7, 1.2)
    scores = np.exp(width * random.normal(size=n) + 2.0 * np.sin(6.0 * X[:, 0]))
    return Work("heavy tails", X, miscoverage(scores, widths=0.0), 0.1)
