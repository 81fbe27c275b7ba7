"""OLCP-Hedge: OLCP with several bandwidths, one of which is drawn in each round."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from localarc import validation
from localarc.validation import FloatArray
from localarc_lab.peers.aci import WINDOW_HINT
from localarc_lab.peers.base import Memberships, Peer
from localarc_lab.peers.local_window import LocalWindow, rule_of_thumb
from localarc_lab.peers.olcp import HORIZON_HINT, local_quantiles

MULTIPLIERS = 0.5, 0.75, 1.0, 1.25, 1.5
"""The authors' bandwidths, in units of the rule of thumb."""


class OLCPHedge(Peer):
    """OLCP with several bandwidths; a round's is drawn with weights that favour small sets.

    Each bandwidth has a level of its own. AdaHedge learns their weights from set sizes, scaled to
    [0, 1] in each round, and from misses in excess of the target, with a price that grows with
    the excess so far.

    Parameters
    ----------
    alpha : float
        The target: the mean loss that is accepted.
    horizon : int, default 10_000
        Number of rounds T, which sets all steps.
    window : int, default 100
        Number of recent rounds.
    multipliers : sequence of float, default 0.5, 0.75, 1.0, 1.25, 1.5
        Bandwidths, in units of the rule of thumb.
    seed : int, default 0
        Seed of the draws.
    loss_bound : float, default 1.0
        The largest possible loss. Bandwidths learn from scores: a round is a miss if its loss would
        have exceeded alpha.
    initial_threshold : float, default 0.0
        The threshold of the first round.

    Examples
    --------
    >>> cal = OLCPHedge(alpha=0.5)
    >>> for x, score in [(0.0, 1.0), (0.1, 2.0), (9.0, 50.0), (9.1, 60.0)]:
    ...     _ = cal.update([x], loss=float(score > cal.threshold([x])), score=score)
    >>> cal.threshold([0.0]) < cal.threshold([9.0])
    True

    References
    ----------
    Lai and Raskutti, "Online Localized Conformal Prediction", arXiv 2605.05497, 2026, as in
    github.com/yuhenglai/OLCP: there the AdaHedge rate stays within 10 % of sqrt(log K / T).
    """

    _reads_inputs: ClassVar[bool] = True

    def __init__(
        self,
        alpha: float,
        horizon: int = 10_000,
        window: int = 100,
        multipliers: Sequence[float] = MULTIPLIERS,
        seed: int = 0,
        *,
        loss_bound: float = 1.0,
        initial_threshold: float = 0.0,
    ) -> None:
        super().__init__(alpha, loss_bound, initial_threshold)
        self.horizon = validation.integer("horizon", horizon, 1, HORIZON_HINT)
        self.window = validation.integer("window", window, 1, WINDOW_HINT)
        self.seed = validation.integer("seed", seed, 0, "It seeds the draws.")
        hint = "It is a bandwidth in units of the rule of thumb, e.g. 1.0."
        self.multipliers = tuple(validation.positive("multipliers", m, hint) for m in multipliers)
        if len(self.multipliers) < 2:
            raise ValueError(f"multipliers must be at least two, got {self.multipliers}. {hint}")
        self._recent = LocalWindow(self.window, self.initial_threshold)
        self._levels = np.full(len(self.multipliers), self._target)
        self._hedge = _Hedge(len(self.multipliers), self.horizon)
        self._random = np.random.default_rng(self.seed)
        self._draw = float(self._random.random())

    def _threshold(self, point: FloatArray | None, groups: Memberships) -> float:
        if point is None or not len(self._recent):
            return self.initial_threshold
        chosen = int(np.searchsorted(np.cumsum(self._hedge.weights), self._draw, side="right"))
        return float(self._thresholds(point)[min(chosen, len(self.multipliers) - 1)])

    def _thresholds(self, point: FloatArray) -> FloatArray:
        widths = np.array(self.multipliers) * rule_of_thumb(len(point), self.window)
        return local_quantiles(self._recent, point, widths, self._levels.tolist())

    def _learn(
        self, point: FloatArray | None, loss: float, score: float, groups: Memberships
    ) -> None:
        assert point is not None
        if len(self._recent):
            thresholds = self._thresholds(point)
            excess = (score > thresholds).astype(np.float64) - self._target
            self._levels = np.clip(self._levels - 0.5 / math.sqrt(self.horizon) * excess, 0.0, 1.0)
            low, high = thresholds.min(), thresholds.max()
            self._hedge.learn((thresholds - low) / (high - low or 1.0), excess)
        self._recent.add(point, score)
        self._draw = float(self._random.random())


class _Hedge:
    """Weights that keep costs small, subject to a constraint whose price grows when violated."""

    def __init__(self, experts: int, horizon: int) -> None:
        self.weights = np.full(experts, 1.0 / experts)
        self._gains = np.zeros(experts)
        self._inverse_rate = 0.0
        self._rate = math.sqrt(math.log(experts) / horizon)
        self._scale = 1.0 / (math.sqrt(8.0) * math.sqrt(4.0 + math.log(experts)))
        self._price = 1.0 / (2.0 * math.sqrt(horizon))
        self._queue = 0.0

    def learn(self, costs: FloatArray, excess: FloatArray) -> None:
        """Learn the costs of a round, and by how much each expert violates the constraint."""
        violation = float(self.weights @ excess)
        losses = self._scale * costs
        if violation > 0.0:
            self._queue += self._scale * violation
            price = self._price * math.exp(self._price * self._queue)
            losses = losses + price * self._scale * excess
        gap = self._mixability_gap(losses)
        raised = self._inverse_rate + gap / math.log(len(losses))
        self._gains = self._gains - losses
        self._inverse_rate = min(max(raised, 1.0 / (1.1 * self._rate)), 1.0 / (0.9 * self._rate))
        gains = np.exp((self._gains - self._gains.max()) / self._inverse_rate)
        self.weights = gains / gains.sum()

    def _mixability_gap(self, losses: FloatArray) -> float:
        """How much the mixture lost beyond the exponential mean of the losses."""
        mean = float(self.weights @ losses)
        if self._inverse_rate == 0.0:
            gap = mean + float((self._gains - losses).max() - self._gains.max())
        else:
            means = self.weights @ np.exp(-losses / self._inverse_rate)
            gap = mean + self._inverse_rate * math.log(float(means))
        return max(gap, 0.0)
