"""L-ARC: a threshold function that learns from losses, eqs. (constant_component)-(coeffs)."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Hashable
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from localarc import serialization, validation
from localarc.calibrators.base import Calibrator, Progress, ThresholdFunction
from localarc.calibrators.running_constant import RunningConstant
from localarc.calibrators.settings import Settings, checked_settings, settings_from_json
from localarc.guarantees import Bound, Certificate, Evidence
from localarc.guarantees.certificate import audited, certify, identity
from localarc.guarantees.drift import NormSums
from localarc.guarantees.theorems import score_range, theorem_c
from localarc.kernels import Kernel, as_kernel
from localarc.kernels.custom import Function
from localarc.memory import Arrays, Expansion, LossCurves, Memory, Played, Rounds
from localarc.memory.approximate import MANY_TERMS, note_growth
from localarc.memory.stepwise import play_constant, step
from localarc.rates import Rate, as_rate
from localarc.validation import FloatArray

_ARRAY = np.ndarray
_FLOAT64 = np.dtype(np.float64)
_ROUNDS_AT_ONCE = 8192  # between two reports of progress


class LARC(Calibrator):
    """Localized adaptive risk control: `g(x) = f(x) + c` with f in the kernel's space.

    The mean loss approaches `alpha` for any sequence of inputs, and the risk is controlled in every
    neighbourhood that the kernel can see: see the guarantees page for what exactly.

    >>> from localarc import RBF
    >>> cal = LARC(alpha=0.1, kernel=RBF(length_scale=1.0))
    >>> x, score = [0.2, 0.5], 0.7
    >>> cal.threshold(x)
    0.0
    >>> loss = float(score > cal.threshold(x))
    >>> round(cal.update(x, loss).threshold(x), 9)
    1.8

    `rate` is eta_t: a number eta means `eta / sqrt(t)`. `regularization` is lambda. State
    `score_range` and the certificate can bound the mean loss in advance. `clip` bounds the local
    part of every threshold, `radius` its norm: either buys a bound that does not need lambda.
    """

    def __init__(
        self,
        alpha: float,
        kernel: Kernel | Function | None,
        rate: Rate | float | Callable[[int], float] = 1.0,
        regularization: float = 1e-4,
        *,
        loss_bound: float = 1.0,
        score_range: tuple[float, float] | None = None,
        initial_threshold: float = 0.0,
        memory: Memory | str = "auto",
        clip: float | None = None,
        radius: float | None = None,
    ) -> None:
        method = alpha, kernel, rate, regularization
        limits = initial_threshold, memory, clip, radius
        self._start(checked_settings(*method, loss_bound, score_range, *limits))

    def _start(self, settings: Settings) -> None:
        self.settings = settings
        self.alpha = settings.alpha
        self._constant = RunningConstant(settings.initial_threshold)
        self._blind = settings.kernel is None  # then inputs are not looked at
        self._fading = settings.regularization
        self._rate = settings.rate.__call__  # a method is called sooner than an object
        self._loss_bound = settings.loss_bound
        self._square = 0.0  # of the norm of f, kept only with a radius
        self._clip = math.inf if settings.clip is None else settings.clip
        self._radius = math.inf if settings.radius is None else settings.radius
        self._local: Expansion | None
        self._dimension: int | None
        self._hold(None, None)  # made when the first input tells its dimension
        self._norms: NormSums | None = None

    # ---- the algorithm -----------------------------------------------------------------------

    # A step on a lattice takes half a microsecond, so a method call counts: both methods ask by
    # themselves whether x can go to the engine as it is. All else takes the careful way.

    def threshold(self, x: Any) -> Any:
        """g_t(x) for one input, or n thresholds for an (n, d) array; changes nothing."""
        if type(x) is _ARRAY and x.dtype is _FLOAT64 and x.shape == self._shape:
            here = self._local.evaluate_one(x)  # type: ignore[union-attr]
            if abs(here) <= self._clip:
                return self._constant.constant + here
        return self._function(self._local)(x)  # clips, and says what is wrong with x

    def update(self, x: Any, loss: float) -> Self:
        """One step of eqs. (constant_component) and (kernel_update)."""
        trace = self._constant
        if type(loss) is not float or not 0.0 <= loss <= self._loss_bound:
            loss = validation.loss(loss, self._loss_bound)  # all that can raise comes first
        rate = self._rate(trace.rounds + 1)
        push = rate * (loss - self.alpha)  # positive after a costly round
        if not (
            self._blind
            or (
                type(x) is _ARRAY
                and x.dtype is _FLOAT64
                and x.shape == self._learnt_shape
                and self._local.try_learn_fast(x, 1.0 - rate * self._fading, push)  # type: ignore[union-attr]
            )
        ):
            self._move(validation.point(x, self._dimension), rate, push)
        trace.step(rate, loss, push)
        if trace.rounds == MANY_TERMS:
            self._note_growth()
        return self

    def _move(self, point: FloatArray, rate: float, push: float) -> None:
        local = self._local or self._expansion(point)
        kernel: Any = self.settings.kernel
        decay = 1.0 - rate * self._fading
        self._square = step(local, kernel, point, decay, push, self._radius, self._square)
        self._hold(local, len(point))

    def _hold(self, local: Expansion | None, dimension: int | None) -> None:
        self._local, self._dimension = local, dimension
        self._shape = None if local is None else (dimension,)
        self._learnt_shape = self._shape if self._radius == math.inf else None

    def _expansion(self, point: FloatArray) -> Expansion:
        kernel: Any = self.settings.kernel
        kernel.matrix(point[None], point[None])  # raises where kernel and input do not fit
        return self.settings.memory.expansion(kernel, len(point))

    def follow(
        self,
        points: FloatArray,
        curves: LossCurves,
        groups: list[Hashable] | None,
        progress: Progress,
    ) -> tuple[FloatArray, FloatArray]:
        """Go through rounds whose curves are known; thresholds and losses, as step by step."""
        points = points if self._blind else validation.points(points, self._dimension)
        thresholds, losses = np.empty((2, len(points)))
        with self.unchanged_on_failure():
            for start in range(0, len(points), _ROUNDS_AT_ONCE):
                part = slice(start, start + _ROUNDS_AT_ONCE)
                thresholds[part], losses[part] = self._play(points[part], curves.take(part))
                progress(len(points[part]))
        return thresholds, losses

    def snapshot(self) -> Any:
        """A copy of all that was learnt, for `go_back`."""
        return copy.copy(self._constant), copy.deepcopy(self._local), self._dimension, self._square

    def go_back(self, snapshot: Any) -> None:
        """Forget what was learnt since the snapshot."""
        self._constant, local, dimension, self._square = snapshot
        self._hold(local, dimension)

    def _play(self, points: FloatArray, curves: LossCurves) -> tuple[FloatArray, FloatArray]:
        rounds = self.rounds_ahead(points, curves)
        played = play_constant(rounds) if self._local is None else self._local.replay(rounds)
        return self.take_over(rounds, played)

    def rounds_ahead(self, points: FloatArray, curves: LossCurves) -> Rounds:
        """The rounds to play next, with the rates and limits that are theirs."""
        settings, trace = self.settings, self._constant
        if settings.kernel is not None and self._local is None:
            self._hold(self._expansion(points[0]), points.shape[1])
        rates = settings.rate.values(trace.rounds + 1, trace.rounds + len(points) + 1)
        decays = 1.0 - rates * settings.regularization
        limits = trace.constant, self._clip, self._radius, self._square
        return Rounds(points, curves, rates, decays, self.alpha, *limits)

    def take_over(self, rounds: Rounds, played: Played) -> tuple[FloatArray, FloatArray]:
        """Count rounds that were played with this calibrator's own expansion."""
        few = self.rounds < MANY_TERMS
        if self._radius < math.inf:
            self._square = played.square
        trace = self._constant
        extend = trace.extend if self._local is None else trace.extend_compiled
        extend(rounds.rates, played.losses, self.alpha)
        if few and self.rounds >= MANY_TERMS:
            self._note_growth()
        return played.thresholds, played.losses

    def _note_growth(self) -> None:
        if self.settings.kernel is not None and self._dimension is not None:
            memory, kernel = self.settings.memory, self.settings.kernel
            note_growth(self.rounds, memory, kernel, self._dimension)

    def reset(self) -> Self:
        """Forget everything learnt."""
        self._start(self.settings)
        return self

    @property
    def local(self) -> Expansion | None:
        """The local part, None without a kernel or before the first round."""
        return self._local

    # ---- what was learnt ---------------------------------------------------------------------

    @property
    def rounds(self) -> int:
        """How many losses were learnt."""
        return self._constant.rounds

    @property
    def risk(self) -> float:
        """The mean loss so far, NaN before the first."""
        return self._constant.risk

    @property
    def loss_bound(self) -> float:
        """The largest loss that a round may have."""
        return self.settings.loss_bound

    @property
    def kernel(self) -> Kernel | None:
        """The kernel, None for ARC."""
        return self.settings.kernel

    @property
    def memory(self) -> Memory:
        """The memory strategy in use; "auto" chooses when the first input is seen."""
        kernel, dimension = self.settings.kernel, self._dimension
        memory = self.settings.memory
        return memory if kernel is None or dimension is None else memory.chosen(kernel, dimension)

    @property
    def nbytes(self) -> int:
        """The size of what the local part remembers."""
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
                f"{self.settings.memory!r} forgets. Use archive=True, or read "
                "`threshold_function` instead."
            )
        if not self.rounds:
            return self.threshold_function
        local = copy.deepcopy(self._local)
        return ThresholdFunction(
            self._constant.constant_sum / self.rounds,
            local.average if local else None,
            self._dimension,
            self.settings.clip,
        )

    def _function(self, local: Expansion | None) -> ThresholdFunction:
        evaluate = local.evaluate if local else None
        if local is None and self.settings.kernel is not None:
            evaluate = _zero  # f_1; inputs are checked all the same
        return ThresholdFunction(
            self._constant.constant, evaluate, self._dimension, self.settings.clip
        )

    # ---- guarantees --------------------------------------------------------------------------

    def certificate(
        self,
        outstanding: int = 0,
        evidence: Evidence | None = None,
        input_bound: float | None = None,
        losses: ArrayLike | None = None,
    ) -> Certificate:
        """What can be promised about the mean loss, and on what it rests.

        `outstanding` is the largest number of losses that were ever awaited at one time, `evidence`
        what `replay` found out about the stream, `input_bound` the largest norm of an input (for
        the paper's own bound), `losses` all losses so far from your own log, to be audited against.
        """
        validation.integer(
            "outstanding", outstanding, 0, "It counts losses that are still awaited."
        )
        if input_bound is not None:
            validation.not_negative(
                "input_bound", input_bound, "It is the largest norm of an input."
            )
        known = _known(evidence)
        norms = self._norm_sums(known)
        settings, trace, dimension = self.settings, self._constant, self._dimension
        made = certify(settings, trace, known, norms, outstanding, input_bound, dimension)
        return audited(made, losses)

    @property
    def identity_holds(self) -> bool:
        """Whether the trace of c accounts for the losses: the certificate's identity alone."""
        return identity(self.settings, self._constant).holds

    def localized_bound(self, weight_norm: float, evidence: Evidence | None = None) -> Bound:
        """Theorem C: a bound on `|mean of (L_t - alpha) w(x_t)|` for weights w of that norm.

        `kernel.norm(centres, weights)` gives the norm of a sum of bumps.
        """
        known = _known(evidence)
        norms = self._norm_sums(known)
        return theorem_c(self.settings, self._constant, known, norms, weight_norm)

    def _norm_sums(self, evidence: Evidence) -> NormSums | None:
        scores = score_range(self.settings, evidence)
        if scores is None:
            return None
        sums = self._norms
        if sums is None or sums.score_range != scores or sums.rounds > self.rounds:
            sums = NormSums(self.settings, scores)
        self._norms = sums.advance(self.rounds)
        return sums

    # ---- state -------------------------------------------------------------------------------

    def state(self) -> bytes:
        """All of the calibrator, to be stored."""
        content = {
            "settings": self.settings.to_json(),
            "trace": self._constant.values(),
            "dimension": self._dimension,
            "square": self._square,
        }
        arrays = self._local.arrays() if self._local else {}
        return serialization.encode(type(self).__name__, content, arrays)

    @classmethod
    def from_state(
        cls,
        data: bytes,
        kernel: Kernel | Function | None = None,
        rate: Callable[[int], float] | None = None,
    ) -> Self:
        """The calibrator whose `state` this was; functions in it are handed in again."""
        kind, content, arrays = serialization.decode(data)
        cls._same_kind(kind)
        new = cls.__new__(cls)
        handed_rate = None if rate is None else as_rate(rate)
        new._start(settings_from_json(content["settings"], as_kernel(kernel), handed_rate))
        new._resume(content, arrays)
        return new

    def restore(self, data: bytes) -> Self:
        """Take over a state that was saved with the same settings."""
        kind, content, arrays = serialization.decode(data)
        self._same_kind(kind)
        mine, theirs = self.settings.to_json(), content["settings"]
        if theirs != mine:
            other = {name: value for name, value in theirs.items() if value != mine.get(name)}
            raise serialization.StateError(
                f"the state was saved with other settings, {other} instead of "
                f"{ {name: mine.get(name) for name in other} }. Restore it into a calibrator with "
                "the same settings, or use from_state."
            )
        new = type(self).__new__(type(self))  # what can fail comes first
        new._start(self.settings)
        new._resume(content, arrays)
        vars(self).update(vars(new))
        return self

    @classmethod
    def _same_kind(cls, kind: str) -> None:
        if kind != cls.__name__:
            raise serialization.StateError(
                f"the state is of kind {kind}, not {cls.__name__}. Load it with {kind}.load."
            )

    def _resume(self, content: dict[str, Any], arrays: Arrays) -> None:
        self._constant = RunningConstant.restored(content["trace"])
        self._square = float(content["square"])
        dimension = content["dimension"]
        if self.settings.kernel is not None and dimension is not None:
            empty = self.settings.memory.expansion(self.settings.kernel, dimension)
            self._hold(empty.restore(arrays), dimension)

    def __repr__(self) -> str:
        shown = self.settings.describe(self.memory)
        return f"{type(self).__name__}({shown}, rounds={self.rounds})"


def _zero(points: FloatArray) -> FloatArray:
    return np.zeros(len(points))


def _known(evidence: Evidence | None) -> Evidence:
    if evidence is not None and not isinstance(evidence, Evidence):
        raise TypeError(
            f"evidence must be a record's evidence, got {evidence!r}. For a known score range "
            "write Evidence(score_range=(0.0, 1.0))."
        )
    return evidence or Evidence()
