"""Users: their positions, the gain of each beam there, and the predicted shares."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from localarc.curves import Curves, relative_regret
from localarc.validation import FloatArray
from localarc_lab.experiments.beams import predictor
from localarc_lab.experiments.beams.codebook import ComplexArray
from localarc_lab.experiments.beams.radio import Radio, gains
from localarc_lab.experiments.beams.raytracer import AREA, Engine, Scene, draw_receivers, trace

LEAST_GAIN = 1e-6
"""A user whose best beam has at most this gain, without fading, has no path and is excluded."""

NEAR = 50.0
"""Metres on the ground: Mondrian's border between users near the transmitter and far from it."""

_TOO_FEW = 0.01
_SPARE = 1.5  # users to trace per user needed, so that one trace is almost always enough


@dataclass(frozen=True, eq=False)
class Users:
    """Positions (n, 2), gains and predicted shares of beams (n, beams), and who is near."""

    positions: FloatArray
    gains: FloatArray
    shares: FloatArray
    near: NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.positions)

    def curves(self) -> Curves:
        """Return loss and size of each user's beam set; a beam's score is minus its share."""
        return relative_regret(-self.shares, self.gains)

    def groups(self) -> list[str]:
        """Return Mondrian's two groups."""
        return ["near" if near else "far" for near in self.near]

    def served(self, losses: FloatArray) -> FloatArray:
        """Return the gain of the best beam in each user's set; 0 where the set is empty."""
        return np.asarray((1.0 - losses) * self.gains.max(axis=1))


class Numbers(NamedTuple):
    """Numbers of users that train the predictor, calibrate and test."""

    training: int
    calibration: int
    test: int


@dataclass(frozen=True, eq=False)
class Trial:
    """Users, channels, fading and weights of one trial; `reached` is the fraction with a path."""

    calibration: Users
    test: Users
    reached: float

    @property
    def hits(self) -> float:
        """How often the beam with the largest predicted share is the best one, on test users."""
        return float(np.mean(self.test.shares.argmax(axis=1) == self.test.gains.argmax(axis=1)))


def draw(
    scene: Scene, radio: Radio, numbers: Numbers, random: np.random.Generator, engine: Engine
) -> Trial:
    """Draw one trial: trace users, add fading, train on the first ones, predict for the others."""
    codebook = radio.codebook(scene.transmitter.antennas)
    positions, channels, reached = _with_a_path(scene, codebook, sum(numbers), random, engine)
    strengths = radio.fade(channels, codebook, random)
    inputs = _scaled(positions)
    training = slice(0, numbers.training)
    network = predictor.train(inputs[training], strengths[training], random)
    shares = network.shares(inputs)
    near = np.hypot(*(positions - scene.transmitter.position[:2]).T) <= NEAR
    held = numbers.training + numbers.calibration
    parts = slice(numbers.training, held), slice(held, None)
    online, test = (Users(positions[p], strengths[p], shares[p], near[p]) for p in parts)
    return Trial(online, test, reached)


def _with_a_path(
    scene: Scene,
    codebook: ComplexArray,
    number: int,
    random: np.random.Generator,
    engine: Engine,
) -> tuple[FloatArray, ComplexArray, float]:
    """Positions (n, 2) and channels of users with a path, and the fraction that had one."""
    positions: list[FloatArray] = []
    channels: list[ComplexArray] = []
    found, tried = 0, 0
    while found < number:
        receivers = draw_receivers(scene, math.ceil(_SPARE * (number - found)) + 100, random)
        traced = trace(scene, receivers, engine)
        kept = gains(traced, codebook).max(axis=1) > LEAST_GAIN
        positions.append(receivers[kept, :2])
        channels.append(traced[kept])
        found, tried = found + int(kept.sum()), tried + len(kept)
        if found < _TOO_FEW * tried:
            raise ValueError(
                f"only {found} of {tried} users have a path from the transmitter. Move it, or "
                "remove buildings."
            )
    return np.concatenate(positions)[:number], np.concatenate(channels)[:number], found / tried


def _scaled(positions: FloatArray) -> FloatArray:
    """Scale positions in the area to [-1, 1] in both directions."""
    lower, upper = np.transpose(AREA)
    return np.asarray((2.0 * positions - lower - upper) / (upper - lower))
