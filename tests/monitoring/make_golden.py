"""Write a stored monitor of the current version: `python tests/monitoring/make_golden.py`."""

import json
import random
from dataclasses import asdict
from pathlib import Path
from typing import Any

from localarc.monitoring import Monitor

FOLDER = Path(__file__).parent / "golden"


def stored() -> Monitor:
    """A monitor with a past: acknowledged once, drifting now."""
    monitor = Monitor(target=2.0, tolerance=0.4, level=0.05, window=60, max_loss=20.0)
    rng, time = random.Random(3), 1.7e9
    for t in range(740):
        time += rng.expovariate(1 / 30.0)
        monitor.update(20.0 * rng.random() ** (8.0 if t < 700 else 1.2), at=time)
        if t == 100:
            monitor.acknowledge(at=time)
    return monitor


def continued(monitor: Monitor) -> dict[str, Any]:
    """The health after more rounds."""
    for t in range(200):
        monitor.update(20.0 * (t % 17 == 0), at=1.7e9 + 1e5 + 30.0 * t)
    return asdict(monitor.health(now=1.8e9))


if __name__ == "__main__":
    state = stored().to_state()
    FOLDER.mkdir(exist_ok=True)
    text = json.dumps({"state": state, "continued": continued(Monitor.from_state(state))}, indent=1)
    (FOLDER / f"v{state['version']}.json").write_text(text + "\n")
