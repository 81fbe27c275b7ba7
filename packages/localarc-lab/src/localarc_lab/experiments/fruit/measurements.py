"""Measurements: coverage and set size by confidence, online and on held-out samples."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from localarc.curves import Curves
from localarc.streams.stream import Stream
from localarc.validation import FloatArray, IntArray
from localarc_lab.experiments.evaluate import calibrate, certified, to_json
from localarc_lab.experiments.experiment import Outcome, Plan, Row, Task
from localarc_lab.experiments.fruit.model_outputs import Outputs
from localarc_lab.experiments.methods import Method
from localarc_lab.experiments.table_rows import mean_over_trials

ALPHA, RATE = 0.25, 1.0
SCORE_RANGE = -1.0, 1.0  # minus a probability, or a sum of probabilities
BINS = 20
FEW = 30
"""Bins with fewer samples are marked in figures and tables."""

_DECILES = np.arange(1, 10) / 10
_KEYS = ("score", "method", "evaluation", "group", "target")
_MEASURED = ("coverage", "size", "empty", "accuracy", "samples", "cert", "bound")


def calibration_split(data: Outputs, seed: int, trial: int) -> tuple[IntArray, IntArray]:
    """Return the rows that calibrate, in random order, and the rest."""
    if not 0 < data.calibration < len(data):
        raise ValueError(
            f"cannot calibrate on {data.calibration} of {len(data)} samples: at least one sample "
            "must remain for evaluation."
        )
    order = np.random.default_rng([seed, trial]).permutation(len(data))
    return order[: data.calibration], order[data.calibration :]


def bin_of(confidence: FloatArray) -> IntArray:
    """Return the bin of each confidence: [0, 0.05), [0.05, 0.1), ..., [0.95, 1].

    >>> bin_of(np.array([0.0, 0.05, 0.0999, 0.95, 1.0]))
    array([ 0,  1,  1, 19, 19])
    """
    edges = np.arange(1, BINS) / BINS
    return np.searchsorted(edges, confidence, side="right")


def bin_name(number: int) -> str:
    """Return the name of a bin: its lower edge."""
    return f"{number / BINS:.2f}"


def deciles(confidence: FloatArray, reference: FloatArray) -> list[int]:
    """Return Mondrian's groups: each confidence's decile among the reference confidences."""
    found: list[int] = np.searchsorted(np.quantile(reference, _DECILES), confidence).tolist()
    return found


def perform(data: Outputs, task: Task[str], method: Method, plan: Plan) -> Outcome[str]:
    """Calibrate in random order, then evaluate on the other samples."""
    score = task.setting
    first, rest = calibration_split(data, plan.seed, task.trial)
    online, held = data.take(first), data.take(rest)
    calibration = method.visible(_stream(online, score, online.confidence))
    evaluation = method.visible(_stream(held, score, online.confidence))
    alpha, rate = target(plan), plan.rate or RATE
    run = calibrate(method.calibrator(alpha, SCORE_RANGE, rate, calibration), calibration)
    certificate = run.certificate()
    rows: list[Row] = []
    for name, thresholds in run.thresholds(evaluation).items():
        part, stream = (online, calibration) if name == "online" else (held, evaluation)
        known = {"score": score, "method": task.method, "evaluation": name, "target": alpha}
        rows += _rows(known | certified(certificate), part, stream.curves, thresholds)
    arrays: dict[str, NDArray[Any]] = {"losses": run.record.losses}
    return Outcome(task, run.record.calibrator, rows, arrays, to_json(certificate))


def target(plan: Plan) -> float:
    """Return the target: the paper's, unless the plan states another."""
    return ALPHA if plan.alpha is None else plan.alpha


def _stream(part: Outputs, score: str, reference: FloatArray) -> Stream:
    """Rounds localized on confidence, grouped by deciles of the reference confidences."""
    groups = tuple(deciles(part.confidence, reference))
    return Stream("fruit", part.confidence[:, None], part.curves(score), groups)


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


def summarize(outcomes: Sequence[Outcome[str]]) -> list[Row]:
    """Return means over trials, each with its standard error."""
    return mean_over_trials(outcomes, _KEYS, _MEASURED)
