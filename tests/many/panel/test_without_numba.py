"""A panel of ARC runs without numba, with the numbers of the compiled loops."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import numpy as np
import pytest

from localarc import ARC, Panel
from localarc.curves import miscoverage
from localarc.many.panel import late, running_constants
from localarc.rates import Constant

RANDOM = np.random.default_rng(0)
KEYS = [f"key {k}" for k in RANDOM.integers(0, 7, 300)]
SCORES = RANDOM.uniform(size=300)
LOSSES = (RANDOM.uniform(size=300) < 0.2).astype(float)
PROTOTYPES = [
    lambda: ARC(alpha=0.1, score_range=(0.0, 0.3)),
    lambda: ARC(alpha=0.1, rate=Constant(0.5), floor=0.1),
    lambda: ARC(alpha=0.1),
]


def played(prototype: Any) -> tuple[Any, ...]:
    """What a panel returns and keeps: known losses, a replay, late feedback."""
    panel = Panel(prototype).update(KEYS, None, LOSSES)
    record = panel.replay(KEYS, None, miscoverage(SCORES))
    names = sorted(set(KEYS))
    codes = np.array([names.index(key) for key in KEYS])
    events = late.LateEvents.each_its_own(np.zeros((300, 0)), miscoverage(SCORES))
    answers = late.serve(panel, names, codes, events)
    return record.thresholds, record.losses, *answers.arrays, panel._streams.arrays()["traces"]


@pytest.mark.parametrize("build", PROTOTYPES)
def test_python_loops_give_the_numbers_of_compiled_ones(
    build: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    compiled = played(build())
    monkeypatch.setattr(running_constants, "_compiled", lambda: False)
    for ours, theirs in zip(played(build()), compiled, strict=True):
        np.testing.assert_array_equal(ours, theirs)


def test_a_panel_of_arc_needs_no_numba() -> None:
    code = """
import sys
sys.modules["numba"] = sys.modules["llvmlite"] = None
import numpy as np
from localarc import ARC, Panel
from localarc.curves import miscoverage
panel = Panel(ARC(alpha=0.1)).update(["ann", "bob", "ann"], None, [1.0, 0.0, 1.0])
panel.replay(["ann", "eve"], None, miscoverage([0.5, 0.5]))
again = Panel.from_state(panel.state())
assert again.thresholds(["ann"], None) == panel.thresholds(["ann"], None) > 0
assert panel.certificate("ann").rounds == 3 and panel.calibrator("eve").rounds == 1
assert not any(name.startswith("localarc.engine") for name in sys.modules)
"""
    subprocess.run([sys.executable, "-W", "ignore", "-c", code], check=True)
