"""The bettors around a gate's base: theorem E for losses of answered and of withheld rounds."""

from __future__ import annotations

from typing import Self

from localarc.calibrators.auto.groups import GroupNames, Groups, weights_of
from localarc.calibrators.auto.guarded import GuardedCalibrator
from localarc.calibrators.auto.settings import AutoSettings, checked_settings
from localarc.calibrators.gate.base import TopicBase
from localarc.engine.auto import layout
from localarc.engine.auto.engine import AutoEngine
from localarc.validation import FloatArray

_COUNTS = layout.ISSUED, layout.PENDING, layout.ROUNDS


class GateBettors(GuardedCalibrator):
    """Bets on too many losses around the thresholds of a `TopicBase`, between 0 and 1."""

    _own_base = False

    def __init__(self, base: TopicBase, settings: AutoSettings) -> None:
        self.base = base
        self._start(settings)

    def _given(self, point: FloatArray, groups: Groups) -> tuple[float, float]:
        return self.base.decide(weights_of(groups))

    @property
    def engine(self) -> AutoEngine:
        """The engine; a new one before the first round."""
        return self._engine or AutoEngine(self.settings.rules(self._own_base), 0)

    @property
    def names(self) -> GroupNames:
        """The labels of the groups."""
        return self._names

    @property
    def features_fixed(self) -> int | None:
        """The number of features, once a threshold went out."""
        return self._fixed

    @property
    def counts(self) -> tuple[float, ...]:
        """Numbers of which each step changes one: rounds issued, pending and learned from."""
        return tuple(float(self._numbers[i]) for i in _COUNTS)

    def settle(self) -> None:
        """Undo what an interrupt left around a compiled call; no call is running."""
        if not self._numbers[layout.ISSUED]:
            self._fixed = None  # no threshold went out: nothing fixed the number of features

    def continue_from(self, engine: AutoEngine | None, names: GroupNames) -> None:
        """Replace what was learned."""
        self._continue(engine, names)

    @classmethod
    def from_state(cls, data: bytes) -> Self:
        """A gate stores its bettors as a part of itself."""
        raise NotImplementedError("use Gate.from_state.")

    def _base_state(self) -> None:
        return None

    def _restore_base(self, data: bytes | None) -> None:
        return None


def bettor_settings(alpha: float, max_bytes: int, max_pending: int) -> AutoSettings:
    """One side, floor 0 and ceiling 1, at which nothing is answered."""
    return checked_settings(
        alpha=alpha,
        limits=(0.0, 1.0),
        promise="at most",
        evenness=1.0,
        loss_bound=1.0,
        unit=1.0,
        initial_threshold=0.0,
        max_bytes=max_bytes,
        max_pending=max_pending,
    )
