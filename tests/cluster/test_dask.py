"""The same sweep on a real cluster: two dask workers, each a process, on this machine."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import pytest

import localarc
from localarc import LARC, RBF, KeepAll, replay
from localarc.curves import miscoverage
from localarc_lab.experiments import EXPERIMENTS, Plan, run

distributed = pytest.importorskip(
    "distributed", reason="dask is not installed: pip install 'localarc[dask]'"
)
dask = pytest.importorskip("dask")
# What dask itself warns about while it starts and stops is not ours to fail on.
pytestmark = pytest.mark.filterwarnings("default")

GRID = {"alpha": [0.1, 0.3], "length_scale": [0.5, 1.0, 2.0], "trial": range(2)}


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, host="127.0.0.1", dashboard_address=None
        ) as started,
        distributed.Client(started) as client,
    ):
        client.wait_for_workers(2, timeout=120)
        yield client


def test_sequential_loky_and_dask_give_one_hash(cluster: Any) -> None:
    def calibrate(
        random: np.random.Generator, alpha: float, length_scale: float, trial: int
    ) -> dict[str, Any]:
        X = random.normal(size=(300, 2))
        scores = np.abs(random.normal(size=300)) * (0.2 + np.abs(X[:, 0]))
        calibrator = LARC(alpha, RBF.from_paper(length_scale), memory=KeepAll())
        record = replay(calibrator, X, miscoverage(scores, widths=0.0))
        gram = float(np.trace(np.linalg.inv(X.T @ X)))
        return {"risk": record.risk, "thresholds": record.thresholds, "gram": gram}

    sequential = localarc.sweep(calibrate, GRID, seed=4)
    with joblib.parallel_config("loky", n_jobs=2):
        loky = localarc.sweep(calibrate, GRID, seed=4)
    with joblib.parallel_config("dask"):
        dask = localarc.sweep(calibrate, GRID, seed=4)
    assert sequential.hash == loky.hash == dask.hash
    assert len({row["risk"] for row in dask}) > 4


def test_tasks_are_spread_over_workers_with_one_blas_thread_each(cluster: Any) -> None:
    def where(random: np.random.Generator, i: int) -> dict[str, Any]:
        import os
        import time

        import threadpoolctl

        time.sleep(0.2)
        pools = threadpoolctl.threadpool_info()
        return {"process": os.getpid(), "threads": max(pool["num_threads"] for pool in pools)}

    with joblib.parallel_config("dask"):
        rows = localarc.sweep(where, {"i": range(8)}).rows
    workers = {info["pid"] for info in cluster.run(_process).values()}
    assert {row["process"] for row in rows} == workers
    assert {row["threads"] for row in rows} == {1}


def _process() -> dict[str, int]:
    import os

    return {"pid": os.getpid()}


def test_a_task_that_fails_on_a_worker_names_its_parameters(cluster: Any) -> None:
    def fails(random: np.random.Generator, alpha: float) -> dict[str, float]:
        raise ZeroDivisionError("nothing to divide by")

    with joblib.parallel_config("dask"), pytest.raises(ZeroDivisionError, match="nothing") as found:
        localarc.sweep(fails, {"alpha": [0.25]})
    assert any("{'alpha': 0.25}" in note for note in found.value.__notes__)


def test_a_task_that_kills_its_worker_raises_and_keeps_the_finished_rows() -> None:
    def deadly(random: np.random.Generator, i: int) -> dict[str, int]:
        import os

        if i == 2:
            os._exit(1)
        return {"square": i * i}

    options = {"distributed.scheduler.allowed-failures": 0}
    with (
        dask.config.set(options),
        distributed.LocalCluster(
            n_workers=1, threads_per_worker=1, host="127.0.0.1", dashboard_address=None
        ) as started,
        distributed.Client(started),
        joblib.parallel_config("dask"),
        pytest.raises(localarc.WorkerLostError, match=r"1 of 6 tasks .* number 2,") as found,
    ):
        localarc.sweep(deadly, {"i": range(6)})
    assert [row["i"] for row in found.value.rows] == [0, 1, 3, 4, 5]


def test_an_experiment_has_the_same_rows_on_dask(cluster: Any, elec2: str, tmp_path: Path) -> None:
    plan = Plan(quick=True)
    experiment = EXPERIMENTS["electricity"]
    alone = run(experiment, plan, tmp_path / "alone", jobs=1)
    with joblib.parallel_config("dask"):
        spread = run(experiment, plan, tmp_path / "spread", jobs=-1)
    assert spread.reused == 0
    assert localarc.Sweep(spread.rows).hash == localarc.Sweep(alone.rows).hash
