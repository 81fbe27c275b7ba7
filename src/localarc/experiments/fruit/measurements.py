"""What is measured: coverage and set size by confidence, online and on held-out samples."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from localarc._replay import replay
from localarc.calibrators.base import BaseCalibrator
from localarc.curves import Curves
from localarc.experiments.experiment import Outcome, Plan, Row, Task
from localarc.experiments.fruit.model_outputs import Outputs
from localarc.experiments.table_rows import means, together
from localarc.validation import FloatArray, IntArray

BINS = 20
FEW = 30
"""A bin with fewer samples than these is drawn as such, and told as such."""

_DECILES = np.arange(1, 10) / 10
_NAMES = ("score", "method", "evaluation", "group")
_MEASURED = ("coverage", "size", "empty", "accuracy", "samples")


def trial_name(score: str, trial: int) -> str:
    """What a task calls one trial with a score."""
    return f"{score} / {trial}"


def trial_of(name: str) -> tuple[str, int]:
    """The score and the trial that `trial_name` named."""
    score, _, trial = name.rpartition(" / ")
    return score, int(trial)


def split(data: Outputs, seed: int, trial: int) -> tuple[IntArray, IntArray]:
    """Rows that calibrate, in random order, and the rest."""
    if not 0 < data.calibration < len(data):
        raise ValueError(
            f"of {len(data)} samples {data.calibration} cannot calibrate: some must be left to "
            "evaluate."
        )
    order = np.random.default_rng([seed, trial]).permutation(len(data))
    return order[: data.calibration], order[data.calibration :]


def bin_of(confidence: FloatArray) -> IntArray:
    """The bin of each confidence: [0, 0.05), [0.05, 0.1), ..., and [0.95, 1], which has its end.

    >>> bin_of(np.array([0.0, 0.05, 0.0999, 0.95, 1.0]))
    array([ 0,  1,  1, 19, 19])
    """
    edges = np.arange(1, BINS) / BINS
    return np.searchsorted(edges, confidence, side="right")


def bin_name(number: int) -> str:
    """The bin by its lower edge."""
    return f"{number / BINS:.2f}"


def deciles(confidence: FloatArray, reference: FloatArray) -> list[int]:
    """Mondrian's groups: which tenth of the calibration samples' confidences each lies in."""
    found: list[int] = np.searchsorted(np.quantile(reference, _DECILES), confidence).tolist()
    return found


def perform(data: Outputs, task: Task, make: Callable[[], BaseCalibrator], plan: Plan) -> Outcome:
    """Calibrate in random order, then evaluate on the other samples."""
    score, trial = trial_of(task.trial)
    first, rest = split(data, plan.seed, trial)
    online, held = data.take(first), data.take(rest)
    curves, test = online.curves(score), held.curves(score)
    reference = online.confidence
    calibrator = make()
    run = replay(calibrator, reference[:, None], curves, deciles(reference, reference))
    thresholds = {"online": run.thresholds}
    for name, function in (
        ("average", calibrator.averaged_threshold_function),
        ("last", calibrator.threshold_function),
    ):
        where = (deciles(held.confidence, reference),) if "groups" in calibrator.learns_from else ()
        thresholds[name] = np.asarray(function(held.confidence[:, None], *where))
    rows: list[Row] = []
    for name, at in thresholds.items():
        part, these = (online, curves) if name == "online" else (held, test)
        known = {"score": score, "method": task.method, "evaluation": name}
        rows += _rows(known, part, these, at)
    certificate = calibrator.certificate(evidence=run.evidence, losses=run.losses).to_dict()
    certificate.pop("groups")
    arrays: dict[str, NDArray[Any]] = {"losses": run.losses}
    return Outcome(task, run.calibrator, rows, arrays, certificate)


def _rows(known: Row, part: Outputs, curves: Curves, thresholds: FloatArray) -> list[Row]:
    """One row for all samples and one for each bin that has any."""
    covered = 1.0 - curves.losses_at(thresholds)
    sizes = curves.sizes_at(thresholds)
    correct = part.ranks == 0
    bins = bin_of(part.confidence)
    members = {"all": np.ones(len(part), dtype=bool)}
    members |= {bin_name(k): bins == k for k in range(BINS)}
    return [
        known
        | {
            "group": group,
            "samples": int(chosen.sum()),
            "coverage": float(covered[chosen].mean()),
            "size": float(sizes[chosen].mean()),
            "empty": float((sizes[chosen] == 0).mean()),
            "accuracy": float(correct[chosen].mean()),
        }
        for group, chosen in members.items()
        if chosen.any()
    ]


def tabulate(data: Outputs, outcomes: Sequence[Outcome]) -> list[Row]:
    """Means over trials, each with its standard error, None where there was one trial."""
    return [
        dict(zip(_NAMES, key, strict=True)) | {"trials": len(rows)} | means(rows, _MEASURED)
        for key, rows in together(outcomes, _NAMES).items()
    ]
