"""L-ARC: a threshold function that learns from losses, eqs. (constant_component)-(coeffs)."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Sequence
from threading import get_ident
from typing import Any, Self, overload

import numpy as np

from localarc import validation
from localarc.adaptive.settings import Settings, checked_settings
from localarc.calibrators.adaptive import AdaptiveCalibrator
from localarc.calibrators.adaptive_rounds import Checkpoint
from localarc.calibrators.base import ThresholdFunction
from localarc.calibrators.role import Groups, Point, Points
from localarc.calibrators.state_checks import require_finite, require_room
from localarc.kernels import Kernel
from localarc.kernels.custom import Function
from localarc.memory import Memory
from localarc.memory.auto import MANY_TERMS, warn_memory_growth
from localarc.memory.base import Arrays, Expansion, LossCurves, Played, Rounds
from localarc.memory.stepwise import project
from localarc.rates import Rate
from localarc.validation import FloatArray

_ARRAY = np.ndarray
_FLOAT64 = np.dtype(np.float64)


class LARC(AdaptiveCalibrator):
    """Localized adaptive risk control: `g(x) = f(x) + c` with f in the kernel's space.

    The mean loss approaches `alpha` for any sequence of inputs, and the risk is controlled in every
    neighbourhood that the kernel can see; the guarantees page states what exactly.

    Parameters
    ----------
    alpha : float
        The target: the average loss that is accepted in the long run, in (0, `loss_bound`).
    kernel : Kernel or callable
        How strongly a round at one input affects the threshold at another, e.g.
        `RBF(length_scale=0.5)`. A function of (X, z) is wrapped in `Custom`, one that numba
        compiled in `Radial`. For a single threshold without a kernel, use `ARC`.
    rate : float, Rate or callable, default 1.0
        eta_t, the step size of round t, in the units of the score. A number eta means
        `InverseSqrt(eta)`, that is `eta / sqrt(t)`; a function of t must not increase.
    regularization : float, default 1e-4
        lambda: the local part shrinks by the factor `1 - eta_t lambda` in every round.
    loss_bound : float, default 1.0
        B, the largest loss that a round may have.
    score_range : (float, float) or None, default None
        The smallest and the largest possible score, where they are known: then the certificate
        bounds the mean loss in advance.
    initial_threshold : float, default 0.0
        c_1, the threshold of the first round, in the units of the score.
    memory : Memory or "auto", default "auto"
        How the local part is stored. `"auto"` is a lattice at rounding accuracy for RBF kernels in
        up to two dimensions, and exact otherwise; `Dictionary()` bounds memory in any dimension.
    clip : float or None, default None
        The local part of every threshold is kept within [-clip, clip]. It buys a bound that does
        not need `regularization`.
    radius : float or None, default None
        The norm of the local part is kept below this, by projection; for exact memories.
    floor : float or None, default None
        The constant c never falls below this, such as the lowest possible score. For streams with
        harmless rounds, in which no set can fail; the guarantee is then one-sided, see `ARC`.

    Examples
    --------
    >>> from localarc import RBF
    >>> cal = LARC(alpha=0.1, kernel=RBF(length_scale=0.7))
    >>> x, score = [0.2, 0.5], 0.7
    >>> cal.threshold(x)
    0.0
    >>> loss = float(score > cal.threshold(x))
    >>> round(cal.update(x, loss).threshold(x), 9)
    1.8

    References
    ----------
    Zecchin and Simeone, *Localized adaptive risk control*, NeurIPS 2024, arXiv:2405.07976.
    """

    def __init__(
        self,
        alpha: float,
        kernel: Kernel | Function,
        rate: Rate | float | Callable[[int], float] = 1.0,
        regularization: float = 1e-4,
        *,
        loss_bound: float = 1.0,
        score_range: tuple[float, float] | None = None,
        initial_threshold: float = 0.0,
        memory: Memory | str = "auto",
        clip: float | None = None,
        radius: float | None = None,
        floor: float | None = None,
    ) -> None:
        if kernel is None:
            raise TypeError("kernel must be a kernel, got None. For a single threshold, use ARC.")
        self._start(
            checked_settings(
                alpha=alpha,
                kernel=kernel,
                rate=rate,
                regularization=regularization,
                loss_bound=loss_bound,
                score_range=score_range,
                initial_threshold=initial_threshold,
                memory=memory,
                clip=clip,
                radius=radius,
                floor=floor,
            )
        )

    def _start(self, settings: Settings) -> None:
        super()._start(settings)
        self._regularization = settings.regularization
        self._squared_norm = self._next_squared_norm = 0.0  # of f, kept only with a radius
        self._clip = math.inf if settings.clip is None else settings.clip
        self._radius = math.inf if settings.radius is None else settings.radius
        self._set_local(None, None)  # made when the first input shows its dimension

    def _set_local(self, local: Expansion | None, features: int | None) -> None:
        self._local, self._features = local, features
        self._shape = None if local is None else (features,)
        self._fast_shape = self._shape if self._radius == math.inf else None

    @property
    def dimension(self) -> int | None:
        """The number of features, once one input was seen."""
        return self._features

    # ---- the algorithm -----------------------------------------------------------------------

    # A step on a lattice takes half a microsecond, so a method call counts: both methods check by
    # themselves whether x can go to the engine as it is. Everything else takes the slow path.

    @overload
    def threshold(self, x: Points, groups: Sequence[Groups] = ()) -> FloatArray: ...
    @overload
    def threshold(self, x: Point, groups: Groups = ()) -> float: ...
    def threshold(
        self, x: Point | Points, groups: Groups | Sequence[Groups] = ()
    ) -> float | FloatArray:
        """The threshold g_t(x) for one input, or n thresholds for n inputs; changes nothing.

        Parameters
        ----------
        x : array of shape (d,) or (n, d)
            The features of one input, or of n inputs.
        groups
            Ignored, as by every calibrator without groups.
        """
        if self._busy:
            self._enter()
        if type(x) is _ARRAY and x.dtype is _FLOAT64 and x.shape == self._shape:
            here = self._local.evaluate_one(x)  # type: ignore[union-attr]
            if abs(here) <= self._clip:
                return self._constant.constant + here
        return self._function(self._local)(x)  # clips, and says what is wrong with x

    def update(
        self, x: Point, loss: float, score: float | None = None, groups: Groups = ()
    ) -> Self:
        """Learn from the loss of one round: eqs. (constant_component) and (kernel_update).

        Parameters
        ----------
        x : array of shape (d,)
            The input of the round.
        loss : float
            The loss of the set that the threshold made, in [0, `loss_bound`].
        score, groups
            Ignored: LARC learns from losses and inputs.
        """
        if type(loss) is not float or not 0.0 <= loss <= self._loss_bound:
            loss = validation.loss(loss, self._loss_bound)  # everything that can raise comes first
        me = get_ident()
        if self._busy:
            self._enter()
        self._busy = me  # without a call in between, no other thread can be there
        constant = self._constant
        try:
            watched = None
            if self._watched:
                if self._pending.tickets:
                    self._expect(constant.rounds + constant.earlier)
                watched = self._watch(0.0 if self._scores is None else float(self.threshold(x)))
            rate = self._rate(constant.rounds + 1)
            push = rate * (loss - self.alpha)  # positive after a costly round
            self._midway = rate, loss, push, watched
            if not (
                type(x) is _ARRAY
                and x.dtype is _FLOAT64
                and x.shape == self._fast_shape
                and self._local.try_learn_fast(x, 1.0 - rate * self._regularization, push)  # type: ignore[union-attr]
            ):
                self._move(validation.point(x, self._features), rate, push)
            constant.step(rate, loss, push, self._floor, watched)
            self._busy = 0
        except BaseException:
            self._finish()  # an interrupt may have come between f and c
            raise
        if self._watched:
            self._warn_if_broken()
        if constant.rounds >= self._next_look:
            self._look()
        if constant.rounds == MANY_TERMS:
            self._warn_growth()
        return self

    def _point(self, x: Point) -> FloatArray:
        return validation.point(x, self._features)

    @property
    def _local_rounds(self) -> int:
        return 0 if self._local is None else self._local.rounds

    def _move(self, point: FloatArray, rate: float, push: float) -> None:
        local = self._local or self._new_expansion(point)
        kernel: Any = self.settings.kernel
        decay = 1.0 - rate * self._regularization
        projection, self._next_squared_norm = project(
            local, kernel, point, decay, push, self._radius, self._squared_norm
        )
        local.learn(point, decay, push, projection)
        self._squared_norm = self._next_squared_norm
        if self._local is None:
            self._set_local(local, len(point))

    def _repair(self) -> None:
        if self._local_rounds > self.rounds:
            self._squared_norm = self._next_squared_norm
        super()._repair()

    def _new_expansion(self, point: FloatArray) -> Expansion:
        kernel: Any = self.settings.kernel
        kernel.matrix(point[None], point[None])  # raises where kernel and input do not fit
        return self.settings.memory.expansion(kernel, len(point))

    # ---- many rounds at once -----------------------------------------------------------------

    def _check_points(self, points: FloatArray) -> FloatArray:
        return validation.points(points, self._features)

    def _play(self, points: FloatArray, curves: LossCurves) -> tuple[FloatArray, FloatArray]:
        local, rounds = self._prepare_rounds(points, curves)
        return self._commit(rounds, local.replay(rounds))

    def _prepare_rounds(self, points: FloatArray, curves: LossCurves) -> tuple[Expansion, Rounds]:
        """The local part, and the next rounds with their rates and limits."""
        local = self._local or self._new_expansion(points[0])
        self._set_local(local, points.shape[1])
        rates = self._rates(len(points))
        rounds = Rounds(
            points,
            curves,
            rates,
            decays=1.0 - rates * self._regularization,
            alpha=self.alpha,
            constant=self._constant.constant,
            clip=self._clip,
            radius=self._radius,
            square=self._squared_norm,
            floor=self._floor,
        )
        return local, rounds

    def _commit(self, rounds: Rounds, played: Played) -> tuple[FloatArray, FloatArray]:
        """Count rounds that were played with this calibrator's own expansion."""
        few = self.rounds < MANY_TERMS
        if self._radius < math.inf:
            self._squared_norm = played.square
        self._constant.extend_compiled(rounds.rates, played.losses, self.alpha, self._floor)
        self._watch_many(played.thresholds, played.losses)
        if few and self.rounds >= MANY_TERMS:
            self._warn_growth()
        return played.thresholds, played.losses

    def _warn_growth(self) -> None:
        if self._features is not None:
            kernel: Any = self.settings.kernel
            warn_memory_growth(self.rounds, self.settings.memory, kernel, self._features)

    # ---- what was learned --------------------------------------------------------------------

    @property
    def kernel(self) -> Kernel:
        """The kernel."""
        kernel: Any = self.settings.kernel
        return kernel  # type: ignore[no-any-return]

    @property
    def memory(self) -> Memory:
        """The memory strategy in use; "auto" chooses when the first input is seen."""
        memory = self.settings.memory
        return memory if self._features is None else memory.chosen(self.kernel, self._features)

    @property
    def nbytes(self) -> int:
        """The size of what the local part stores, in bytes."""
        return 0 if self._local is None else self._local.nbytes

    @property
    def max_error_estimate(self) -> float:
        """The largest error of a threshold that a `Dictionary` measured; 0 for other memories."""
        return float(getattr(self._local, "max_error_estimate", 0.0))

    @property
    def threshold_function(self) -> ThresholdFunction:
        """g_(T+1), the threshold function of the next round; later updates do not change it."""
        return self._function(copy.deepcopy(self._local))

    @property
    def averaged_threshold_function(self) -> ThresholdFunction:
        """`(1/T) sum_(t <= T) g_t`, and g_1 before the first round.

        With a clip, the averaged local part is clipped: the clipped parts have no short average.
        """
        if not self.settings.memory.averages:
            raise RuntimeError(
                f"the time-averaged threshold needs every round that was ever kept, and "
                f"{self.settings.memory!r} drops some. Use archive=True, or read "
                "`threshold_function` instead."
            )
        if not self.rounds:
            return self.threshold_function
        local = copy.deepcopy(self._local)
        return ThresholdFunction(
            self._constant.constant_sum / self.rounds,
            local.average if local else None,
            self._features,
            self.settings.clip,
        )

    def _function(self, local: Expansion | None) -> ThresholdFunction:
        evaluate = local.evaluate if local else _zero  # f_1; inputs are checked all the same
        return ThresholdFunction(
            self._constant.constant, evaluate, self._features, self.settings.clip
        )

    # ---- state -------------------------------------------------------------------------------

    def checkpoint(self) -> Checkpoint:
        """A copy of everything learned, for `rollback`."""
        constant, local = copy.copy(self._constant), copy.deepcopy(self._local)
        return Checkpoint(constant, local, self._features, self._squared_norm, self._pending.most)

    def rollback(self, checkpoint: Checkpoint) -> None:
        """Forget what was learned since the checkpoint."""
        self._constant, local, features, self._squared_norm, self._pending.most = checkpoint
        self._set_local(local, features)

    def _learned(self) -> tuple[dict[str, Any], Arrays]:
        content, arrays = super()._learned()
        local = self._local.arrays() if self._local else {}
        return content | {"square": self._squared_norm}, {**local, **arrays}

    def _resume(self, content: dict[str, Any], arrays: Arrays) -> None:
        super()._resume(content, arrays)
        self._squared_norm = validation.not_negative("square", content["square"], "It is |f|^2.")
        features = content["dimension"]
        if features is not None:
            require_finite(arrays)
            require_room(features, arrays)
            empty = self.settings.memory.expansion(self.kernel, features)
            self._set_local(empty.restore(arrays), features)
        if self._local_rounds != self.rounds:
            raise ValueError(f"the local part learned {self._local_rounds} of {self.rounds} rounds")

    def __repr__(self) -> str:
        return f"LARC({self.settings.describe(self.memory)}, rounds={self.rounds})"


def _zero(points: FloatArray) -> FloatArray:
    return np.zeros(len(points))
