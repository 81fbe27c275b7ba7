"""Real streams of labels: sets of labels by their probability."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from localarc.curves import miscoverage, negative_probability
from localarc.streams import Stream
from localarc.validation import FloatArray
from localarc_lab.arena import tables
from localarc_lab.arena.base_models import TRAINING, discriminant, training_rows

_SUREST = 1.0 - 1e-6  # shares have six digits
_FOREST = 7
_AREAS = 4
_NUMERIC = (
    *("Elevation", "Aspect", "Slope", "Horizontal_Distance_To_Hydrology"),
    *("Vertical_Distance_To_Hydrology", "Horizontal_Distance_To_Roadways", "Hillshade_9am"),
    *("Hillshade_Noon", "Hillshade_3pm", "Horizontal_Distance_To_Fire_Points"),
)


def forest(rounds: int) -> Stream:
    """The kind of forest, of seven, in the order of the file."""
    table = tables.read("multiflow-covtype", "covtype.csv", round(rounds / (1.0 - TRAINING)))
    areas = table.numbers(*(f"Wilderness_Area{i + 1}" for i in range(_AREAS)))
    numeric = table.numbers(*_NUMERIC)
    labels = table.numbers("Cover_Type").astype(np.int64) - 1
    first = training_rows(len(labels))
    shares = discriminant(np.column_stack([numeric, areas]), labels, _FOREST)
    groups = tuple(f"area {number + 1}" for number in areas[first:].argmax(axis=1))
    return _label_sets(
        numeric[first:, [0, 2]], shares, labels[first:], groups, ("elevation", "slope")
    )


def rain(rounds: int) -> Stream:
    """Whether it rained on a day at an air base, over fifty years."""
    table = tables.read("multiflow-weather", "weather.csv")
    inputs = table.numbers(*(f"feat_{i + 1}" for i in range(8)))
    labels = table.numbers("target").astype(np.int64)
    first = training_rows(len(labels))
    temperature = inputs[:, 0]
    edges = np.quantile(temperature[:first], [1 / 3, 2 / 3])
    names = np.array(["cold", "mild", "warm"])
    groups = tuple(names[np.searchsorted(edges, temperature[first:])].tolist())
    shares = discriminant(inputs, labels, 2)
    X = inputs[first:, :2]
    return _label_sets(X, shares, labels[first:], groups, ("temperature", "dew point"))


def digits(rounds: int) -> Stream:
    """Handwritten digits, localized on their ink and the log-odds of the confidence."""
    table = tables.read_matrix("digits", "digits.csv.gz")
    labels = table[:, -1].astype(np.int64)
    first = training_rows(len(labels))
    shares = discriminant(table[:, :-1], labels, 10)
    groups = tuple(f"taken for {digit}" for digit in shares.argmax(axis=1))
    sure = np.clip(shares.max(axis=1), 0.0, _SUREST)
    X = np.column_stack([table[first:, :-1].mean(axis=1), np.log(sure / (1.0 - sure))])
    return _label_sets(X, shares, labels[first:], groups, ("ink", "log-odds"))


def _label_sets(
    X: FloatArray,
    shares: FloatArray,
    labels: NDArray[np.int64],
    groups: tuple[str, ...],
    features: tuple[str, ...],
) -> Stream:
    scores = negative_probability(shares)
    truth = scores[np.arange(len(labels)), labels]
    return Stream("", X, miscoverage(truth, label_scores=scores), groups, features)
