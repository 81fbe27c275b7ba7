"""Conformal PID control: quantile tracking, an integrator of misses and a forecast of scores."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol

from localarc import validation
from localarc.validation import FloatArray
from localarc_lab.peers.aci import WINDOW_HINT
from localarc_lab.peers.base import Memberships, Peer
from localarc_lab.peers.score_window import ScoreWindow

_TOLERANCE = 0.01  # of coverage after the horizon, in the paper's heuristic


class Scorecaster(Protocol):
    """Anything that learns scores one by one and forecasts the next."""

    def learn(self, score: float) -> None:
        """Learn the newest score."""

    def forecast(self) -> float:
        """Return the forecast of the next score."""


@dataclass(frozen=True)
class TangentIntegrator:
    """Add `gain tan(E log(t + 1) / (saturation (t + 1)))`, where E is the excess of misses.

    Parameters
    ----------
    saturation : float or None, default None
        How large the excess may become. None follows the paper's heuristic for `horizon` rounds,
        `2 / pi (ceil(0.01 log T) - 1 / log T)`.
    gain : float or None, default None
        In units of the score. None is the largest recent score.
    horizon : int, default 10_000
        Number of rounds T of the heuristic.

    Examples
    --------
    >>> integrator = TangentIntegrator(saturation=5.0, gain=10.0)
    >>> round(integrator.correction(excess=2.0, rounds=100, unit=1.0), 3)
    0.183

    References
    ----------
    Angelopoulos, Candes and Tibshirani, "Conformal PID Control for Time Series Prediction",
    NeurIPS 2023.
    """

    saturation: float | None = None
    gain: float | None = None
    horizon: int = 10_000

    def __post_init__(self) -> None:
        for name in ("saturation", "gain"):
            if getattr(self, name) is not None:
                hint = "None chooses it by the paper's heuristic."
                validation.positive(name, getattr(self, name), hint)
        validation.integer("horizon", self.horizon, 3, "It is a number of rounds.")

    def correction(self, excess: float, rounds: int, unit: float) -> float:
        """Return the correction of the threshold, which may be infinite.

        Parameters
        ----------
        excess : float
            Misses so far, less the misses that the target allows.
        rounds : int
            Number of rounds before the latest.
        unit : float
            The largest recent score.
        """
        gain = unit if self.gain is None else self.gain
        angle = excess * math.log(rounds + 1) / (self._saturation() * (rounds + 1))
        if abs(angle) >= math.pi / 2.0:
            return math.copysign(math.inf, angle) if gain else 0.0
        return gain * math.tan(angle)

    def _saturation(self) -> float:
        if self.saturation is not None:
            return self.saturation
        length = math.log(self.horizon)
        return 2.0 / math.pi * (math.ceil(length * _TOLERANCE) - 1.0 / length)


DEFAULT_INTEGRATOR = TangentIntegrator()


class ConformalPID(Peer):
    """Conformal PID control: a quantile tracker, corrected by past misses and by a forecast.

    The tracker moves by `rate` times the range of the recent scores times (loss - alpha). The
    integrator adds a function of the excess of misses, and the scorecaster a forecast of the score.
    Where a correction is infinite, the threshold is the largest or the smallest score so far.

    Parameters
    ----------
    alpha : float
        The target: the mean loss that is accepted.
    rate : float, default 0.1
        Step of the tracker, relative to the range of the recent scores.
    window : int, default 100
        Number of recent scores.
    integrator : TangentIntegrator or None, default TangentIntegrator()
        None switches it off.
    scorecaster : Scorecaster or None, default None
        For example `Theta()`; None switches it off.
    loss_bound : float, default 1.0
        The largest possible loss.
    initial_threshold : float, default 0.0
        The threshold of the first round.

    Examples
    --------
    >>> cal = ConformalPID(alpha=0.1)
    >>> for score in (0.3, 0.1, 0.2):
    ...     _ = cal.update(None, loss=float(score > cal.threshold(None)), score=score)
    >>> round(cal.threshold(None), 3)
    0.78

    References
    ----------
    Angelopoulos, Candes and Tibshirani, "Conformal PID Control for Time Series Prediction",
    NeurIPS 2023; the authors' code is github.com/aangelopoulos/conformal-time-series.
    """

    def __init__(
        self,
        alpha: float,
        rate: float = 0.1,
        window: int = 100,
        integrator: TangentIntegrator | None = DEFAULT_INTEGRATOR,
        scorecaster: Scorecaster | None = None,
        *,
        loss_bound: float = 1.0,
        initial_threshold: float = 0.0,
    ) -> None:
        super().__init__(alpha, loss_bound, initial_threshold)
        self.rate = validation.positive("rate", rate, "It is a part of the range of the scores.")
        self.window = validation.integer("window", window, 1, WINDOW_HINT)
        self.integrator, self.scorecaster = integrator, scorecaster
        self._scores = ScoreWindow(self.window, self.initial_threshold)
        self._tracked = self.initial_threshold
        self._correction = 0.0
        self._excess = 0.0

    def _threshold(self, point: FloatArray | None, groups: Memberships) -> float:
        forecast = 0.0 if self.scorecaster is None else self.scorecaster.forecast()
        return self._scores.finite(self._tracked + self._correction + forecast)

    def _learn(
        self, point: FloatArray | None, loss: float, score: float, groups: Memberships
    ) -> None:
        recent = self._scores.ascending
        span = recent[-1] - recent[0] if recent else 1.0  # the authors' first step has no unit
        self._tracked += self.rate * span * (loss - self._target)
        if self.integrator is not None:
            unit = max(map(abs, (recent[0], recent[-1]))) if recent else 1.0
            self._correction = self.integrator.correction(self._excess, self.rounds, unit)
        self._excess += loss - self._target
        known = self._scores.finite(score)
        self._scores.add(known)
        if self.scorecaster is not None:
            self.scorecaster.learn(known)
