"""The suite: streams that are complete, point one way and use only what was known."""

from __future__ import annotations

import os

import numpy as np
import pytest

from localarc.streams import Stream
from localarc_lab import data
from localarc_lab.arena import SUITE
from localarc_lab.arena.base_models import discriminant, ridge, training_rows
from localarc_lab.data import DATASETS

pytestmark = pytest.mark.slow

ROUNDS = 600
AT_HAND = [name for name, e in SUITE.items() if e.data is None or data.find(e.data) is not None]


def load(name: str) -> Stream:
    return SUITE[name].load(ROUNDS)


every_stream_at_hand = pytest.mark.parametrize("name", AT_HAND)


def test_the_suite_has_the_streams_that_it_promises() -> None:
    assert len(SUITE) >= 12
    assert {"electricity", "polyps", "fruit", "beams"} <= set(SUITE)
    assert all(entry.name == name for name, entry in SUITE.items())
    assert all(entry.data is None or entry.data in DATASETS for entry in SUITE.values())
    for entry in SUITE.values():
        assert all((entry.title, entry.model, entry.groups, entry.licence))


@pytest.mark.skipif("LOCALARC_REQUIRE_DATA" not in os.environ, reason="data may be missing here")
def test_elec2_is_at_hand_where_data_are_required() -> None:
    assert "electricity" in AT_HAND


@every_stream_at_hand
def test_a_stream_has_features_groups_and_sizes(name: str) -> None:
    stream = load(name)
    assert stream.name == name
    assert 300 <= len(stream) <= ROUNDS
    assert stream.X.shape[1] >= 1
    assert np.isfinite(stream.X).all()
    assert 2 <= len(set(stream.groups or ())) <= 12
    assert np.isfinite(stream.curves.sizes_at(np.zeros(len(stream)))).all()


@every_stream_at_hand
def test_a_larger_threshold_has_larger_sets_and_smaller_losses(name: str) -> None:
    """One orientation for all: scores where lower is better."""
    curves = load(name).curves
    steps = np.unique(curves.breakpoints[np.isfinite(curves.breakpoints)])
    grid = np.quantile(steps, np.linspace(0.0, 1.0, 9))
    losses = np.array([curves.losses_at(np.full(len(curves), g)) for g in grid])
    sizes = np.array([curves.sizes_at(np.full(len(curves), g)) for g in grid])
    assert (np.diff(losses, axis=0) <= 0.0).all()
    assert (np.diff(sizes, axis=0) >= 0.0).all()
    assert losses[-1].mean() == 0.0
    assert losses[0].mean() > SUITE[name].alpha


@every_stream_at_hand
def test_a_stream_is_the_same_every_time(name: str) -> None:
    one, two = load(name), load(name)
    assert np.array_equal(one.X, two.X)
    assert np.array_equal(one.curves.breakpoints, two.curves.breakpoints)
    assert one.groups == two.groups


def test_base_models_do_not_see_the_outcomes_of_their_rounds() -> None:
    random = np.random.default_rng(0)
    X, y = random.normal(size=(400, 3)), random.normal(size=400)
    first = training_rows(400)
    other = np.where(np.arange(400) < first, y, -7.0 * y)
    assert np.array_equal(ridge(X, y), ridge(X, other))
    labels = (y > 0).astype(np.int64)
    flipped = np.where(np.arange(400) < first, labels, 1 - labels)
    assert np.array_equal(discriminant(X, labels, 2), discriminant(X, flipped, 2))


def test_base_models_predict() -> None:
    random = np.random.default_rng(1)
    X = random.normal(size=(800, 2))
    y = 3.0 * X[:, 0] - X[:, 1] + 0.1 * random.normal(size=800)
    first = training_rows(800)
    assert np.abs(ridge(X, y) - y[first:]).mean() < 0.15
    labels = (y > 0).astype(np.int64)
    shares = discriminant(X, labels, 3)
    assert (shares.argmax(axis=1) == labels[first:]).mean() > 0.9
    assert shares.sum(axis=1) == pytest.approx(1.0, abs=1e-5)
    assert (shares[:, 2] == 0.0).all()


def test_the_adversary_swaps_places_at_every_power_of_two() -> None:
    stream = SUITE["adversary"].load(2048)
    scores = stream.curves.breakpoints[1::2]
    here = np.array([group == "here" for group in stream.groups or ()])
    for k in range(5, 10):
        phase = np.arange(2**k - 1, 2 ** (k + 1) - 1)
        high = here[phase] == (k % 2 == 0)
        assert (scores[phase][high] >= 0.9).all()
        assert (scores[phase][~high] <= 0.1).all()


def test_no_set_can_fail_in_the_first_rounds_of_harmless_rounds() -> None:
    curves = SUITE["harmless-rounds"].load(1000).curves
    losses = curves.losses_at(np.full(1000, -1e9))
    assert (losses[:400] == 0.0).all()
    assert (losses[400:] == 1.0).all()
