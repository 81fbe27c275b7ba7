"""Thresholds of every engine on a short stream, as JSON: run with and without compiled loops."""

import json
import sys

import numpy as np

from localarc import LARC, RBF, AutoLARC, LabelSets, Panel, replay
from localarc.curves import miscoverage
from localarc.memory import Dictionary, KeepAll, Lattice

ROUNDS = 200  # more than the buffer of a dictionary holds


def thresholds() -> dict[str, list[float]]:
    """By engine."""
    random = np.random.default_rng(0)
    X, scores = random.normal(size=(ROUNDS, 1)), np.abs(random.normal(size=ROUNDS))
    curves = miscoverage(scores)
    runs = {
        "auto": AutoLARC(0.1),
        "exact": LARC(0.1, RBF(1.0), rate=0.3, memory=KeepAll()),
        "lattice": LARC(0.1, RBF(1.0), rate=0.3, memory=Lattice()),
        "dictionary": LARC(0.1, RBF(1.0), rate=0.3, memory=Dictionary()),
    }
    found = {name: replay(cal, X, curves).thresholds.tolist() for name, cal in runs.items()}
    late, sets, panel = AutoLARC(0.1), LabelSets(0.1), Panel(LARC(0.1, RBF(1.0), rate=0.3))
    tickets = [late.ask(x) for x in X[:40]]
    found |= {"late": [], "labels": [], "panel": []}
    for x, score, ticket in zip(X[:40], scores, tickets, strict=False):
        late.tell(ticket, float(score > ticket.threshold), score)
        found["late"].append(float(late.threshold(x)))
        sets.update(x, {"ant": score, "bee": 1.0 - score}, "ant")
        found["labels"] += sets.thresholds(x).values()
        panel.update(["ann"], [x], [float(score > 1.0)])
        found["panel"].append(float(panel.thresholds(["ann"], [x])[0]))
    return found


if __name__ == "__main__":
    json.dump(thresholds(), sys.stdout)
