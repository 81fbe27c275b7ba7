"""The predictor: a small network that predicts each beam's share of the gain from the location.

It is implemented in NumPy: with 507 weights and 2,500 users a deep-learning framework would be no
faster, and the experiment runs with the default installation.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from localarc.validation import FloatArray

HIDDEN = 16, 16
_STEPS = 5000
_BATCH = 100
_RATE = 0.01
_DECAYS = 0.9, 0.999  # Adam's, as its authors chose them
_TINY = 1e-8

Layer = tuple[FloatArray, FloatArray]


@dataclass(frozen=True, eq=False)
class Predictor:
    """Fully connected layers with rectifiers between them and a softmax at the end."""

    layers: tuple[Layer, ...]

    def shares(self, inputs: FloatArray) -> FloatArray:
        """Return the predicted shares of all beams, (n, beams); they sum to 1."""
        return _softmax(_forward(self.layers, inputs)[-1])


def train(
    inputs: FloatArray, gains: FloatArray, random: np.random.Generator, steps: int = _STEPS
) -> Predictor:
    """Fit the shares `gain / sum of gains` by cross-entropy, with Adam on random batches of users.

    The learning rate falls linearly to 0, so that the last steps converge.
    """
    target = gains / gains.sum(axis=1, keepdims=True)
    layers = _random_layers((inputs.shape[1], *HIDDEN, gains.shape[1]), random)
    weights = [part for layer in layers for part in layer]
    means = [np.zeros_like(part) for part in weights]
    squares = [np.zeros_like(part) for part in weights]
    for step in range(1, steps + 1):
        rate = _RATE * (1.0 - (step - 1) / steps)
        batch = random.integers(len(inputs), size=_BATCH)
        gradients = _gradients(_pairs(weights), inputs[batch], target[batch])
        for weight, mean, square, gradient in zip(weights, means, squares, gradients, strict=True):
            mean += (1.0 - _DECAYS[0]) * (gradient - mean)
            square += (1.0 - _DECAYS[1]) * (gradient**2 - square)
            unbiased = mean / (1.0 - _DECAYS[0] ** step)
            scale = np.sqrt(square / (1.0 - _DECAYS[1] ** step)) + _TINY
            weight -= rate * unbiased / scale
    return Predictor(_pairs(weights))


def cross_entropy(predictor: Predictor, inputs: FloatArray, gains: FloatArray) -> float:
    """Return the training loss: the mean of `-sum_i share_i log(predicted share_i)`."""
    target = gains / gains.sum(axis=1, keepdims=True)
    return float(-(target * np.log(predictor.shares(inputs) + 1e-300)).sum(axis=1).mean())


def _random_layers(sizes: tuple[int, ...], random: np.random.Generator) -> tuple[Layer, ...]:
    """Gaussian weights of variance 2 / inputs (He initialization); zero biases."""
    return tuple(
        (random.normal(scale=np.sqrt(2.0 / rows), size=(rows, columns)), np.zeros(columns))
        for rows, columns in pairwise(sizes)
    )


def _pairs(weights: list[FloatArray]) -> tuple[Layer, ...]:
    return tuple(zip(weights[::2], weights[1::2], strict=True))


def _forward(layers: tuple[Layer, ...], inputs: FloatArray) -> list[FloatArray]:
    """The inputs of each layer, then the output of the last one, before the softmax."""
    values = [inputs]
    for number, (matrix, bias) in enumerate(layers, start=1):
        out = values[-1] @ matrix + bias
        values.append(out if number == len(layers) else np.maximum(out, 0.0))
    return values


def _gradients(
    layers: tuple[Layer, ...], inputs: FloatArray, target: FloatArray
) -> list[FloatArray]:
    """Gradients of the mean cross-entropy by backpropagation, in the order of the weights."""
    *entering, logits = _forward(layers, inputs)
    error = (_softmax(logits) - target) / len(inputs)
    found: list[FloatArray] = []
    for (matrix, _), values in zip(reversed(layers), reversed(entering), strict=True):
        found = [values.T @ error, error.sum(axis=0), *found]
        error = (error @ matrix.T) * (values > 0.0)
    return found


def _softmax(logits: FloatArray) -> FloatArray:
    powers = np.exp(logits - logits.max(axis=1, keepdims=True))
    return np.asarray(powers / powers.sum(axis=1, keepdims=True))
