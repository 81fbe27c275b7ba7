"""Peers return the thresholds of their authors' released code on the same rounds.

The numbers are the output of that code on `rounds.inputs_and_scores`, with the settings below.
SAOCP and MVP decide by the sign of numbers that are 0 but for round-off; there, what is below 1e-12
counts as 0, in the released code too.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from localarc.rates import Constant, Power
from localarc_lab import peers
from localarc_lab.peers import TangentIntegrator
from peers.rounds import ALPHA, PICKED, inputs_and_scores, thresholds


@dataclass(frozen=True)
class Released:
    """Where released code is, and its thresholds in the picked rounds, misses and mean."""

    code: str
    make: Callable[[], Any]
    picked: tuple[float, ...]
    misses: int
    mean: float


RELEASED = (
    Released(
        "online-conformal 1.0.2, ogd.ScaleFreeOGD(max_scale=2)",
        lambda: peers.SFOGD(ALPHA, scale=2.0),
        (
            *(0.0, 1.154700538, 1.099981519, 1.188126674, 2.367155221),
            *(1.455857303, 0.8996327668, 1.914401651, 1.579395828, 1.071678346),
        ),
        59,
        1.510805846,
    ),
    Released(
        "online-conformal 1.0.2, saocp.SAOCP(max_scale=2)",
        lambda: peers.SAOCP(ALPHA, scale=2.0),
        (
            *(0.0, 1.154700538, 0.3289121474, 1.425873721, 2.436623107),
            *(1.369792983, 0.8038022752, 1.936370991, 1.190622236, 1.237468474),
        ),
        73,
        1.471842614,
    ),
    Released(
        "aangelopoulos/conformal-time-series a1e9765, quantile_integrator_log(0.1, 5, 10)",
        lambda: peers.ConformalPID(ALPHA, 0.1, 100, TangentIntegrator(saturation=5.0, gain=10.0)),
        (
            *(0.0, 0.09, 1.606266816, 1.285385449, 2.29566813),
            *(1.093881111, 0.9862943929, 2.199908348, 1.578495133, 1.155319113),
        ),
        70,
        1.485879141,
    ),
    Released(
        "aangelopoulos/conformal-time-series a1e9765, quantile(lr=0.1, T_burnin=100)",
        lambda: peers.ConformalPID(ALPHA, 0.1, 100, integrator=None),
        (
            *(0.0, 0.09, 0.467900641, 1.266928287, 2.329537485),
            *(1.480783397, 1.093018793, 2.032662701, 1.415741736, 1.161184618),
        ),
        75,
        1.468623349,
    ),
    Released(
        "aangelopoulos/online-conformal-decaying 63ad6d2, get_online_quantile, 2 t^-0.6",
        lambda: peers.QuantileTracking(ALPHA, Power(1.0, 0.6), scale=2.0),
        (
            *(0.0, 1.8, 1.109721225, 1.340651887, 2.075865699),
            *(1.675417596, 1.147765518, 1.556874954, 1.723890883, 1.363979689),
        ),
        56,
        1.557256896,
    ),
    Released(
        "aangelopoulos/online-conformal-decaying 63ad6d2, get_online_quantile, 2 * 0.05",
        lambda: peers.QuantileTracking(ALPHA, Constant(0.05), scale=2.0),
        (0.0, 0.09, 0.8, 1.2, 1.9, 1.5, 1.0, 1.7, 1.7, 1.01),
        70,
        1.422333333,
    ),
    Released(
        "ProgBelarus/MultiValidPrediction 8aa9ba1, scores / 2, everyone and 3 groups, same draws",
        lambda: peers.MVP(ALPHA, score_range=(0.0, 2.0)),
        (0.03996, 0.04, 0.36, 0.84, 1.44, 1.43996, 1.36, 1.55996, 1.43996, 1.39996),
        98,
        1.382116933,
    ),
    Released(
        "beepulbharti/pogo bd0fa77, pogo.POGO(num_groups=4, binary_groups=True)",
        lambda: peers.POGO(ALPHA, group_count=3),
        (
            *(2.222222222, 1.342592593, 1.280637748, 0.9606911613, 5.370918311),
            *(1.133011605, 0.480080147, 2.557281528, 1.394524286, 1.140139277),
        ),
        86,
        1.63569917,
    ),
    Released(
        "beepulbharti/pogo bd0fa77, gcaci.GCACI(num_groups=4, lr=0.1)",
        lambda: peers.GCACI(ALPHA, rate=0.1, scale=1.0),
        (0.0, 0.09, 1.07, 1.44, 2.17, 1.54, 0.7, 1.97, 1.74, 0.92),
        68,
        1.513666667,
    ),
    Released(
        "yuhenglai/OLCP 93cf290, eval_olcp(R=100)",
        lambda: peers.OLCP(ALPHA, horizon=600),
        (
            *(0.0, 1.013998006, 0.4857101783, 1.427057484, 1.873545078),
            *(1.127263669, 0.4298442455, 3.072940334, 1.077953121, 0.6417436645),
        ),
        59,
        1.551124391,
    ),
    Released(
        "yuhenglai/OLCP 93cf290, eval_olcp_adahedge(R=100), same draws",
        lambda: peers.OLCPHedge(ALPHA, horizon=600),
        (
            *(0.0, 1.013998006, 1.013998006, 1.427057484, 1.873545078),
            *(1.127263669, 0.5073349543, 3.072940334, 1.077953121, 0.7061695195),
        ),
        58,
        1.545076359,
    ),
)


@pytest.mark.parametrize("released", RELEASED, ids=lambda each: each.code)
def test_thresholds_are_those_of_the_released_code(released: Released) -> None:
    found = thresholds(released.make())
    assert found[PICKED] == pytest.approx(released.picked, rel=1e-9, abs=1e-9)
    assert int((inputs_and_scores()[1] > found).sum()) == released.misses
    assert found.mean() == pytest.approx(released.mean, rel=1e-9)


def test_bandwidths_are_weighted_as_by_the_released_code() -> None:
    """yuhenglai/OLCP 93cf290, eval_olcp_adahedge(R=100): the distribution after the last round."""
    cal: Any = peers.OLCPHedge(ALPHA, horizon=600)
    thresholds(cal)
    expected = 0.0722770714318, 0.204877649142, 0.188270600213, 0.340550360665, 0.194024318548
    assert cal._hedge.weights == pytest.approx(expected, rel=1e-9)


CALIBRATED = {
    peers.SFOGD: (1.279569485, 1.253622649, 0.2935663345, 1.913224272, 1.264567077, 1.273413768),
    peers.SAOCP: (1.267664794, 1.28614773, 0.7439957052, 2.058859591, 1.942868548, 1.239784481),
}


@pytest.mark.parametrize("method", CALIBRATED)
def test_first_rounds_are_the_calibration_set_of_the_released_code(method: Any) -> None:
    """online-conformal 1.0.2 with 150 calibration residuals."""
    found = thresholds(method(ALPHA, calibration=150))
    assert found[[150, 200, 300, 400, 500, 599]] == pytest.approx(CALIBRATED[method], rel=1e-9)


def test_theta_forecasts_as_statsmodels_with_its_smoothing_weight() -> None:
    """statsmodels' ThetaModel on the first 200 scores, without seasons."""
    theta = peers.Theta([0.030097025312971207])
    for score in inputs_and_scores()[1][:200].tolist():
        theta.learn(score)
    assert theta.forecast() == pytest.approx(0.6435543171128133, rel=1e-6)


def test_theta_prefers_the_weight_with_the_smaller_error() -> None:
    rising = [float(t) for t in range(50)]
    slow, fast, both = peers.Theta([0.1]), peers.Theta([0.9]), peers.Theta([0.1, 0.9])
    for score in rising:
        for theta in (slow, fast, both):
            theta.learn(score)
    assert both.forecast() == fast.forecast()
    assert abs(fast.forecast() - 50.0) < abs(slow.forecast() - 50.0)
    assert np.isfinite(both.forecast())
