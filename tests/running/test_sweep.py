"""A sweep gives the same rows wherever it is computed."""

import os
from typing import Any

import joblib
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import localarc
from localarc import ARC, Constant, replay
from localarc.curves import miscoverage
from localarc.running.sweep import Sweep

GRID = {"alpha": [0.1, 0.3], "rate": [0.5, 1.0, 2.0]}


def calibrate(random: np.random.Generator, alpha: float, rate: float) -> dict[str, Any]:
    scores = np.abs(random.normal(size=200))
    factors = random.normal(size=(64, 64))
    run = replay(ARC(alpha, rate), np.zeros((200, 1)), miscoverage(scores))
    return {"risk": run.risk, "thresholds": run.thresholds, "trace": np.trace(factors @ factors)}


def test_rows_come_in_the_order_of_the_grid() -> None:
    made = localarc.sweep(calibrate, GRID)
    points = [(row["alpha"], row["rate"]) for row in made]
    assert points == [(a, r) for a in GRID["alpha"] for r in GRID["rate"]]
    assert list(made.columns()) == ["alpha", "rate", "risk", "thresholds", "trace"]


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
@pytest.mark.parametrize("backend", ["loky", "threading", "multiprocessing"])
def test_the_hash_is_that_of_the_sequential_run(backend: str) -> None:
    expected = localarc.sweep(calibrate, GRID, seed=3).hash
    with joblib.parallel_config(backend, n_jobs=2):
        assert localarc.sweep(calibrate, GRID, seed=3).hash == expected


def test_the_hash_feels_seed_order_and_the_last_bit() -> None:
    base = localarc.sweep(calibrate, GRID)
    assert localarc.sweep(calibrate, GRID, seed=1).hash != base.hash
    assert Sweep(tuple(reversed(base.rows))).hash != base.hash
    nudged = tuple({**row, "risk": np.nextafter(row["risk"], 1.0).item()} for row in base)
    assert Sweep(nudged).hash != base.hash


VALUES = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text())


@pytest.mark.slow
@settings(deadline=None, derandomize=True)
@given(st.lists(st.tuples(VALUES, VALUES), unique_by=repr, min_size=2, max_size=2))
def test_different_rows_have_different_hashes(pair: list[Any]) -> None:
    one, two = ({"a": a, "b": b} for a, b in pair)
    assert (Sweep((one,)).hash == Sweep((two,)).hash) == (repr(one) == repr(two))


def test_tasks_have_the_children_of_one_seed() -> None:
    def first(random: np.random.Generator, i: int) -> dict[str, float]:
        return {"number": random.random()}

    made = localarc.sweep(first, {"i": range(4)}, seed=5)
    children = np.random.SeedSequence(5).spawn(4)
    assert [row["number"] for row in made] == [np.random.default_rng(c).random() for c in children]


def test_a_grid_may_be_a_list_of_points() -> None:
    points = [{"alpha": 0.1, "rate": 1.0}, {"alpha": 0.2, "rate": 0.5}]
    made = localarc.sweep(calibrate, points)
    assert [row["alpha"] for row in made] == [0.1, 0.2]
    assert localarc.sweep(calibrate, iter(points)).hash == made.hash


@pytest.mark.parametrize("grid", [{"alpha": 0.1}, None, 3, "alpha", [0.1], [{1: 2}]])
def test_a_grid_of_another_shape_is_rejected_in_one_sentence(grid: Any) -> None:
    with pytest.raises(TypeError, match="grid must map parameters to lists of values"):
        localarc.sweep(calibrate, grid)


@pytest.mark.parametrize("grid", [[], {"alpha": []}])
def test_an_empty_grid_is_no_grid(grid: Any) -> None:
    with pytest.raises(ValueError, match="grid has no point"):
        localarc.sweep(calibrate, grid)


def threads(random: np.random.Generator, i: int) -> dict[str, int]:
    import threadpoolctl

    np.ones((8, 8)) @ np.ones((8, 8))
    pools = [pool for pool in threadpoolctl.threadpool_info() if pool["user_api"] == "blas"]
    assert pools
    return {"most": max(pool["num_threads"] for pool in pools)}


@pytest.mark.parametrize("backend", ["sequential", "loky", "threading"])
def test_every_task_has_one_blas_thread(backend: str) -> None:
    jobs = 1 if backend == "sequential" else 2
    with joblib.parallel_config(backend, n_jobs=jobs):
        assert {row["most"] for row in localarc.sweep(threads, {"i": range(6)})} == {1}


def test_the_thread_limit_ends_with_the_sweep() -> None:
    import threadpoolctl

    with threadpoolctl.threadpool_limits(2):
        with joblib.parallel_config("threading", n_jobs=2):
            localarc.sweep(threads, {"i": range(6)})
        assert threads(np.random.default_rng(), 0) == {"most": 2}


def test_a_task_that_fails_names_its_parameters() -> None:
    def fails(random: np.random.Generator, alpha: float) -> dict[str, float]:
        raise ZeroDivisionError("nothing to divide by")

    with pytest.raises(ZeroDivisionError) as caught:
        localarc.sweep(fails, {"alpha": [0.25]})
    assert "in the task of the sweep with {'alpha': 0.25}" in caught.value.__notes__


def test_parts_of_localarc_may_be_parameters() -> None:
    def settled(random: np.random.Generator, rate: Any) -> dict[str, float]:
        return {"first": rate(1)}

    (row,) = localarc.sweep(settled, {"rate": [Constant(0.5)]})
    assert row == {"rate": Constant(0.5), "first": 0.5}


def _number(random: np.random.Generator) -> Any:
    return 1.0


def _object(random: np.random.Generator) -> Any:
    return {"worker": object()}


def _twice(random: np.random.Generator, alpha: float) -> Any:
    return {"alpha": alpha}


@pytest.mark.parametrize(
    ("task", "grid", "words"),
    [
        (None, {}, "task must be a function"),
        (calibrate, "alpha", "grid must map parameters"),
        (calibrate, [1, 2], "grid must map parameters"),
        (_number, {}, "by name"),
        (_object, {}, "numbers, text, arrays"),
        (_twice, {"alpha": [0.1]}, "one of its parameters"),
    ],
)
def test_what_is_no_sweep_is_rejected(task: Any, grid: Any, words: str) -> None:
    with pytest.raises((TypeError, ValueError), match=words):
        localarc.sweep(task, grid)


def test_a_sweep_is_a_data_frame() -> None:
    frame = localarc.sweep(calibrate, GRID).to_pandas()
    assert list(frame["rate"]) == GRID["rate"] * 2


def test_tasks_run_in_other_processes_when_asked() -> None:
    with joblib.parallel_config("loky", n_jobs=2):
        made = localarc.sweep(process, {"i": range(4)})
    assert os.getpid() not in {row["process"] for row in made}


def process(random: np.random.Generator, i: int) -> dict[str, int]:
    return {"process": os.getpid()}
