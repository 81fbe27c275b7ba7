"""Measurements: risk, set size and SNR, overall and over the map, online and held out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from localarc import replay_many
from localarc.calibrators.base import BaseCalibrator
from localarc.calibrators.mondrian import Mondrian
from localarc.calibrators.role import Calibrator
from localarc.curves import Curves, miscoverage
from localarc.streams.stream import Stream
from localarc.validation import FloatArray
from localarc_lab.experiments.beams import grid
from localarc_lab.experiments.beams.equal_size import SIZE, match_size
from localarc_lab.experiments.beams.grid import Grid
from localarc_lab.experiments.beams.raytracer import AREA, Scene
from localarc_lab.experiments.beams.users import Trial, Users
from localarc_lab.experiments.evaluate import (
    Calibration,
    certified,
    held_out_thresholds,
    state_kilobytes,
    to_json,
)
from localarc_lab.experiments.experiment import Outcome, Plan, Row, Task
from localarc_lab.experiments.methods import Method
from localarc_lab.experiments.table_rows import mean_over_trials

RATE = 1.0
TARGETS = 0.025, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5
SHOWN = 0.1
"""The target of maps, of the running risk and of the memory study, unless a plan states another."""

SCORE_RANGE = -1.0, 0.0  # minus a predicted share
SAME_SIZE = f"{SIZE:g} beams"
"""The setting in which all methods have the same mean set size."""

COMPARED = Grid(AREA, 10.0)
"""The cells whose risks are compared."""

DRAWN = Grid(AREA, 5.0)
"""The cells of the maps."""

FEW = 10
"""Cells with fewer users are not compared."""

PERCENTILES = 5, 10, 50
SNR = tuple(f"snr_{percent}" for percent in PERCENTILES)
"""Columns: percentiles of the users' gain."""

QUARTERS = 4
BY_QUARTER = tuple(
    f"{value}_quarter_{quarter + 1}" for value in ("risk", "size") for quarter in range(QUARTERS)
)
"""Columns: risk and size by quarters of users, from the weakest best beam to the strongest."""

_KEYS = ("method", "setting", "evaluation", "shown")
_MEASURED = (
    *("target", "risk", "size", "empty", "cell_std", "cell_worst", "cells", "near", "far"),
    *SNR,
    *BY_QUARTER,
    *("reached", "hits", "state_kb", "running_kb", "cert", "bound"),
)


@dataclass(frozen=True, eq=False)
class City:
    """The data: a scene, and every trial's users in it."""

    scene: Scene
    trials: tuple[Trial, ...]


def shown_target(plan: Plan) -> float:
    """Return the target of maps, of the running risk and of the memory study."""
    return SHOWN if plan.alpha is None else plan.alpha


def all_targets(plan: Plan) -> tuple[float, ...]:
    """Return all targets: those of the paper's figure, and the one that the plan states."""
    return tuple(sorted({*TARGETS, shown_target(plan)}))


def setting_name(target: float) -> str:
    """Return the name of the runs at one target, in rows and arrays."""
    return f"{target:g}"


def perform(
    data: City, task: Task[None], method: Method, targets: Sequence[float], plan: Plan
) -> Outcome[None]:
    """Run a method in one trial at each target; with several targets, also at equal set size."""
    study = _Study(data.trials[task.trial], method, plan.rate or RATE)
    runs = study.runs(targets)
    wanted = setting_name(shown_target(plan))
    shown = runs[wanted]
    known = {"method": task.method, "shown": wanted} | study.facts(shown.calibrator)
    rows: list[Row] = []
    arrays: dict[str, NDArray[Any]] = study.counts()
    arrays |= {"losses": shown.record.losses, "threshold": _threshold_map(shown.calibrator)}
    for setting, run in runs.items():
        named = known | {"setting": setting, "target": run.calibrator.alpha}
        named |= certified(run.certificate())
        for evaluation, sets in study.evaluations(run).items():
            rows.append(named | {"evaluation": evaluation} | sets.row())
            if setting in (wanted, SAME_SIZE):
                arrays |= sets.maps(f"{setting} {evaluation}")
    return Outcome(task, shown.record.calibrator, rows, arrays, to_json(shown.certificate()))


def summarize(outcomes: Sequence[Outcome[None]]) -> list[Row]:
    """Return means over trials, each with its standard error."""
    return mean_over_trials(outcomes, _KEYS, _MEASURED)


class _Study:
    """A method in one trial."""

    def __init__(self, trial: Trial, method: Method, rate: float) -> None:
        self._trial, self._method, self._rate = trial, method, rate
        self._calibration, self._test = (
            method.visible(_stream(users)) for users in (trial.calibration, trial.test)
        )

    def runs(self, targets: Sequence[float]) -> dict[str, Calibration]:
        """A calibration at every target, and one whose sets have the common mean size."""
        calibrators = {setting_name(target): self._build(target) for target in targets}
        if len(targets) > 1:
            calibrators[SAME_SIZE] = self._build(match_size(self._build, self._size_of).alpha)
        runs = self._calibrate(list(calibrators.values()))
        return dict(zip(calibrators, runs, strict=True))

    def _build(self, target: float) -> Calibrator:
        return self._method.calibrator(target, SCORE_RANGE, self._rate, self._calibration)

    def _calibrate(self, calibrators: Sequence[Calibrator]) -> list[Calibration]:
        stream = self._calibration
        records = replay_many(calibrators, stream.X, stream.curves, stream.groups)
        return [Calibration(*pair) for pair in zip(calibrators, records, strict=True)]

    def _size_of(self, calibrator: Calibrator) -> float:
        """The mean set size of the averaged threshold (or the last) on held-out users."""
        self._calibrate([calibrator])
        thresholds = held_out_thresholds(calibrator, self._test)
        return float(self._test.curves.sizes_at(thresholds).mean())

    def facts(self, calibrator: Calibrator) -> Row:
        """What does not depend on the target: users, predictor, and the size of the state."""
        lean = self._method.without_archive().calibrator(
            calibrator.alpha, SCORE_RANGE, self._rate, self._calibration
        )
        self._calibrate([lean])
        return {
            "reached": self._trial.reached,
            "hits": self._trial.hits,
            "state_kb": state_kilobytes(calibrator),
            "running_kb": state_kilobytes(lean),
        }

    def evaluations(self, run: Calibration) -> dict[str, BeamSets]:
        """The beam sets of calibrating users online, and of held-out users."""
        users, curves = self._trial.test, self._test.curves
        online = BeamSets(self._trial.calibration, run.record.losses, run.record.sizes)
        held_out = {
            evaluation: BeamSets.at(users, curves, thresholds)
            for evaluation, thresholds in run.thresholds(self._test).items()
            if evaluation != "online"
        }
        return {"online": online} | held_out

    def counts(self) -> dict[str, NDArray[Any]]:
        """The number of users in each cell of the maps."""
        online = DRAWN.counts(self._trial.calibration.positions)
        held = DRAWN.counts(self._trial.test.positions)
        return {"users online": online, "users average": held, "users last": held}


def _stream(users: Users) -> Stream:
    return Stream("beams", users.positions, users.curves(), tuple(users.groups()))


def _threshold_map(calibrator: Calibrator) -> FloatArray:
    """The held-out threshold in the middle of each cell; NaN for methods by group, with two."""
    if isinstance(calibrator, Mondrian) or (
        not isinstance(calibrator, BaseCalibrator)
        and "groups" in getattr(calibrator, "learns_from", ())
    ):
        return np.full(DRAWN.shape, np.nan)
    centres = DRAWN.centres()
    nowhere = miscoverage(np.zeros(len(centres)))
    found = held_out_thresholds(calibrator, Stream("map", centres, nowhere))
    return found.reshape(DRAWN.shape)


@dataclass(frozen=True, eq=False)
class BeamSets:
    """Users with the losses and sizes of their beam sets."""

    users: Users
    losses: FloatArray
    sizes: FloatArray

    @classmethod
    def at(cls, users: Users, curves: Curves, thresholds: FloatArray) -> BeamSets:
        """Return the sets at one threshold per user."""
        return cls(users, curves.losses_at(thresholds), curves.sizes_at(thresholds))

    def row(self) -> Row:
        """Return risk, size and SNR of all users, and how the risk differs between cells."""
        positions, near = self.users.positions, self.users.near
        counts = COMPARED.counts(positions)
        risks = grid.means(COMPARED.sums(positions, self.losses), counts, FEW)
        risks = risks[np.isfinite(risks)]
        snr = np.percentile(self.users.served(self.losses), PERCENTILES)
        return {
            "risk": float(self.losses.mean()),
            "size": float(self.sizes.mean()),
            "empty": float((self.sizes == 0).mean()),
            "cell_std": float(risks.std()),
            "cell_worst": float(risks.max()),
            "cells": len(risks),
            "near": float(self.losses[near].mean()),
            "far": float(self.losses[~near].mean()),
            **dict(zip(SNR, snr.tolist(), strict=True)),
            **self._by_quarter(),
        }

    def _by_quarter(self) -> Row:
        order = np.argsort(self.users.gains.max(axis=1), kind="stable")
        quarters = np.array_split(order, QUARTERS)
        measured = self.losses, self.sizes
        values = [float(array[part].mean()) for array in measured for part in quarters]
        return dict(zip(BY_QUARTER, values, strict=True))

    def maps(self, name: str) -> dict[str, NDArray[Any]]:
        """Return the sums of risk and of SNR over the users of each cell."""
        positions = self.users.positions
        return {
            f"risk {name}": DRAWN.sums(positions, self.losses),
            f"snr {name}": DRAWN.sums(positions, self.users.served(self.losses)),
        }
