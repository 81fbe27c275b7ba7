"""Versions of a classification stream: without drift, other labels, or a worse model half-way."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from benchmarks.models.streams import Case, Trained

OFTEN = 0.8  # share of a class's rounds that fall into its half
NOISE = 0.5  # in standard deviations of the training features


def shuffled(trained: Trained, draw: int = 0) -> Case:
    """No drift: calibration rows and stream in a random order."""
    case = trained.case(name=f"{trained.source.name}, shuffled")
    return case.reorder(np.random.default_rng([3, draw]).permutation(len(case.y)))


def label_shift(trained: Trained, draw: int = 0) -> Case:
    """Every second class is frequent in the first half and rare in the second; others reversed."""
    case = trained.case(name=f"{trained.source.name}, label shift")
    assert case.classes is not None
    random = np.random.default_rng([1, draw])
    position = np.searchsorted(case.classes, case.stream(case.y))
    mostly_second = position % 2 == 1
    second = (random.random(len(case)) < OFTEN) == mostly_second
    known = case.calibration
    order = known + np.argsort(second, kind="stable")
    return case.reorder(np.concatenate([np.arange(known), order]))


def noise_change(trained: Trained, draw: int = 0) -> Case:
    """From half-way on, the features that the model sees have Gaussian noise added."""
    X = trained.rest.X.copy()
    random = np.random.default_rng([2, draw])
    start = trained.calibration + (len(X) - trained.calibration) // 2
    noise = random.normal(size=X.iloc[start:].shape) * NOISE
    X.iloc[start:] += noise * trained.spread.to_numpy()
    return trained.case(X, f"{trained.source.name}, noise")


def as_it_is(trained: Trained, draw: int = 0) -> Case:
    """In the order of the table."""
    return trained.case()


AS_IT_IS, SHUFFLED, LABEL_SHIFT, NOISE_CHANGE = "as it is", "shuffled", "label shift", "noise"
VERSIONS: dict[str, Callable[[Trained, int], Case]] = {
    AS_IT_IS: as_it_is,
    SHUFFLED: shuffled,
    LABEL_SHIFT: label_shift,
    NOISE_CHANGE: noise_change,
}
