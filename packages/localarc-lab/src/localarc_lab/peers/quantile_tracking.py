"""Quantile tracking: gradient steps of the threshold itself, of fixed or decaying size."""

from __future__ import annotations

from collections.abc import Callable

from localarc.rates import Power, Rate, as_rate
from localarc.validation import FloatArray
from localarc_lab.peers.base import Memberships, Peer
from localarc_lab.peers.first_rounds import CALIBRATION, FirstRounds, scale_setting, span

DECAYING = Power(1.0, 0.6)
"""The paper's decaying steps, t^(-1/2 - 0.1)."""


class QuantileTracking(Peer):
    """Gradient steps on the pinball loss: `q_(t+1) = q_t + scale eta_t (loss_t - alpha)`.

    With decaying steps it also converges to the quantile of a stationary stream.

    Parameters
    ----------
    alpha : float
        The target: the mean loss that is accepted.
    rate : Rate, number or callable, default Power(1.0, 0.6)
        Steps in units of the scale: `Power(1.0, 0.6)` for the paper's decaying ones,
        `Constant(0.05)` for fixed ones.
    scale : float or None, default None
        The range of the scores, in their units. None measures it in the first `calibration`
        rounds, whose thresholds are those of split conformal prediction.
    calibration : int, default 150
        Number of rounds that fix the scale.
    loss_bound : float, default 1.0
        The largest possible loss.
    initial_threshold : float, default 0.0
        The threshold before the first score.

    Examples
    --------
    >>> from localarc.rates import Constant
    >>> cal = QuantileTracking(alpha=0.1, rate=Constant(0.05), scale=1.0)
    >>> round(cal.update(None, loss=1.0, score=0.3).threshold(None), 4)
    0.045

    References
    ----------
    Angelopoulos, Barber and Bates, "Online conformal prediction with decaying step sizes",
    ICML 2024.
    """

    def __init__(
        self,
        alpha: float,
        rate: Rate | float | Callable[[int], float] = DECAYING,
        scale: float | None = None,
        calibration: int = CALIBRATION,
        *,
        loss_bound: float = 1.0,
        initial_threshold: float = 0.0,
    ) -> None:
        super().__init__(alpha, loss_bound, initial_threshold)
        self.rate = as_rate(rate)
        self.scale = scale_setting(scale)
        self._first = FirstRounds(calibration, self.initial_threshold)
        self.calibration = self._first.size
        self._unit = self.scale
        self._steps = 0
        self._tracked = self.initial_threshold

    def _threshold(self, point: FloatArray | None, groups: Memberships) -> float:
        return self._tracked if self._unit else self._first.threshold(self._target)

    def _learn(
        self, point: FloatArray | None, loss: float, score: float, groups: Memberships
    ) -> None:
        if self._unit:
            self._step(loss)
            return
        self._first.add(score)
        if self._first.complete:
            self._unit = self._first.measure(span)
            for known in self._first.scores:
                self._step(float(known > self._tracked))

    def _step(self, loss: float) -> None:
        self._steps += 1
        size = (self._unit or 1.0) * self.rate(self._steps)
        self._tracked += size * (loss - self._target)
