"""Users: where they are, how strong each beam is there, and what the predictor says of it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from localarc.curves import Curves, relative_regret
from localarc.experiments.beams import predictor
from localarc.experiments.beams.codebook import ComplexArray
from localarc.experiments.beams.radio import Radio, gains
from localarc.experiments.beams.raytracer import AREA, Engine, Scene, draw_receivers, trace
from localarc.validation import FloatArray

LEAST_GAIN = 1e-6
"""A user whose best beam has no more than this, without fading, has no path, and is left out."""

NEAR = 50.0
"""Metres on the ground: Mondrian's border between users near the transmitter and far from it."""

_TOO_FEW = 0.01
_SPARE = 1.5  # users to trace for each one wanted, so that one trace is nearly always enough


@dataclass(frozen=True, eq=False)
class Users:
    """Places (n, 2), gains and predicted shares of beams (n, beams), and who is near."""

    places: FloatArray
    gains: FloatArray
    shares: FloatArray
    near: NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.places)

    def curves(self) -> Curves:
        """The loss and size of each user's beam set; a beam's score is minus its share."""
        return relative_regret(-self.shares, self.gains)

    def groups(self) -> list[str]:
        """Mondrian's two groups."""
        return ["near" if near else "far" for near in self.near]

    def served(self, losses: FloatArray) -> FloatArray:
        """The gain of the best beam in each user's set; 0 where the set is empty."""
        return np.asarray((1.0 - losses) * self.gains.max(axis=1))


class Numbers(NamedTuple):
    """How many users train the predictor, calibrate and test."""

    training: int
    calibration: int
    test: int


@dataclass(frozen=True, eq=False)
class Trial:
    """Users, channels, fading and weights of one trial; `reached` is the share with a path."""

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
    """One trial: draw users, trace them, fade, train on the first, predict for the others."""
    codebook = radio.codebook(scene.transmitter.antennas)
    places, channels, reached = _with_a_path(scene, codebook, sum(numbers), random, engine)
    strengths = radio.fade(channels, codebook, random)
    inputs = _scaled(places)
    learnt = slice(0, numbers.training)
    network = predictor.train(inputs[learnt], strengths[learnt], random)
    shares = network.shares(inputs)
    near = np.hypot(*(places - scene.transmitter.position[:2]).T) <= NEAR
    held = numbers.training + numbers.calibration
    parts = slice(numbers.training, held), slice(held, None)
    online, test = (Users(places[p], strengths[p], shares[p], near[p]) for p in parts)
    return Trial(online, test, reached)


def _with_a_path(
    scene: Scene,
    codebook: ComplexArray,
    number: int,
    random: np.random.Generator,
    engine: Engine,
) -> tuple[FloatArray, ComplexArray, float]:
    """Places (n, 2) and channels of so many users with a path, and the share that had one."""
    places: list[FloatArray] = []
    channels: list[ComplexArray] = []
    found, tried = 0, 0
    while found < number:
        receivers = draw_receivers(scene, math.ceil(_SPARE * (number - found)) + 100, random)
        traced = trace(scene, receivers, engine)
        kept = gains(traced, codebook).max(axis=1) > LEAST_GAIN
        places.append(receivers[kept, :2])
        channels.append(traced[kept])
        found, tried = found + int(kept.sum()), tried + len(kept)
        if found < _TOO_FEW * tried:
            raise ValueError(
                f"only {found} of {tried} users have a path from the transmitter. Move it, or take "
                "away buildings."
            )
    return np.concatenate(places)[:number], np.concatenate(channels)[:number], found / tried


def _scaled(places: FloatArray) -> FloatArray:
    """From the area to [-1, 1] in both directions."""
    lower, upper = np.transpose(AREA)
    return np.asarray((2.0 * places - lower - upper) / (upper - lower))
