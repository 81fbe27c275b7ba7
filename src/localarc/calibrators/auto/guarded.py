"""What AutoLARC and Safeguard share: rounds, guarantees about them, and a state."""

from __future__ import annotations

import copy
from abc import abstractmethod
from collections.abc import Callable, Iterable
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from localarc import validation
from localarc.betting.certificate import AutoCertificate, certify, certify_place
from localarc.betting.node_certificate import Place
from localarc.betting.sums import Sums
from localarc.calibrators.auto import state as stored
from localarc.calibrators.auto.groups import GroupNames
from localarc.calibrators.auto.inputs import features
from localarc.calibrators.auto.many_rounds import ManyRounds
from localarc.calibrators.base import Point
from localarc.engine.auto import layout
from localarc.engine.auto.engine import AutoEngine
from localarc.engine.auto.places import Hat, hats_at
from localarc.guarantees import Evidence
from localarc.guarantees.bounds import checked_evidence
from localarc.validation import FloatArray

_ROUNDING = 1e-9


class GuardedCalibrator(ManyRounds):
    """A base threshold with bettors around it: the role of AutoLARC and of Safeguard."""

    @property
    def threshold_function(self) -> Callable[..., float | FloatArray]:
        """The threshold function of the next round; later updates do not change it."""
        return copy.deepcopy(self).threshold

    @property
    def averaged_threshold_function(self) -> Callable[..., float | FloatArray]:
        """There is none: the average of thresholds made of recent scores means nothing."""
        raise AttributeError(
            f"{type(self).__name__} keeps no average of its threshold functions, because they "
            "follow recent scores. Use threshold_function."
        )

    # ---- guarantees --------------------------------------------------------------------------

    def certificate(  # type: ignore[override]
        self,
        pending: int = 0,
        evidence: Evidence | None = None,
        input_bound: float | None = None,
        losses: ArrayLike | None = None,
    ) -> AutoCertificate:
        """What is guaranteed about the mean loss, of everyone and of each group: theorem E.

        Parameters
        ----------
        pending : int, default 0
            Ignored: what is pending is known.
        evidence : Evidence or None, default None
            A stated score range, of which the largest score is used. What `replay` observed adds
            nothing to the scores that the calibrator has seen.
        input_bound : float or None, default None
            Ignored: theorem E does not depend on it.
        losses : array of shape (n,) or None, default None
            All losses so far, from a log of your own, to check the calibrator against.
        """
        engine = self._engine or AutoEngine(self.settings.rules(self._own_base), 0)
        labels = self._names.present(engine.keys)
        groups = {label: engine.node(key) for label, key in labels.items()}
        return certify(_sums(engine, evidence), engine.node(), groups, losses)

    @property
    def identity_holds(self) -> bool:
        """The consistency check: whether the bettors saw the losses that were summed up."""
        if self._engine is None:
            return True
        rounds, losses = self.uninformed
        promised = self.loss_sum - losses
        seen = self._numbers[layout.TOP] * self._engine.nodes[-1, layout.EXCESS]
        gap = abs(promised - self.alpha * (self.rounds - rounds) - seen)
        return bool(gap <= _ROUNDING * (1.0 + self.rounds * self._loss_bound))

    def localized_bound(self, x: Point) -> tuple[Place, ...]:
        """What was seen and is guaranteed around an input: its nearest hat on each level.

        Parameters
        ----------
        x : array of shape (d,)
            The input, with all features.

        Returns
        -------
        tuple of Place
            From the coarsest to the finest place that had any rounds; none before the 16th.
        """
        point, missing = features(x, self._fixed)
        if missing or self._engine is None:
            return ()
        with self._exclusive():
            nearest: dict[int, Hat] = {}
            for hat in hats_at(self._engine, point):
                best = nearest.get(hat.level)
                if None not in hat.centre and (best is None or hat.weight > best.weight):
                    nearest[hat.level] = hat
            return self._certified(nearest.values())

    def places(self, count: int = 10, min_weight: float = 20.0) -> tuple[Place, ...]:
        """The places where the losses were farthest above the target, worst first.

        Places are looked for around 128 inputs that were drawn uniformly from all so far.

        Parameters
        ----------
        count : int, default 10
            How many places to return, at most.
        min_weight : float, default 20.0
            The weight of rounds without which a place is left out.
        """
        validation.integer("count", count, 1, "It is the number of places to return.")
        least = validation.not_negative("min_weight", min_weight, "It is a number of rounds.")
        engine = self._engine
        if engine is None:
            return ()
        with self._exclusive():
            hats: dict[int, Hat] = {}
            for x in engine.inputs():
                if not np.isnan(x).any():
                    hats.update((hat.slot, hat) for hat in hats_at(engine, x))
            found = self._certified(hats.values())
        heavy = [place for place in found if place.weight >= least]
        return tuple(sorted(heavy, key=lambda place: -place.deviation)[:count])

    def _certified(self, hats: Iterable[Hat]) -> tuple[Place, ...]:
        assert self._engine is not None
        sums = Sums.of(self._engine)
        return tuple(
            certify_place(sums, hat.node, hat.centre, hat.width)
            for hat in hats
            if hat.node[layout.VISITS] > 0.0
        )

    # ---- state -------------------------------------------------------------------------------

    def state(self) -> bytes:
        """The complete calibrator with its pending tickets, for storage."""
        engine = self._engine
        if engine is None or not engine.started:
            return stored.encode(type(self).__name__, self.settings, None, [], self._base_state())
        labels = [*self._names.present(engine.keys)]
        return stored.encode(type(self).__name__, self.settings, engine, labels, self._base_state())

    def restore(self, data: bytes) -> Self:
        """Replace what was learned by a state that was saved with the same settings.

        Parameters
        ----------
        data : bytes
            What `state` returned.
        """
        found = stored.decode(type(self).__name__, data, self._own_base)
        stored.check_same_settings(self.settings, found.settings)
        self._restore_base(found.base)
        self.settings = found.settings
        self._continue(found.engine, GroupNames(found.labels))
        return self

    @abstractmethod
    def _base_state(self) -> bytes | None:
        """The state of what the base is made of, if anything."""

    @abstractmethod
    def _restore_base(self, data: bytes | None) -> None:
        """Continue from `_base_state`."""

    def checkpoint(self) -> Any:
        """A copy of everything learned, for `rollback`."""
        engine = None if self._engine is None else self._engine.copy()
        return engine, self._names.copy()

    def rollback(self, checkpoint: Any) -> None:
        """Forget what was learned since the checkpoint."""
        self._continue(*checkpoint)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.settings.describe()}, rounds={self.rounds})"


def _sums(engine: AutoEngine, evidence: Evidence | None) -> Sums:
    """The sums of an engine, with the largest score if it is stated."""
    stated = checked_evidence(evidence)
    if stated.score_range is None or stated.rounds is not None:
        return Sums.of(engine)  # what a replay observed, the sums know better
    return Sums.of(engine, stated.score_range[1])
