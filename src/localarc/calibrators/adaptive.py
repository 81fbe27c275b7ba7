"""What ARC and L-ARC share beyond their rounds: what is guaranteed about them, and a state."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable
from typing import Any, Self

from numpy.typing import ArrayLike

from localarc import serialization, validation
from localarc.adaptive.settings import Settings
from localarc.calibrators import health
from localarc.calibrators.adaptive_rounds import AdaptiveRounds
from localarc.calibrators.base import ThresholdFunction
from localarc.calibrators.state_checks import restored_constant
from localarc.calibrators.tickets import PendingRounds
from localarc.guarantees import Bound, Certificate, Evidence
from localarc.guarantees.assumptions import Lateness, broken_assumptions
from localarc.guarantees.bounds import checked_evidence
from localarc.guarantees.certificate import certify, check_against_log, identity
from localarc.guarantees.drift import MOST_ROUNDS, NormSums
from localarc.guarantees.theorems import score_range, theorem_c
from localarc.kernels.base import Kernel
from localarc.kernels.custom import Function, as_kernel
from localarc.memory.base import Arrays
from localarc.rates import as_rate
from localarc.validation import FloatArray


class AdaptiveCalibrator(AdaptiveRounds):
    """Settings that stay, and a constant that every loss moves: the role of ARC and of L-ARC."""

    @property
    @abstractmethod
    def threshold_function(self) -> ThresholdFunction:
        """The threshold function of the next round; later updates do not change it."""

    @property
    @abstractmethod
    def averaged_threshold_function(self) -> ThresholdFunction:
        """The time average of the threshold functions of all rounds so far."""

    # ---- guarantees --------------------------------------------------------------------------

    def certificate(
        self,
        pending: int | None = None,
        evidence: Evidence | None = None,
        input_bound: float | None = None,
        losses: ArrayLike | None = None,
    ) -> Certificate:
        """What is guaranteed about the mean loss, and under which assumptions.

        Parameters
        ----------
        pending : int or None, default None
            The largest number of losses that were ever pending beside the one learned, where the
            calibrator cannot know: with tickets (`ask` and `tell`) it counts them itself. None
            means that each loss was known before the next threshold went out.
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
        >>> cal.certificate().consistent
        True
        """
        if pending is not None:
            validation.integer("pending", pending, 0, "It counts losses that are not known yet.")
        if input_bound is not None:
            hint = "It is the largest norm of an input."
            validation.not_negative("input_bound", input_bound, hint)
        late, known = self._lateness(pending), checked_evidence(evidence)
        return check_against_log(self.certificate_of_late(late, known, input_bound), losses)

    def certificate_of_late(
        self, late: Lateness, known: Evidence, input_bound: float | None = None
    ) -> Certificate:
        """The certificate, for a caller of `update_late`, who knows how late losses were.

        Parameters
        ----------
        late : Lateness
            How many losses were pending, and how that is known.
        known : Evidence
            What is known about the stream; `Evidence()` if nothing is.
        input_bound : float or None, default None
            The largest norm of an input, for the paper's own bound.
        """
        if self._busy:
            self._enter()
        return certify(
            self.settings,
            self._constant,
            known,
            self._norm_sums(known),
            late,
            input_bound,
            self.dimension,
        )

    def _lateness(self, stated: int | None) -> Lateness:
        measured = self._pending.told == self._constant.rounds
        return Lateness(max(stated or 0, self._pending.most), measured, stated is not None)

    @property
    def broken_assumptions(self) -> tuple[str, ...]:
        """The assumptions that rounds since the last `restart` showed to be false."""
        return broken_assumptions(self.settings, self._constant)

    def recent_problems(
        self, rounds: int, loss_sum: float, pending: int, thresholds: FloatArray
    ) -> list[str]:
        """What the run and its latest rounds reveal, for a caller that keeps a history itself.

        Parameters
        ----------
        rounds : int
            The number of latest rounds.
        loss_sum : float
            The sum of their losses.
        pending : int
            The largest number of losses that were pending in these rounds.
        thresholds : array of shape (n,)
            Thresholds that went out, in order, of which the latest half counts.
        """
        latest, recent = health.latest_range(thresholds), (rounds, loss_sum)
        seen = health.vitals(
            self.settings, self._constant, *recent, pending=pending, thresholds=latest
        )
        return [problem.text for problem in health.problems(seen)]

    def problems(self) -> list[str]:
        """What the run was warned about, and the assumptions that it broke."""
        return [*self.warnings, *self.broken_assumptions]

    @property
    def broken_since(self) -> float:
        """The first round that showed an assumption of the bounds to be false; infinity if none."""
        constant = self._constant
        empty = constant.empty_since if self.settings.floor is None else 0
        rounds = constant.rate_rise, constant.full_since, empty
        return min((float(t) for t in rounds if t), default=math.inf)

    @property
    def consistent(self) -> bool:
        """Whether the running constant accounts for all losses."""
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
        known = checked_evidence(evidence)
        norms, late = self._norm_sums(known), self._lateness(None)
        return theorem_c(self.settings, self._constant, known, norms, late, weight_norm)

    def _norm_sums(self, evidence: Evidence) -> NormSums | None:
        scores = score_range(self.settings, evidence)
        if scores is None or self._constant.rounds > MOST_ROUNDS:
            return None
        sums = self._norms
        rounds = self._constant.rounds
        if sums is None or sums.score_range != scores or sums.rounds > rounds:
            sums = NormSums(self.settings, scores, self._constant.start)
        self._norms = sums.advance(rounds)
        return sums

    # ---- state -------------------------------------------------------------------------------

    def state(self) -> bytes:
        """The complete calibrator, for storage: small, versioned, without pickle."""
        if self._busy:
            self._enter()
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
        own_kernel, own_rate = as_kernel(kernel), None if rate is None else as_rate(rate)
        with serialization.damaged_unless_read():
            new._start(Settings.from_json(content["settings"], own_kernel, own_rate))
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
        mine, theirs = self.settings.to_json(), dict(content.get("settings", {}))
        if theirs != mine:
            other = {name: value for name, value in theirs.items() if value != mine.get(name)}
            raise serialization.StateError(
                f"the state was saved with other settings, {other} instead of "
                f"{ {name: mine.get(name) for name in other} }. Restore it into a calibrator with "
                "the same settings, or use from_state."
            )
        new = self._fresh()  # what can fail comes first
        with serialization.damaged_unless_read():
            new._resume(content, arrays)
        vars(self).update(vars(new))
        return self

    @classmethod
    def _check_kind(cls, kind: str) -> None:
        if kind != cls.__name__:
            raise serialization.StateError(
                f"the state is of kind {kind}, not {cls.__name__}. Load it with {kind}.load."
            )

    def _learned(self) -> tuple[dict[str, Any], Arrays]:
        """What was learned, as JSON and arrays, for `_resume`."""
        content = {"trace": self._constant.values(), "tickets": self._pending.to_json()}
        return content | {"dimension": self.dimension, "square": 0.0}, self._pending.arrays()

    def _resume(self, content: dict[str, Any], arrays: Arrays) -> None:
        """Continue from what `_learned` returned."""
        self._constant = restored_constant(self.settings, content["trace"])
        self._pending = PendingRounds.restored(content["tickets"], arrays)
        self._watched = self._watched or bool(self._pending.issued)
        self._plan_look()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.settings.describe()}, rounds={self.rounds})"
