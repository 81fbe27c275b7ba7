"""Slow, obvious twins of the engine: dense NumPy, one round after the other."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from localarc.engine import Stream

Floats = NDArray[np.float64]
Formula = Callable[[Floats], Floats]


def assert_close(actual: Floats, expected: Floats, tolerance: float) -> None:
    """Equal up to an absolute tolerance."""
    np.testing.assert_allclose(actual, expected, rtol=0, atol=tolerance)


def squared_distances(left: Floats, right: Floats) -> Floats:
    return np.asarray(((left[:, None, :] - right[None, :, :]) ** 2).sum(axis=2))


PARAMETERS = {"triangular": 2.0, "rational_quadratic": 1.5}  # of 2 and 3 features, and a shape


def formulas(dimensions: int) -> dict[str, Formula]:
    """Built-in kernels as formulas in u, with shape 1.5 for the rational quadratic."""
    return {
        "gaussian": lambda u: np.exp(-u),
        "laplace": lambda u: np.exp(-np.sqrt(u)),
        "matern32": lambda u: (1 + np.sqrt(3 * u)) * np.exp(-np.sqrt(3 * u)),
        "matern52": lambda u: (1 + np.sqrt(5 * u) + 5 * u / 3) * np.exp(-np.sqrt(5 * u)),
        "cauchy": lambda u: 1 / (1 + u),
        "triangular": lambda u: np.maximum(0, 1 - np.sqrt(u)) ** (dimensions // 2 + 1),
        "rational_quadratic": lambda u: (1 + u / 1.5) ** -1.5,
    }


@dataclass
class SlowExpansion:
    """f_t for every t, as explicit coefficients: nothing is lazy."""

    formula: Formula
    scale: float = 1.0
    window: int | None = None
    centres: list[Floats] = field(default_factory=list)
    weights: list[float] = field(default_factory=list)
    past: list[float] = field(default_factory=list)
    rounds: int = 0

    def evaluate(self, points: Floats) -> Floats:
        return self._sum(points, self.weights)

    def accumulate(self) -> None:
        self.past = [p + w for p, w in zip(self.past, self.weights, strict=True)]
        self.rounds += 1

    def shrink(self, factor: float) -> None:
        self.weights = [w * factor for w in self.weights]

    def add(self, point: Floats, weight: float) -> None:
        self.centres.append(point)
        self.weights.append(weight)
        self.past.append(0.0)
        if self.window is not None and len(self.weights) > self.window:
            self.weights[-self.window - 1] = 0.0

    def average(self, points: Floats) -> Floats:
        return self._sum(points, self.past) / max(self.rounds, 1)

    def _sum(self, points: Floats, weights: list[float]) -> Floats:
        if not weights:
            return np.zeros(len(points))
        kernel = self.formula(squared_distances(points, np.array(self.centres)))
        return np.asarray(self.scale * kernel @ np.array(weights))


def play(expansion: Any, stream: Stream, peak: float) -> tuple[Floats, Floats]:
    """The online loop, with any expansion: thresholds and losses. `peak` is k(x, x)."""
    constant, norm = stream.constant, stream.norm
    thresholds, losses = np.empty(len(stream)), np.empty(len(stream))
    for t, point in enumerate(stream.points):
        value = float(expansion.evaluate(point[None])[0])
        thresholds[t] = np.clip(value, -stream.clip, stream.clip) + constant
        own = slice(stream.offsets[t], stream.offsets[t + 1])
        entry = np.searchsorted(stream.breakpoints[own], thresholds[t], "right") - 1
        losses[t] = stream.losses[own][entry]
        push = stream.rates[t] * (losses[t] - stream.alpha)
        decay = stream.decays[t]
        norm = max(decay**2 * norm + 2 * decay * push * value + push**2 * peak, 0.0)
        expansion.accumulate()
        expansion.shrink(decay)
        expansion.add(point, push)
        constant = max(constant + push, stream.floor)
        if norm > stream.radius**2:
            expansion.shrink(stream.radius / np.sqrt(norm))
            norm = stream.radius**2
    return thresholds, losses


def random_stream(
    seed: int,
    rounds: int,
    dimensions: int,
    regularization: float = 1e-3,
    rate: float = 1.0,
    spread: float = 1.0,
    **rules: Any,
) -> Stream:
    """Points in a cloud; two-step loss curves at random scores that depend on the point."""
    rng = np.random.default_rng(seed)
    points = spread * rng.normal(size=(rounds, dimensions))
    scores = np.abs(rng.normal(size=rounds)) * (1 + np.tanh(points[:, 0]))
    breakpoints = np.stack([np.full(rounds, -np.inf), scores, scores + 0.3], axis=1).ravel()
    rates = rate / np.sqrt(np.arange(1, rounds + 1))
    return Stream(
        points=points,
        breakpoints=breakpoints,
        losses=np.tile([1.0, 0.4, 0.0], rounds),
        offsets=np.arange(0, 3 * rounds + 1, 3),
        rates=rates,
        decays=1 - regularization * rates,
        alpha=0.1,
        **rules,
    )


def halves(stream: Stream, at: int) -> tuple[Stream, Stream]:
    """The first `at` rounds, and the rest."""

    def part(rounds: slice, entries: slice) -> Stream:
        return replace(
            stream,
            points=stream.points[rounds],
            rates=stream.rates[rounds],
            decays=stream.decays[rounds],
            offsets=stream.offsets[entries],
        )

    return part(slice(0, at), slice(0, at + 1)), part(slice(at, None), slice(at, None))


def assert_resumes(make: Callable[[], Any], stream: Stream, at: int) -> None:
    """A copy restored in the middle goes on bit for bit, and two halves are the whole."""
    first, second = halves(stream, at)
    expansion = make()
    middle = expansion.replay(first)
    copy = make().restore(expansion.arrays())
    rest = replace(second, constant=middle.constant, norm=middle.norm)
    ours, theirs = expansion.replay(rest), copy.replay(rest)
    np.testing.assert_array_equal(ours.thresholds, theirs.thresholds)
    np.testing.assert_array_equal(ours.losses, theirs.losses)
    for name, array in expansion.arrays().items():
        np.testing.assert_array_equal(array, copy.arrays()[name])
    assert_close(ours.thresholds, make().replay(stream).thresholds[at:], 1e-12)
    size = sum(array.nbytes for array in expansion.arrays().values())
    assert expansion.nbytes == size
