"""What ARC and L-ARC share: a running constant, what it guarantees, and a state."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from collections.abc import Callable, Hashable, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from localarc import serialization, validation
from localarc.calibrators import health
from localarc.calibrators.base import BaseCalibrator, Progress, ThresholdFunction
from localarc.calibrators.running_constant import RunningConstant
from localarc.calibrators.settings import Settings, settings_from_json
from localarc.guarantees import Bound, Certificate, Evidence
from localarc.guarantees.certificate import certify, check_against_log, identity
from localarc.guarantees.drift import NormSums
from localarc.guarantees.theorems import score_range, theorem_c
from localarc.kernels.base import Kernel
from localarc.kernels.custom import Function, as_kernel
from localarc.memory.base import Arrays, LossCurves
from localarc.rates import as_rate
from localarc.validation import FloatArray

_ROUNDS_AT_ONCE = 8192  # between two reports of progress


class AdaptiveCalibrator(BaseCalibrator):
    """Settings that stay, and a constant that every loss moves: the role of ARC and of L-ARC."""

    settings: Settings
    _constant: RunningConstant
    _most_pending: int = 0  # losses at one time, where that is known
    _looks: bool = True

    def _start(self, settings: Settings) -> None:
        """Begin, or begin again, before the first round."""
        self.settings = settings
        self.alpha = settings.alpha
        self._constant = RunningConstant(settings.initial_threshold)
        self._rate = settings.rate.__call__  # a method is called faster than an object
        self._loss_bound = settings.loss_bound
        self._norms: NormSums | None = None
        self._problems: dict[str, health.Problem] = {}  # what was warned about, once each
        self._suspected: frozenset[str] = frozenset()  # what the latest look found
        self._plan_look()

    def replay_curves(
        self,
        points: FloatArray,
        curves: LossCurves,
        groups: list[Hashable] | None,
        progress: Progress,
    ) -> tuple[FloatArray, FloatArray]:
        """Thresholds and losses of rounds whose curves are known, as if step by step."""
        points = self._check_points(points)
        thresholds, losses = np.empty((2, len(points)))
        with self._unchanged_on_failure():
            for start in range(0, len(points), _ROUNDS_AT_ONCE):
                part = slice(start, start + _ROUNDS_AT_ONCE)
                thresholds[part], losses[part] = self._play(points[part], curves.take(part))
                progress(len(points[part]))
            self._look_back(thresholds, losses, curves)
        return thresholds, losses

    def _check_points(self, points: FloatArray) -> FloatArray:
        """The inputs, if they fit."""
        return points

    @abstractmethod
    def _play(self, points: FloatArray, curves: LossCurves) -> tuple[FloatArray, FloatArray]:
        """Thresholds and losses of the next rounds."""

    @property
    @abstractmethod
    def threshold_function(self) -> ThresholdFunction:
        """The threshold function of the next round; later updates do not change it."""

    @property
    @abstractmethod
    def averaged_threshold_function(self) -> ThresholdFunction:
        """The time average of the threshold functions of all rounds so far."""

    def reset(self) -> Self:
        """Forget everything learned."""
        self._start(self.settings)
        return self

    # ---- what was learned --------------------------------------------------------------------

    @property
    def rounds(self) -> int:
        """The number of losses learned from."""
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
    def nbytes(self) -> int:
        """The size of what the local part stores, in bytes; 0 without one."""
        return 0

    @property
    def _dimension(self) -> int | None:
        """The number of features, where inputs count and one was seen."""
        return None

    # ---- health ------------------------------------------------------------------------------

    @property
    def warnings(self) -> tuple[str, ...]:
        """What went wrong in this run without an error, each with the number to change."""
        return tuple(problem.text for problem in self._problems.values())

    def silence(self) -> Self:
        """Do not warn: for a service, which reports problems in its status instead."""
        self._looks = False
        self._plan_look()
        return self

    def _plan_look(self) -> None:
        """Look again when the number of rounds is the next power of two."""
        self._next_look = max(64, 1 << self._constant.rounds.bit_length()) if self._looks else -1
        self._looked = self._constant.rounds, self._constant.loss_sum

    def _look(self, stacklevel: int = 4) -> None:
        """Warn about what went wrong at two looks in a row; called by `update`."""
        constant, (rounds, loss_sum) = self._constant, self._looked
        recent = constant.rounds - rounds, constant.loss_sum - loss_sum
        self._plan_look()
        seen = health.vitals(self.settings, constant, *recent, pending=self._most_pending)
        found, before = health.problems(seen), self._suspected
        self._suspected = frozenset(problem.key for problem in found)
        self._warn([problem for problem in found if problem.key in before], stacklevel)

    def _look_back(self, thresholds: FloatArray, losses: FloatArray, curves: LossCurves) -> None:
        """Warn about what went wrong in a replay, where scores and thresholds are known."""
        self._plan_look()
        if not len(losses) or not self._looks:
            return
        recent = losses[len(losses) // 2 :]
        seen = health.vitals(
            self.settings,
            self._constant,
            len(recent),
            float(recent.sum()),
            scores=health.scores_of(curves, self.alpha, self.loss_bound),
            thresholds=health.latest_range(thresholds),
        )
        self._warn(health.problems(seen), stacklevel=6)

    def _warn(self, found: Sequence[health.Problem], stacklevel: int) -> None:
        new = [problem for problem in found if problem.key not in self._problems]
        self._problems |= {problem.key: problem for problem in new}
        for problem in new:
            warnings.warn(problem.text, health.PromiseWarning, stacklevel=stacklevel)

    # ---- guarantees --------------------------------------------------------------------------

    def certificate(
        self,
        pending: int = 0,
        evidence: Evidence | None = None,
        input_bound: float | None = None,
        losses: ArrayLike | None = None,
    ) -> Certificate:
        """What is guaranteed about the mean loss, and under which assumptions.

        Parameters
        ----------
        pending : int, default 0
            The largest number of losses that were ever pending at one time.
        evidence : Evidence or None, default None
            What `replay` found out about the stream: `record.evidence`.
        input_bound : float or None, default None
            The largest norm of an input, for the paper's own bound.
        losses : array of shape (n,) or None, default None
            All losses so far, from a log of your own, to check the calibrator against.

        Examples
        --------
        >>> from localarc import ARC
        >>> cal = ARC(alpha=0.1, score_range=(0.0, 1.0)).update(None, 1.0)
        >>> cal.certificate().identity_holds
        True
        """
        validation.integer("pending", pending, 0, "It counts losses that are not known yet.")
        if input_bound is not None:
            hint = "It is the largest norm of an input."
            validation.not_negative("input_bound", input_bound, hint)
        known = _checked_evidence(evidence)
        made = certify(
            self.settings,
            self._constant,
            known,
            self._norm_sums(known),
            pending,
            input_bound,
            self._dimension,
        )
        return check_against_log(made, losses)

    @property
    def identity_holds(self) -> bool:
        """The consistency check: whether the running constant accounts for all losses."""
        return identity(self.settings, self._constant).holds

    def localized_bound(self, weight_norm: float, evidence: Evidence | None = None) -> Bound:
        """Theorem C: a bound on `|mean of (L_t - alpha) w(x_t)|` for weights w of a given norm.

        Parameters
        ----------
        weight_norm : float
            The norm of the weight; `kernel.norm(centres, weights)` computes that of a sum of
            kernel bumps.
        evidence : Evidence or None, default None
            What `replay` found out about the stream: `record.evidence`.
        """
        known = _checked_evidence(evidence)
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
        """The complete calibrator, for storage: small, versioned, without pickle."""
        content, arrays = self._learned()
        settings = {"settings": self.settings.to_json()}
        return serialization.encode(type(self).__name__, settings | content, arrays)

    @classmethod
    def from_state(
        cls,
        data: bytes,
        kernel: Kernel | Function | None = None,
        rate: Callable[[int], float] | None = None,
    ) -> Self:
        """The calibrator whose `state` this was.

        Parameters
        ----------
        data : bytes
            What `state` returned.
        kernel, rate : callable or None, default None
            The functions in its kernel or rate, if there were any: functions are not stored.
        """
        kind, content, arrays = serialization.decode(data)
        cls._check_kind(kind)
        new = cls.__new__(cls)
        given = None if rate is None else as_rate(rate)
        new._start(settings_from_json(content["settings"], as_kernel(kernel), given))
        new._resume(content, arrays)
        return new

    def restore(self, data: bytes) -> Self:
        """Replace what was learned by a state that was saved with the same settings.

        Parameters
        ----------
        data : bytes
            What `state` returned.
        """
        kind, content, arrays = serialization.decode(data)
        self._check_kind(kind)
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
        self._plan_look()
        return self

    @classmethod
    def _check_kind(cls, kind: str) -> None:
        if kind != cls.__name__:
            raise serialization.StateError(
                f"the state is of kind {kind}, not {cls.__name__}. Load it with {kind}.load."
            )

    def _learned(self) -> tuple[dict[str, Any], Arrays]:
        """What was learned, as JSON and arrays, for `_resume`."""
        return {"trace": self._constant.values(), "dimension": self._dimension, "square": 0.0}, {}

    def _resume(self, content: dict[str, Any], arrays: Arrays) -> None:
        """Continue from what `_learned` returned."""
        self._constant = RunningConstant.restored(content["trace"])
        self._plan_look()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.settings.describe()}, rounds={self.rounds})"


def _checked_evidence(evidence: Evidence | None) -> Evidence:
    if evidence is not None and not isinstance(evidence, Evidence):
        raise TypeError(
            f"evidence must be a record's evidence, got {evidence!r}. For a known score range "
            "write Evidence(score_range=(0.0, 1.0))."
        )
    return evidence or Evidence()
