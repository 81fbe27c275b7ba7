"""What is in golden folders of models, which `make_golden.py` writes.

These are `Calibrated`, `Bands`, `Gate` and `LabelSets`, each with something pending.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas

from localarc import Gate, LabelSets
from localarc.forecasting import Bands
from localarc.models import Calibrated


@dataclass(frozen=True)
class Case:
    """A model that has learned, how it is loaded, and what comes out of it later."""

    learned: Callable[[], Any]
    load: Callable[[Path], Any]
    later: Callable[[Any], list[float]]
    exact: bool = False  # bit for bit, not to nine digits


def wave(count: int, step: int) -> Any:
    """Numbers between 0 and 1 that look random, and are the same everywhere."""
    return np.arange(1, count + 1) * step % 101 / 101


# ---- Calibrated ------------------------------------------------------------------------------

X = np.column_stack([wave(80, 37), wave(80, 53)])
Y = 3 * X[:, 0] + (wave(80, 29) - 0.5) * (1 + X[:, 1])
CLASSES = ["cat", "dog", "fox"]


def line(rows: Any) -> Any:
    return 3 * np.asarray(rows)[:, 0]


def shares(rows: Any) -> Any:
    at = np.asarray(rows)
    found = np.column_stack([at, (7 * at[:, 0] + 3 * at[:, 1]) % 1.0]) ** 2 + 0.01
    return found / found.sum(axis=1, keepdims=True)


LIKELY = np.argmax(shares(X), axis=1)
LABELS = np.array(CLASSES)[(LIKELY + (np.arange(80) % 5 == 0)) % 3]  # one of five is another


def intervals() -> Calibrated:
    made = Calibrated(line, coverage=[0.7, 0.9], local=[1])
    made.update(X[:60], Y[:60]).ask(X[60:63])
    return made


def later_intervals(made: Calibrated) -> list[float]:
    made.tell(made.pending, Y[60:63]).update(X[63:], Y[63:])
    return [float(each) for ends in made.predict_interval(X[:5]) for each in np.ravel(ends)]


def labels() -> Calibrated:
    made = Calibrated(None, coverage=0.8, kind="aps", per_class=True, classes=CLASSES)
    made.update(X[:60], LABELS[:60], prediction=shares(X[:60]))
    made.ask(X[60:63], prediction=shares(X[60:63]))
    return made


def later_labels(made: Calibrated) -> list[float]:
    made.tell(made.pending, LABELS[60:63])
    made.update(X[63:], LABELS[63:], prediction=shares(X[63:]))
    return [float(each) for each in np.ravel(made.predict_set(X, prediction=shares(X)))]


# ---- Bands, Gate, LabelSets ------------------------------------------------------------------


def forecasts(day: int) -> Any:
    rows = [(name, day + step, float(step)) for name in ("a", "b") for step in range(3)]
    return pandas.DataFrame(rows, columns=["unique_id", "ds", "yhat"])


def learn_days(made: Bands, start: int, stop: int) -> None:
    for day in range(start, stop):
        made.predict(forecasts(day))
        y = [float(wave(day + 1, step)[-1]) for step in (37, 53)]
        made.observe(pandas.DataFrame({"unique_id": ["a", "b"], "ds": day, "y": y}))


def bands(joint: bool) -> Bands:
    made = Bands(coverage=[0.5, 0.8], horizon=3, joint=joint)
    learn_days(made, 0, 40)  # the forecasts of the last days are open
    return made


def later_bands(made: Bands) -> list[float]:
    learn_days(made, 40, 60)
    found = made.predict(forecasts(60)).drop(columns=["unique_id", "ds"])
    return [float(each) for each in found.to_numpy().ravel()]


def decide(made: Gate, start: int, stop: int) -> None:
    confidence, similar = wave(stop, 37), wave(stop, 53)
    for i in range(start, stop):
        topic = "billing" if i % 3 else "other"
        decision = made.decide(x=[topic, similar[i]], confidence=confidence[i])
        if i % 10 == 9:
            continue  # stays open
        report = made.tell if decision.answer else made.audit
        report(decision.id, wrong=bool(confidence[i] < 0.3))


def gate() -> Gate:
    made = Gate(wrong_at_most=0.1)
    decide(made, 0, 60)
    return made


def later_gate(made: Gate) -> list[float]:
    decide(made, 60, 90)
    probes = [made.threshold([topic, at]) for topic in ("billing", "other") for at in (0.1, 0.9)]
    return [*probes, float(made.rounds), float(len(made.pending))]


def learn_labels(made: LabelSets, start: int, stop: int) -> None:
    scores = 1 - shares(X)
    for i in range(start, stop):
        made.update(X[i, :1], scores[i], str(LABELS[i]), groups="even" if i % 2 else "odd")


def label_sets() -> LabelSets:
    made = LabelSets(alpha=0.2, labels=CLASSES)
    learn_labels(made, 0, 60)
    made.ask(X[60, :1], [0.1, 0.5, 0.9])
    return made


def later_label_sets(made: LabelSets) -> list[float]:
    made.tell(made.pending[0], "dog")
    learn_labels(made, 61, 80)
    return [each for x in X[:5] for each in made.thresholds(x[:1], "odd").values()]


CASES = {
    "calibrated_intervals": Case(
        intervals, lambda path: Calibrated.load(path, line), later_intervals
    ),
    "calibrated_labels": Case(labels, lambda path: Calibrated.load(path, None), later_labels),
    "bands": Case(lambda: bands(False), Bands.load, later_bands),
    "bands_joint": Case(lambda: bands(True), Bands.load, later_bands),
    "gate": Case(gate, Gate.load, later_gate),
    "label_sets": Case(label_sets, LabelSets.load, later_label_sets),
}


def write(folder: Path, cases: Mapping[str, Case] = CASES) -> None:
    """Fill a folder."""
    expected = {}
    for name, case in cases.items():
        made = case.learned()
        made.save(folder / f"{name}.bin")
        expected[name] = [value.hex() for value in case.later(made)]
    (folder / "expected.json").write_text(json.dumps(expected, indent=1) + "\n")
