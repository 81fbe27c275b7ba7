"""Promises: theorem E's bounds on Elec2, for everyone and for every place."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from benchmarks.auto import streams
from benchmarks.auto.measured import Measured, at_most, plain
from localarc import AutoLARC, replay
from localarc.betting.certificate import certify_node
from localarc.betting.sums import Sums
from localarc.constants import STAKE
from localarc.engine.auto.nodes import GROUP, KIND_SHIFT
from localarc.validation import FloatArray

ENOUGH = 200.0


@dataclass(frozen=True)
class Places:
    """Weight, observed risk minus target, and bound on it from above, of each place."""

    weights: FloatArray
    deviations: FloatArray
    bounds: FloatArray


def measure() -> list[Measured]:
    cal = calibrated()
    certificate = cal.certificate()
    known = places(cal)
    often = known.weights >= ENOUGH
    name, ratio = "electricity", known.deviations[often] / known.bounds[often]
    return [
        plain(name, "risk", certificate.risk),
        at_most(name, "long-run promise, from above", certificate.above.value, 0.02),
        at_most(name, "long-run promise, from below", certificate.below.value, 0.02),
        plain(name, "places with 200 rounds", float(often.sum())),
        at_most(name, "their median promise", float(np.median(known.bounds[often])), 0.1),
        plain(name, "their largest deviation", float(known.deviations[often].max())),
        plain(name, "median deviation over promise", float(np.median(np.abs(ratio)))),
        plain(name, "largest deviation over promise", float(ratio.max())),
    ]


def calibrated() -> AutoLARC:
    """AutoLARC after all of Elec2, with the week as features."""
    work = streams.electricity()
    cal = AutoLARC(work.alpha)
    replay(cal, work.X, work.curves)
    return cal


def places(cal: AutoLARC) -> Places:
    """All hats of a calibrator."""
    engine = cal._engine
    assert engine is not None
    sums = Sums.of(engine)
    slots = np.flatnonzero(engine.keys)
    hats = slots[engine.keys[slots] >> KIND_SHIFT != GROUP + 1]
    found = [certify_node(sums, engine.nodes[slot], STAKE) for slot in hats]
    return Places(
        np.array([node.rounds for node in found]),
        np.array([node.risk - node.alpha for node in found]),
        np.array([node.above.value for node in found]),
    )
