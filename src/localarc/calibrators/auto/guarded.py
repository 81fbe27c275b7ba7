"""What AutoLARC and Safeguard share: rounds, guarantees about them, and a state."""

from __future__ import annotations

import copy
from abc import abstractmethod
from collections.abc import Callable, Iterable
from typing import Any, Self

import numpy as np

from localarc import validation
from localarc.calibrators.auto import state as stored
from localarc.calibrators.auto.groups import GroupNames
from localarc.calibrators.auto.inputs import features
from localarc.calibrators.auto.many_rounds import ManyRounds
from localarc.calibrators.role import Point
from localarc.engine.auto import layout
from localarc.engine.auto.places import Hat, hats_at
from localarc.guarantees import theorem_e
from localarc.guarantees.theorem_e import Place
from localarc.validation import FloatArray


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
        ledger = self._ledger(self._engine, None)
        return tuple(
            theorem_e.certify_place(ledger, hat.node, hat.centre, hat.width)
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
