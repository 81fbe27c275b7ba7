import numpy as np
import pytest

from localarc.measures import block_bootstrap


def test_the_value_is_the_mean_and_lies_in_its_interval() -> None:
    values = np.random.default_rng(0).normal(size=500)
    estimate = block_bootstrap(values, np.arange(500) // 10)
    assert estimate.value == pytest.approx(values.mean())
    assert estimate.low < estimate.value < estimate.high


def test_blocks_of_one_round_give_the_usual_standard_error() -> None:
    values = np.random.default_rng(0).normal(size=2000)
    estimate = block_bootstrap(values, np.arange(2000), draws=4000)
    half = (estimate.high - estimate.low) / 2
    assert half == pytest.approx(1.96 * values.std() / np.sqrt(2000), rel=0.06)


def test_correlated_rounds_widen_the_interval() -> None:
    weeks = np.repeat(np.random.default_rng(0).normal(size=100), 20)
    together = block_bootstrap(weeks, np.arange(2000) // 20)
    apart = block_bootstrap(weeks, np.arange(2000))
    assert together.high - together.low > 3.5 * (apart.high - apart.low)


@pytest.mark.slow
def test_intervals_have_the_nominal_coverage() -> None:
    inside = 0
    for seed in range(300):
        random = np.random.default_rng(seed)
        values = np.repeat(random.normal(size=60), 5) + random.normal(size=300)
        estimate = block_bootstrap(values, np.arange(300) // 5, confidence=0.9, seed=seed)
        inside += estimate.low <= 0.0 <= estimate.high
    assert 0.84 <= inside / 300 <= 0.95


def test_the_same_seed_gives_the_same_interval() -> None:
    values = np.arange(30.0)
    assert block_bootstrap(values, values // 3) == block_bootstrap(values, values // 3)
    assert block_bootstrap(values, values // 3) != block_bootstrap(values, values // 3, seed=1)


def test_lengths_must_fit() -> None:
    for values, blocks in (([1.0], [1, 2]), ([], [])):
        with pytest.raises(ValueError, match="one label per value"):
            block_bootstrap(values, blocks)


def test_larger_blocks_weigh_more() -> None:
    estimate = block_bootstrap([1.0, 0.0, 0.0, 0.0], blocks=["a", "b", "b", "b"], confidence=0.99)
    assert (estimate.value, estimate.low, estimate.high) == (0.25, 0.0, 1.0)
    constant = block_bootstrap([0.3] * 4, blocks=["a", "b", "b", "b"])
    assert constant.low == pytest.approx(0.3)
    assert constant.high == pytest.approx(0.3)
