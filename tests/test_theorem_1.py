"""The paper's theorem 1 by simulation: localized risk of the averaged threshold, i.i.d. data.

The law of the synthetic stream is known, so the localized risk is an integral, not an estimate.
"""

import math
from typing import Any

import numpy as np
import pytest

from localarc import ARC, LARC, RBF, replay
from localarc.streams.synthetic import heteroscedastic, spread

ALPHA = 0.1
SIDE = (np.arange(40) + 0.5) / 40
SQUARE = np.stack(np.meshgrid(SIDE, SIDE), axis=-1).reshape(-1, 2)
BUMPS = np.array([[0.05, 0.5], [0.95, 0.5], [0.5, 0.5], [0.95, 0.05]])
SEEDS = range(20)


def conditional_risk(thresholds: Any) -> Any:
    """P(score > threshold | x) for normal noise: what no sample can blur."""
    tail = [
        math.erfc(g / (s * math.sqrt(2))) for g, s in zip(thresholds, spread(SQUARE), strict=True)
    ]
    return np.where(thresholds >= 0, tail, 1.0)


def localized_risks(make: Any, kernel: RBF, T: int) -> Any:
    """E[w(X) L] / E[w(X)] for each seed and each bump w = k(mu, .)."""
    weights = kernel(SQUARE, BUMPS)
    risks = []
    for seed in SEEDS:
        stream = heteroscedastic(T, seed, shift=False)
        cal = make()
        replay(cal, stream.X, stream.curves)
        risk = conditional_risk(cal.averaged_threshold_function(SQUARE))
        risks.append((weights * risk[:, None]).sum(axis=0) / weights.sum(axis=0))
    return np.array(risks)


@pytest.mark.slow
def test_localized_risk_approaches_the_target_while_arcs_does_not() -> None:
    kernel = RBF.from_paper(0.1)
    worst = {
        (name, T): np.abs(localized_risks(make, kernel, T) - ALPHA).max(axis=1).mean()
        for name, make in {"arc": lambda: ARC(ALPHA), "larc": lambda: LARC(ALPHA, kernel)}.items()
        for T in (500, 2000, 8000)
    }
    assert worst["larc", 500] > 1.3 * worst["larc", 2000] > 1.5 * worst["larc", 8000]
    assert worst["larc", 8000] < 0.04
    assert min(worst["arc", T] for T in (500, 2000, 8000)) > 0.1


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kernel", "rate"), [(RBF.from_paper(1.0, 0.05), 4.0), (RBF.from_paper(0.3, 0.05), 4.0)]
)
def test_localized_risk_stays_within_the_stated_gap(kernel: RBF, rate: float) -> None:
    """The gap is kappa B |f_w| / E[w]; a bump has norm sqrt(kappa), and kappa is small here."""
    mean = kernel(SQUARE, BUMPS).mean(axis=0)
    gap = kernel.scale * math.sqrt(kernel.scale) / mean
    assert gap.max() < 1.0 - ALPHA  # else it would promise nothing
    for T in (500, 2000, 8000):
        excess = localized_risks(lambda: LARC(ALPHA, kernel, rate), kernel, T) - ALPHA
        assert (excess <= gap).all()
