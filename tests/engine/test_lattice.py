"""The lattice is the exact expansion with another kernel, within its tolerance of the Gaussian."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.reference import (
    Floats,
    SlowExpansion,
    assert_close,
    assert_resumes,
    formulas,
    play,
    random_stream,
    squared_distances,
)
from localarc.engine import GAUSSIAN, ExactExpansion, LatticeExpansion
from localarc.engine.lattice import layout
from localarc.engine.lattice.quadrature import Rule, choose_rule
from localarc.engine.numba_tools import compile_entry

ROUNDING = 4e-15


def lattice_kernel(left: Floats, right: Floats, rule: Rule) -> Floats:
    """The kernel of the lattice, summed over every node that any of the points can feel."""
    kernel = np.ones((len(left), len(right)))
    for k in range(left.shape[1]):
        both = np.concatenate([left[:, k], right[:, k]])
        n = np.arange(
            np.floor(both.min() / rule.step) - rule.reach - 1,
            np.ceil(both.max() / rule.step) + rule.reach + 2,
        )

        def phi(x: Floats, n: Floats = n) -> Floats:
            first = np.floor(x / rule.step) - rule.reach + 1
            near = (n >= first[:, None]) & (n < first[:, None] + 2 * rule.reach)
            return np.where(near, np.exp(-2 * (x[:, None] - n * rule.step) ** 2), 0.0)

        kernel *= rule.weight(1) * phi(left[:, k]) @ phi(right[:, k]).T
    return kernel


@pytest.mark.parametrize("dimensions", [1, 2, 3])
@settings(derandomize=True, max_examples=15, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    tolerance=st.sampled_from([1e-1, 1e-3, 1e-6, 1e-9, 1e-12, 1e-15]),
    spread=st.sampled_from([0.05, 1.0, 3.0]),
)
def test_the_kernel_is_within_its_tolerance(
    dimensions: int, seed: int, tolerance: float, spread: float
) -> None:
    rng = np.random.default_rng(seed)
    left, right = spread * rng.normal(size=(2, 30, dimensions))
    rule = choose_rule(tolerance, dimensions)
    exact = np.exp(-squared_distances(left, right))
    off = np.abs(lattice_kernel(left, right, rule) - exact).max()
    assert rule.error(dimensions) <= tolerance
    assert off <= rule.error(dimensions) + ROUNDING


@pytest.mark.parametrize("dimensions", [1, 2])
@pytest.mark.parametrize("tolerance", [1e-1, 1e-2, 1e-4, 1e-8, 1e-12])
def test_the_bound_holds_at_the_worst_distances_and_is_not_far_from_what_happens_there(
    dimensions: int, tolerance: float
) -> None:
    rule = choose_rule(tolerance, dimensions)
    starts = np.linspace(0.0, rule.step, 17)[:, None]
    gaps = np.linspace(0.0, 2.5 * rule.reach * rule.step, 301)[:, None]
    lattice = np.concatenate(
        [lattice_kernel(start[None], start + gaps, rule)[0] for start in starts]
    )
    exact = np.tile(np.exp(-(gaps[:, 0] ** 2)), len(starts))
    if dimensions == 2:  # any pair of distances along the two axes
        lattice, exact = (np.outer(each, each).ravel() for each in (lattice, exact))
    off = np.abs(lattice - exact).max()
    assert rule.error(dimensions) / 3 <= off <= rule.error(dimensions) + ROUNDING


@pytest.mark.slow
@pytest.mark.parametrize("dimensions", [1, 2, 3])
def test_the_loops_evaluate_that_kernel(dimensions: int) -> None:
    rng = np.random.default_rng(1)
    centres, queries = rng.normal(size=(2, 20, dimensions))
    weights = rng.normal(size=20)
    expansion = LatticeExpansion(dimensions, tolerance=1e-5, scale=0.7)
    for centre, weight in zip(centres, weights, strict=True):
        expansion.add(centre, float(weight))
    kernel = lattice_kernel(queries, centres, expansion.rule)
    assert_close(expansion.evaluate(queries), 0.7 * kernel @ weights, 1e-14)
    singly = [expansion.evaluate_one(query) for query in queries]
    assert singly == expansion.evaluate(queries).tolist()


@pytest.mark.slow
@pytest.mark.parametrize("dimensions", [1, 2, 3])
@pytest.mark.parametrize("regularization", [0.0, 1e-3, 0.5])
def test_at_rounding_accuracy_it_is_the_exact_algorithm(
    dimensions: int, regularization: float
) -> None:
    rounds = 120 if dimensions == 3 else 600
    stream = random_stream(dimensions, rounds, dimensions, regularization)
    slow = SlowExpansion(formulas(dimensions)["gaussian"], 0.7)
    online, fast = (LatticeExpansion(dimensions, 1e-15, 0.7) for _ in range(2))
    thresholds, losses = play(slow, stream, 0.7)
    stepwise, _ = play(online, stream, 0.7)
    played = fast.replay(stream)
    assert_close(played.thresholds, thresholds, 1e-12)
    assert_close(stepwise, played.thresholds, 1e-14)
    np.testing.assert_array_equal(played.losses, losses)
    queries = stream.points[:9] + 0.1
    for expansion in (online, fast):
        assert_close(expansion.evaluate(queries), slow.evaluate(queries), 1e-12)
        assert_close(expansion.average(queries), slow.average(queries), 1e-12)


def test_f_is_within_the_tolerance_times_the_weights() -> None:
    stream = random_stream(4, 3000, 2, spread=3.0)
    exact, lattice = ExactExpansion(GAUSSIAN, 2), LatticeExpansion(2, 1e-6)
    total = 0.0
    for point, rate in zip(stream.points, stream.rates.tolist(), strict=True):
        exact.add(point, rate)
        lattice.add(point, rate)
        total += rate
    queries = stream.points[::7]
    assert_close(lattice.evaluate(queries), exact.evaluate(queries), 1e-6 * total)


def test_strong_decay_leaves_the_average_exact() -> None:
    stream = replace(random_stream(0, 500, 2), rates=np.full(500, 0.9), decays=np.full(500, 0.55))
    slow, lattice = SlowExpansion(formulas(2)["gaussian"]), LatticeExpansion(2)
    play(slow, stream, 1.0)
    lattice.replay(stream)
    assert_close(lattice.average(stream.points[:20]), slow.average(stream.points[:20]), 1e-12)


@pytest.mark.parametrize("decay", [0.5, 1e-6, 1e-12, 1e-15])
def test_strong_decay_leaves_the_average_of_single_rounds_exact(decay: float) -> None:
    stream = replace(random_stream(0, 300, 2), decays=np.full(300, decay))
    online, replayed = LatticeExpansion(2), LatticeExpansion(2)
    losses = replayed.replay(stream).losses
    pushes = stream.rates * (losses - stream.alpha)
    for point, push in zip(stream.points, pushes.tolist(), strict=True):
        online.learn_raw(point, decay, push)
    queries = stream.points[:20]
    assert_close(online.average(queries), replayed.average(queries), 1e-14)


def test_clip_and_ball_are_those_of_the_exact_expansion() -> None:
    stream = random_stream(2, 500, 2, clip=0.3, radius=0.5)
    exact, lattice = ExactExpansion(GAUSSIAN, 2).replay(stream), LatticeExpansion(2).replay(stream)
    assert_close(lattice.thresholds, exact.thresholds, 1e-12)
    assert lattice.norm == pytest.approx(exact.norm, abs=1e-12)


@pytest.mark.parametrize("dimensions", [1, 2, 3])
def test_a_saved_state_resumes_bit_for_bit(dimensions: int) -> None:
    stream = random_stream(5, 300, dimensions, regularization=0.1, spread=2.0)
    for at in (0, 170):
        assert_resumes(lambda: LatticeExpansion(dimensions, 1e-6), stream, at)


def test_a_state_brings_the_rule_that_its_nodes_were_laid_out_by() -> None:
    fine, coarse = LatticeExpansion(2, 1e-8), LatticeExpansion(2, 1e-4)
    stream = random_stream(5, 300, 2)
    fine.replay(stream)
    coarse.restore(fine.arrays())
    assert coarse.rule == fine.rule
    assert sum(array.nbytes for array in coarse.arrays().values()) == coarse.nbytes
    for expansion in (fine, coarse):
        expansion.learn_raw(stream.points[0], 0.9, 0.3)
    queries = stream.points[:9]
    np.testing.assert_array_equal(coarse.evaluate(queries), fine.evaluate(queries))


@pytest.mark.parametrize("tolerance", [1e-15, 1e-4, 0.1])
@pytest.mark.parametrize("dimensions", [1, 2])
def test_the_kernel_of_the_lattice_is_semi_definite_and_never_negative(
    dimensions: int, tolerance: float
) -> None:
    points = (
        np.random.default_rng(0).normal(size=(40, dimensions)) * np.linspace(0.1, 6, 40)[:, None]
    )
    matrix = np.empty((40, 40))
    for row, point in zip(matrix, points, strict=True):
        lattice = LatticeExpansion(dimensions, tolerance)
        lattice.add(point, 1.0)
        row[:] = lattice.evaluate(points)
    assert matrix.min() >= 0.0
    assert matrix.max() <= 1.0 + tolerance + 1e-15
    assert np.linalg.eigvalsh(matrix).min() > -1e-14
    weights = np.random.default_rng(1).normal(size=40)
    exact = np.exp(-((points[:, None] - points) ** 2).sum(-1))
    excess = weights @ (matrix - exact) @ weights
    assert abs(excess) <= tolerance * np.abs(weights).sum() ** 2  # as the guarantees page states


def test_outliers_cost_tiles_and_not_a_box() -> None:
    rng = np.random.default_rng(0)
    exact, lattice = ExactExpansion(GAUSSIAN, 2), LatticeExpansion(2)
    points = rng.normal(size=(60, 2)) * np.geomspace(1, 1e6, 60)[:, None]
    for point in points:
        exact.add(point, 1.0)
        lattice.add(point, 1.0)
    assert_close(lattice.evaluate(points), exact.evaluate(points), 1e-9)
    assert lattice.nbytes < 60 * 28_000  # what the guide says of an input far from all others
    assert lattice.evaluate_one(np.array([1e200, 0.0])) == 0.0


def test_evaluating_elsewhere_does_not_change_the_next_term() -> None:
    a, b = np.array([0.0, 0.0]), np.array([30.0, 1.0])
    plain, nosy = LatticeExpansion(2), LatticeExpansion(2)
    for expansion in (plain, nosy):
        for point in (a, b, b, a):
            if expansion is nosy:
                nosy.evaluate_one(b)
                nosy.evaluate(np.stack([a, b]))
                nosy.evaluate_one(a)
            expansion.add(point, 1.0)
    np.testing.assert_array_equal(plain.evaluate(np.stack([a, b])), nosy.evaluate(np.stack([a, b])))


def test_evaluating_the_average_does_not_change_the_next_term() -> None:
    a, b = np.array([0.0, 0.0]), np.array([30.0, 1.0])
    plain, nosy = LatticeExpansion(2), LatticeExpansion(2)
    for expansion in (plain, nosy):
        for point in (a, b, b, a):
            expansion.evaluate_one(point)
            if expansion is nosy:
                nosy.average(np.stack([a, b]))
            expansion.learn_raw(point, 0.9, 1.0)
    np.testing.assert_array_equal(plain.evaluate(np.stack([a, b])), nosy.evaluate(np.stack([a, b])))


def test_memory_has_a_limit_and_the_error_says_what_to_do() -> None:
    points = 40.0 * np.argwhere(np.ones((30, 30))).astype(np.float64)
    stream = replace(random_stream(0, 900, 2), points=points)
    with pytest.raises(MemoryError, match="max_bytes"):
        LatticeExpansion(2, max_bytes=2**20).replay(stream)


def test_a_point_out_of_reach_is_rejected_and_nothing_changes() -> None:
    lattice = LatticeExpansion(1)
    lattice.add(np.array([0.0]), 1.0)
    with pytest.raises(ValueError, match="Centre"):
        lattice.add(np.array([1e300]), 1.0)
    with pytest.raises(ValueError, match="Centre"):
        lattice.add(np.array([np.nan]), 1.0)
    assert lattice.evaluate_one(np.array([0.0])) == pytest.approx(1.0, abs=1e-15)


def test_the_state_does_not_grow_with_time() -> None:
    stream = random_stream(1, 20_000, 2)
    lattice = LatticeExpansion(2)
    lattice.replay(stream)
    before = lattice.nbytes
    lattice.replay(stream)
    assert lattice.nbytes == before < 200_000


@pytest.mark.parametrize("start", range(layout.NUMBERS, layout.NUMBERS + 8))
def test_moving_full_nodes_leaves_zeros_behind_them(start: int) -> None:
    lattice = LatticeExpansion(1)
    floats, integers = lattice._floats, lattice._integers
    realign = compile_entry(layout.realign)
    realign(floats, integers, layout.NUMBERS + 7)
    _, _, nodes, end, _, _ = layout.edges(floats, integers)
    floats[nodes:end] = np.arange(1, end - nodes + 1)
    realign(floats, integers, start)
    _, _, nodes, end, _, _ = layout.edges(floats, integers)
    np.testing.assert_array_equal(floats[nodes:end], np.arange(1, end - nodes + 1))
    assert not floats[end:].any()


@pytest.mark.parametrize("dimensions", [0, 4])
def test_a_lattice_supports_one_to_three_features(dimensions: int) -> None:
    with pytest.raises(ValueError, match="1 to 3 features"):
        LatticeExpansion(dimensions)


@pytest.mark.parametrize("tolerance", [0.0, 1e-17, 0.5, float("nan")])
def test_a_tolerance_must_be_reachable(tolerance: float) -> None:
    with pytest.raises(ValueError, match="tolerance"):
        LatticeExpansion(1, tolerance)
