"""The benchmark behind docs/scale/planning.md: its batches, and the formula that it fits."""

import numpy as np
import pytest
from benchmarks.keyed.planning import COUNT, JOBS, WARM, Job, fitted, some_batches


@pytest.mark.parametrize(("keys", "events"), [(10, 100), (100, 100), (100, 20), (100, 50)])
def test_batches_have_that_many_events_after_a_first_one_with_every_key(
    keys: int, events: int
) -> None:
    first, *others = some_batches(keys, events)
    assert set(first.numbers.tolist()) == set(range(keys))
    assert {len(batch) for batch in others} == {events}
    assert 1 + len(others) == WARM + COUNT


def test_the_events_of_every_key_are_numbered_without_a_gap() -> None:
    made = some_batches(20, 5)
    numbers = np.concatenate([batch.numbers for batch in made])
    orders = np.concatenate([batch.orders for batch in made])
    for key in range(20):
        mine = orders[numbers == key]
        assert mine.tolist() == list(range(1, len(mine) + 1))


def test_the_fit_finds_the_formula_that_made_the_costs() -> None:
    costs = np.array([1.2, 0.003, 5e-6])
    jobs = [Job(*job, (float(costs @ (1.0, *job[1:])),)) for job in JOBS]
    assert fitted(jobs) == pytest.approx(costs)
