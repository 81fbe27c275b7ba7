"""What is measured: risk, set size and SNR, on the whole and over the map, online and held out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from localarc._replay import replay_many
from localarc.calibrators.base import BaseCalibrator
from localarc.experiments.beams.equal_size import SIZE, matched
from localarc.experiments.beams.evaluation import BY_QUARTER, DRAWN, SNR, Evaluated
from localarc.experiments.beams.methods import SHOWN, Recipe
from localarc.experiments.beams.raytracer import Scene
from localarc.experiments.beams.users import Trial, Users
from localarc.experiments.experiment import Outcome, Plan, Row, Task
from localarc.experiments.table_rows import means, together
from localarc.record import Record
from localarc.validation import FloatArray

SAME_SIZE = f"{SIZE:g} beams"
_NAMES = ("method", "setting", "evaluation")
_MEASURED = (
    *("target", "risk", "size", "empty", "cell_std", "cell_worst", "cells", "near", "far"),
    *SNR,
    *BY_QUARTER,
    *("reached", "hits", "state_kb", "running_kb"),
)


@dataclass(frozen=True, eq=False)
class City:
    """The data: a scene, and every trial's users in it."""

    scene: Scene
    trials: tuple[Trial, ...]


def setting_name(target: float) -> str:
    """What rows and arrays call the runs at one target."""
    return f"{target:g}"


def perform(data: City, task: Task, make: Any, plan: Plan) -> Outcome:
    """All targets of a method in one trial, and equal set size; `make` is a `Recipe`."""
    study = _Study(data.trials[int(task.trial)], make)
    runs = study.runs()
    shown, record = runs[setting_name(SHOWN)]
    known = {"method": task.method} | study.facts(shown)
    rows: list[Row] = []
    arrays: dict[str, NDArray[Any]] = study.counts()
    arrays |= {"losses": record.losses, "threshold": _threshold_map(shown)}
    for setting, run in runs.items():
        named = known | {"setting": setting, "target": run[0].alpha}
        for evaluation, evaluated in study.evaluations(*run).items():
            rows.append(named | {"evaluation": evaluation} | evaluated.row())
            if setting in (setting_name(SHOWN), SAME_SIZE):
                arrays |= evaluated.maps(f"{setting} {evaluation}")
    certificate = shown.certificate(evidence=record.evidence, losses=record.losses).to_dict()
    certificate.pop("groups")
    return Outcome(task, record.calibrator, rows, arrays, certificate)


class _Study:
    """A method in one trial."""

    def __init__(self, trial: Trial, make: Recipe) -> None:
        self._trial, self._make = trial, make
        self._curves = trial.calibration.curves()
        self._held = trial.test.curves()

    def runs(self) -> dict[str, tuple[BaseCalibrator, Record]]:
        """A calibrator and its record at every target, and where its sets have the same size."""
        calibrators = {setting_name(target): self._make(target) for target in self._make.targets}
        if self._make.swept:
            calibrators[SAME_SIZE] = matched(self._make, self.size_of).reset()
        records = self._replayed(list(calibrators.values()))
        pairs = zip(calibrators.values(), records, strict=True)
        return dict(zip(calibrators, pairs, strict=True))

    def _replayed(self, calibrators: list[BaseCalibrator]) -> list[Record]:
        users = self._trial.calibration
        return replay_many(calibrators, users.places, self._curves, users.groups())

    def size_of(self, calibrator: BaseCalibrator) -> float:
        """The mean set size of the averaged threshold on held-out users."""
        self._replayed([calibrator])
        at = _thresholds(calibrator, calibrator.averaged_threshold_function, self._trial.test)
        return float(self._held.sizes_at(at).mean())

    def facts(self, calibrator: BaseCalibrator) -> Row:
        """What does not depend on the target: users, predictor, and the size of the state."""
        lean = self._make.without_archive()(calibrator.alpha)
        self._replayed([lean])
        return {
            "reached": self._trial.reached,
            "hits": self._trial.hits,
            "state_kb": len(calibrator.state()) / 1000,
            "running_kb": len(lean.state()) / 1000,
        }

    def evaluations(self, calibrator: BaseCalibrator, record: Record) -> dict[str, Evaluated]:
        """Online at each round's own threshold; held out at the averaged and the last one."""
        online, test = self._trial.calibration, self._trial.test
        at = {
            "average": _thresholds(calibrator, calibrator.averaged_threshold_function, test),
            "last": _thresholds(calibrator, calibrator.threshold_function, test),
        }
        held = {name: Evaluated.at(test, self._held, where) for name, where in at.items()}
        return {"online": Evaluated(online, record.losses, record.sizes)} | held

    def counts(self) -> dict[str, NDArray[Any]]:
        """How many users each cell of the maps has."""
        online, held = (DRAWN.counts(u.places) for u in (self._trial.calibration, self._trial.test))
        return {"users online": online, "users average": held, "users last": held}


def _threshold_map(calibrator: BaseCalibrator) -> FloatArray:
    """The averaged threshold in the middle of each cell; NaN for Mondrian, which has two."""
    if "groups" in calibrator.learns_from:
        return np.full(DRAWN.shape, np.nan)
    return np.asarray(calibrator.averaged_threshold_function(DRAWN.centres())).reshape(DRAWN.shape)


def _thresholds(calibrator: BaseCalibrator, function: Any, users: Users) -> FloatArray:
    where = (users.groups(),) if "groups" in calibrator.learns_from else ()
    return np.asarray(function(users.places, *where))


def tabulate(data: City, outcomes: Sequence[Outcome]) -> list[Row]:
    """Means over trials, each with its standard error, None where there was one trial."""
    return [
        dict(zip(_NAMES, key, strict=True)) | {"trials": len(rows)} | means(rows, _MEASURED)
        for key, rows in together(outcomes, _NAMES).items()
    ]
