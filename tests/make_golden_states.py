"""What is in golden folders of states, which `make_golden.py` writes.

The folder of version 2 was written by the same calibrators before length scales were lengths (its
`no_kernel` was an L-ARC without a kernel).
"""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import numpy as np

from localarc import (
    ARC,
    LARC,
    RBF,
    AutoLARC,
    Cauchy,
    Constant,
    Dictionary,
    KeepAll,
    KeepLast,
    Laplace,
    Matern32,
    Matern52,
    Mondrian,
    Power,
    RationalQuadratic,
    Triangular,
)

CALIBRATORS: dict[str, Any] = {
    "arc": ARC(0.1, 0.5, score_range=(0.0, 2.0), initial_threshold=0.3),
    "rbf_exact_per_feature": LARC(
        0.2, RBF((0.5, 1.0), 1.5), Power(0.5, 0.7), 1e-3, memory=KeepAll(), clip=1.0
    ),
    "laplace_window": LARC(0.1, Laplace(0.8), memory=KeepLast(20)),
    "matern32_dictionary": LARC(0.1, Matern32(0.9), Constant(0.05), memory=Dictionary(1e-4, 64)),
    "matern52_radius": LARC(0.1, Matern52(1.3), memory=KeepAll(), radius=0.8),
    "cauchy": LARC(0.1, Cauchy(1.1), memory=KeepAll()),
    "triangular": LARC(0.1, Triangular(2.0), memory=KeepAll()),
    "rational_quadratic": LARC(0.1, RationalQuadratic(0.6, 1.2, 2.5), memory=KeepAll()),
    "sum": LARC(0.1, 2 * (RBF(0.7) + Laplace(0.7)) * Cauchy(1.4)),
    "paper": LARC(0.1, RBF.from_paper(0.3), 0.7, memory=KeepAll()),
    "arc_floor": ARC(0.1, 0.5, score_range=(-1.0, 9.0), floor=0.2),
    "larc_floor": LARC(0.1, RBF(0.5), memory=KeepAll(), floor=0.2).restart(),
    "auto": AutoLARC(0.1),
    "auto_limits": AutoLARC(0.1, limits=(0.0, 3.0), promise="at most"),
    "mondrian": Mondrian(lambda: LARC(0.1, RBF(0.5), memory=KeepAll())),
}


def learn(cal: Any, X: Any, losses: Any, groups: list[Any]) -> None:
    for x, loss, group in zip(X, losses, groups, strict=True):
        cal.update(x, float(loss), **more(cal, group), **score(cal, x))


def more(cal: Any, group: Any) -> dict[str, Any]:
    """The group, for calibrators that learn from it."""
    return {"groups": group} if "groups" in cal.learns_from else {}


def score(cal: Any, x: Any) -> dict[str, float]:
    """Some score, for calibrators that learn from it."""
    return {"score": abs(float(x[0]))} if "score" in cal.learns_from else {}


def thresholds(cal: Any, probes: Any) -> list[str]:
    return [float(cal.threshold(x, **more(cal, "a"))).hex() for x in probes]


def write(folder: Path) -> None:
    """Fill a folder."""
    random = np.random.default_rng(3)
    X, losses = random.normal(size=(60, 2)), random.random(60) < 0.3
    probes = random.normal(size=(5, 2))
    groups = ["a" if x[0] > 0 else ("b", 1) for x in X]
    states = {}
    for name, new in CALIBRATORS.items():
        cal = copy.deepcopy(new)
        learn(cal, X, losses, groups)
        cal.ask(X[0], **more(cal, "a"))
        (folder / f"{name}.bin").write_bytes(cal.state())
        before = thresholds(cal, probes)
        learn(cal, probes, [1.0] * len(probes), ["a"] * len(probes))
        after = thresholds(cal, probes)
        states[name] = {"class": type(cal).__name__, "thresholds": before, "after": after}
    rows = [[float(value).hex() for value in x] for x in probes]
    text = json.dumps({"probes": rows, "states": states}, indent=1)
    (folder / "expected.json").write_text(text + "\n")
