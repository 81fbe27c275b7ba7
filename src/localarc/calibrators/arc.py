"""ARC: one threshold for all inputs, eq. (aci_update_rule)."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from threading import get_ident
from typing import Self, overload

import numpy as np
from numpy.typing import ArrayLike

from localarc import validation
from localarc.adaptive.settings import checked_settings
from localarc.calibrators.adaptive import AdaptiveCalibrator
from localarc.calibrators.adaptive_rounds import Checkpoint
from localarc.calibrators.base import ThresholdFunction
from localarc.calibrators.role import Groups, Point, Points
from localarc.memory.base import LossCurves
from localarc.rates import Rate
from localarc.validation import FloatArray


class ARC(AdaptiveCalibrator):
    """Adaptive risk control: one threshold c for all inputs, `c += eta_t (L_t - alpha)`.

    The mean loss approaches `alpha` for any sequence of inputs and losses, at a stated rate.

    Parameters
    ----------
    alpha : float
        The target: the average loss that is accepted in the long run, in (0, `loss_bound`).
    rate : float, Rate or callable, default 1.0
        eta_t, the step size of round t, in the units of the score. A number eta means
        `InverseSqrt(eta)`, that is `eta / sqrt(t)`; a function of t must not increase.
    loss_bound : float, default 1.0
        B, the largest loss that a round may have.
    score_range : (float, float) or None, default None
        The smallest and the largest possible score, where they are known: then the certificate
        bounds the mean loss in advance.
    initial_threshold : float, default 0.0
        c_1, the threshold of the first round, in the units of the score.
    floor : float or None, default None
        The lowest useful threshold, below which c never falls, such as the lowest possible score.
        For streams with harmless rounds, in which no set can fail: without a floor, c keeps falling
        there, and every round that follows pays for it. The guarantee is then one-sided, that the
        mean loss is at most `alpha`, up to `certificate().at_most`.

    Examples
    --------
    >>> cal = ARC(alpha=0.1, rate=0.5)
    >>> cal.update(None, loss=1.0).threshold(None)
    0.45

    References
    ----------
    Gibbs and Candes, *Adaptive conformal inference under distribution shift*, NeurIPS 2021.
    Feldman et al., *Achieving risk control in online learning settings*, TMLR 2023.
    Angelopoulos, Barber and Bates, *Online conformal prediction with decaying step sizes*, 2024.
    """

    def __init__(
        self,
        alpha: float,
        rate: Rate | float | Callable[[int], float] = 1.0,
        *,
        loss_bound: float = 1.0,
        score_range: tuple[float, float] | None = None,
        initial_threshold: float = 0.0,
        floor: float | None = None,
    ) -> None:
        self._start(
            checked_settings(
                alpha=alpha,
                kernel=None,
                rate=rate,
                regularization=0.0,
                loss_bound=loss_bound,
                score_range=score_range,
                initial_threshold=initial_threshold,
                memory="auto",
                clip=None,
                radius=None,
                floor=floor,
            )
        )

    @overload
    def threshold(self, x: Points, groups: Sequence[Groups] = ()) -> FloatArray: ...
    @overload
    def threshold(self, x: Point, groups: Groups = ()) -> float: ...
    def threshold(
        self, x: Point | Points, groups: Groups | Sequence[Groups] = ()
    ) -> float | FloatArray:
        """The threshold c_t for one input, whatever it is, or n times c_t for n inputs.

        Parameters
        ----------
        x : array of shape (d,) or (n, d), or None
            One input or many; only their number counts.
        groups
            Ignored, as by every calibrator without groups.
        """
        if self._busy:
            self._enter()
        if validation.is_single(x):
            return self._constant.constant
        return np.full(len(np.asarray(x)), self._constant.constant)

    def update(
        self, x: Point, loss: float, score: float | None = None, groups: Groups = ()
    ) -> Self:
        """Learn from the loss of one round: `c += eta_t (loss - alpha)`.

        Parameters
        ----------
        x : array of shape (d,) or None
            The input, which is ignored.
        loss : float
            The loss of the set that the threshold made, in [0, `loss_bound`].
        score, groups
            Ignored: ARC learns from losses alone.
        """
        if type(loss) is not float or not 0.0 <= loss <= self._loss_bound:
            loss = validation.loss(loss, self._loss_bound)  # everything that can raise comes first
        me = get_ident()
        if self._busy:
            self._enter()
        self._busy = me
        constant, watched = self._constant, None
        try:
            if self._watched:
                if self._pending.tickets:
                    self._expect(constant.rounds + constant.earlier)
                watched = self._watch(constant.constant)
            rate = self._rate(constant.rounds + 1)
            constant.step(rate, loss, rate * (loss - self.alpha), self._floor, watched)
            self._busy = 0
        except BaseException:
            self._finish()
            raise
        if self._watched:
            self._warn_if_broken()
        if constant.rounds >= self._next_look:
            self._look()
        return self

    def _point(self, x: Point) -> None:
        if not validation.is_single(x):
            raise ValueError(
                f"x must be one input of shape (d,) or None, got shape {np.asarray(x).shape}. "
                "Ask for one round at a time."
            )

    def _move(self, point: FloatArray | None, rate: float, push: float) -> None:
        """Nothing: there is no local part."""

    def points_of(self, X: ArrayLike | None, rounds: int) -> FloatArray:
        """The inputs, whatever they are: only their number counts."""
        return np.zeros((rounds, 0)) if X is None else validation.points(X, min_features=0)

    def _play(self, points: FloatArray, curves: LossCurves) -> tuple[FloatArray, FloatArray]:
        losses, pushed = np.empty((2, len(points)))
        constants = np.empty(len(points) + 1)
        rates = self._rates(len(points))
        alpha, floor = self.alpha, self._floor
        constants[0] = constant = self._constant.constant
        for t, rate in enumerate(rates.tolist()):
            losses[t] = loss = curves.loss_at(t, constant)
            constant += rate * (loss - alpha)
            pushed[t] = constant
            constants[t + 1] = constant = max(constant, floor)
        self._constant.extend(rates, losses, constants, pushed)
        self._watch_many(constants[:-1], losses)
        return constants[:-1], losses

    @property
    def threshold_function(self) -> ThresholdFunction:
        """The threshold of the next round, for every input; later updates do not change it."""
        return ThresholdFunction(self._constant.constant)

    @property
    def averaged_threshold_function(self) -> ThresholdFunction:
        """The mean of the thresholds of all rounds so far, and c_1 before the first."""
        total = self._constant.constant_sum
        return ThresholdFunction(total / self.rounds) if self.rounds else self.threshold_function

    def checkpoint(self) -> Checkpoint:
        """A copy of everything learned, for `rollback`."""
        return Checkpoint(copy.copy(self._constant), most_pending=self._pending.most)

    def rollback(self, checkpoint: Checkpoint) -> None:
        """Forget what was learned since the checkpoint."""
        self._constant, self._pending.most = checkpoint.constant, checkpoint.most_pending
