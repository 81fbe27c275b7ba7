"""One round of an expansion, and many of them: the path that every expansion can take."""

from __future__ import annotations

import math

import numpy as np

from localarc.kernels import Kernel
from localarc.memory.base import Expansion, Played, Rounds
from localarc.validation import FloatArray


def step(
    local: Expansion,
    kernel: Kernel,
    point: FloatArray,
    decay: float,
    push: float,
    radius: float,
    square: float,
) -> float:
    """f <- decay f + push k(point, .), then back into the ball of `radius`; the next |f|^2."""
    projection, square = project(local, kernel, point, decay, push, radius, square)
    local.learn(point, decay, push, projection)
    return square


def project(
    local: Expansion,
    kernel: Kernel,
    point: FloatArray,
    decay: float,
    push: float,
    radius: float,
    square: float,
) -> tuple[float, float]:
    """The factor that brings the next f back into the ball of `radius`, and then |f|^2.

    |f_(t+1)|^2 = decay^2 |f_t|^2 + 2 decay push f_t(x) + push^2 k(x, x): no pass over the terms.
    It changes nothing.
    """
    if radius == math.inf:
        return 1.0, max(square, 0.0)
    peak = float(kernel.matrix(point[None], point[None])[0, 0])
    here = local.evaluate_one(point)
    square = decay * decay * square + 2.0 * decay * push * here + push * push * peak
    if square > radius * radius:
        return radius / math.sqrt(square), radius * radius
    return 1.0, max(square, 0.0)


def play(local: Expansion, kernel: Kernel, rounds: Rounds) -> Played:
    """Play rounds one by one."""
    thresholds, losses = np.empty((2, len(rounds.points)))
    constant, square = rounds.constant, rounds.square
    for t, point in enumerate(rounds.points):
        here = local.evaluate_one(point)
        thresholds[t] = constant + min(max(here, -rounds.clip), rounds.clip)
        losses[t] = rounds.curves.loss_at(t, thresholds[t])
        push = float(rounds.rates[t] * (losses[t] - rounds.alpha))
        decay = float(rounds.decays[t])
        square = step(local, kernel, point, decay, push, rounds.radius, square)
        constant = max(constant + push, rounds.floor)
    return Played(thresholds, losses, square)
