"""Microseconds of processor time per row in batches, beyond the model's own; and as ratios."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from benchmarks.machine import argument_parser, describe, use_one_blas_thread, write_json

use_one_blas_thread()

import numpy as np  # noqa: E402
import pandas as pd  # noqa: E402

from localarc.models import Calibrated, FewOutcomesWarning  # noqa: E402

ROWS, WARM, REPEATS = 1000, 5000, 7
CALLS = "predict", "update", "ask", "tell"


@dataclass(frozen=True)
class Case:
    """A calibrated model without a model: predictions are passed, so they cost nothing."""

    name: str
    settings: dict[str, Any]
    rows: Any
    predictions: Any
    outcomes: Any
    look: str


@dataclass(frozen=True)
class Speed:
    """Processor time per row, in microseconds; and relative to `predict` of one level."""

    case: str
    predict: float
    update: float
    ask: float
    tell: float


def cases() -> list[Case]:
    """Regression, labels and classes, with one level and three."""
    random = np.random.default_rng(0)
    count, three = WARM + ROWS, [0.5, 0.8, 0.95]
    X = random.uniform(0, 10, (count, 2))
    y = X[:, 0] + random.normal(0, 1 + X[:, 0])
    p = random.dirichlet(np.full(10, 0.5), count)
    labels = (p.cumsum(axis=1) > random.uniform(size=(count, 1))).argmax(axis=1)
    frame = pd.DataFrame(X, columns=["a", "b"])
    frame["site"], frame["shift"] = random.choice(list("xyz"), count), random.choice(2, count)
    local: dict[str, Any] = {"local": [0, 1]}
    named: dict[str, Any] = {"local": ["a", "b"], "groups": ["site", "shift"]}
    classes: dict[str, Any] = {"classes": range(10)}
    each = classes | {"per_class": True}
    interval, sets = "predict_interval", "predict_set"
    return [
        Case("intervals, two features", local, X, X[:, 0], y, interval),
        Case("intervals, three levels", local | {"coverage": three}, X, X[:, 0], y, interval),
        Case("intervals, frame, two group columns", named, frame, X[:, 0], y, interval),
        Case("10 labels", classes, X, p, labels, sets),
        Case("10 labels, three levels", classes | {"coverage": three}, X, p, labels, sets),
        Case("10 labels, each class", each, X, p, labels, sets),
        Case("10 labels, each class, three levels", each | {"coverage": three}, X, p, labels, sets),
    ]


def measure(case: Case) -> Speed:
    """The least of several batches, each of `ROWS` rows."""
    m = Calibrated(None, **case.settings)
    warm, batch = slice(0, WARM), slice(WARM, WARM + ROWS)
    m.update(case.rows[warm], case.outcomes[warm], prediction=case.predictions[warm])
    rows, y, given = case.rows[batch], case.outcomes[batch], case.predictions[batch]
    look = getattr(m, case.look)
    found: dict[str, list[float]] = {name: [] for name in CALLS}
    for _ in range(REPEATS):
        found["predict"].append(timed(lambda: look(rows, prediction=given)))
        found["update"].append(timed(lambda: m.update(rows, y, prediction=given)))
        asked: list[Any] = []
        found["ask"].append(timed(lambda: asked.append(m.ask(rows, prediction=given))))  # noqa: B023
        found["tell"].append(timed(lambda: m.tell(asked[0].ids, y)))  # noqa: B023
    return Speed(case.name, *(min(found[name]) for name in CALLS))


def timed(call: Callable[[], object]) -> float:
    """Microseconds of processor time per row."""
    start = time.process_time()
    call()
    return 1e6 * (time.process_time() - start) / ROWS


def main() -> None:
    """Print the table."""
    options = argument_parser("The time that calibration adds to a model.").parse_args()
    warnings.simplefilter("ignore", FewOutcomesWarning)
    print(describe())
    print(f"Processor time per row in batches of {ROWS:,}, least of {REPEATS}, in microseconds")
    print("(in brackets: times `predict` of the first line)\n")
    speeds: list[Speed] = []
    print(f"{'':36}" + "".join(f"{name:>14}" for name in CALLS))
    for case in cases():
        speeds.append(measure(case))
        values = [getattr(speeds[-1], name) for name in CALLS]
        cells = "".join(f"{v:6.1f} ({v / speeds[0].predict:4.1f})" for v in values)
        print(f"{case.name:36}{cells}", flush=True)
    write_json(options.json, speeds=speeds)


if __name__ == "__main__":
    main()
