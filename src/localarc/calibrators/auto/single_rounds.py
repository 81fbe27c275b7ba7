"""One round at a time: thresholds, updates, and tickets for losses that come late."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Self, TypeVar, overload

import numpy as np

from localarc import validation
from localarc.calibrators.auto.groups import NO_GROUPS, GroupNames, Groups
from localarc.calibrators.auto.inputs import features, score
from localarc.calibrators.auto.promise import Promised
from localarc.calibrators.auto.settings import AutoSettings
from localarc.calibrators.base import BaseCalibrator
from localarc.calibrators.role import Point, Points
from localarc.calibrators.tickets import Ticket, not_pending, ticket_id
from localarc.engine.auto import layout
from localarc.engine.auto.engine import AutoEngine
from localarc.engine.auto.loops import ASK, PEEK, STEP, UNCHECKED
from localarc.validation import LARGEST, FloatArray

T = TypeVar("T")
_NAN = math.nan
_ARRAY, _FLOAT64 = np.ndarray, np.dtype(np.float64)
_ENGINE_BASE = _NAN, _NAN  # the engine computes base and unit itself


class SingleRounds(Promised, BaseCalibrator):
    """An engine, and one compiled call for each round."""

    learns_from = frozenset({"groups", "score"})

    def _start(self, settings: AutoSettings) -> None:
        """Begin, or begin again, before the first round."""
        self._names = GroupNames()
        self.settings = settings
        self.alpha = settings.alpha
        self._loss_bound = settings.loss_bound
        self._engine = None
        self._fixed: int | None = None  # the number of features, once a threshold went out

    def _continue(self, engine: AutoEngine | None, names: GroupNames) -> None:
        """Go on from what another calibrator learned."""
        self._engine, self._names = engine, names
        self._fixed = engine.dimensions if engine is not None and engine.started else None

    # ---- thresholds --------------------------------------------------------------------------

    @overload
    def threshold(self, x: Points, groups: Sequence[Groups] = ()) -> FloatArray: ...
    @overload
    def threshold(self, x: Point, groups: Groups = ()) -> float: ...
    def threshold(
        self, x: Point | Points, groups: Groups | Sequence[Groups] = ()
    ) -> float | FloatArray:
        """The threshold for one input, or n thresholds for n inputs; changes nothing.

        Parameters
        ----------
        x : array of shape (d,) or (n, d), or None
            The features of one input, or of n inputs; None or an empty array if there are none.
        groups : hashable, list, set or mapping, or a sequence of n of these
            The groups of the input, or of each input.
        """
        if (type(x) is _ARRAY and x.ndim == 1) or validation.is_single(x):
            return self._serve(PEEK, x, groups, 0.0, 0.0)  # type: ignore[arg-type]
        return self._thresholds(x, None if type(groups) is tuple and not groups else groups)

    @abstractmethod
    def _thresholds(self, X: Any, groups: Any) -> FloatArray:
        """`threshold` of many inputs."""

    def update(
        self, x: Point, loss: float, score: float | None = None, groups: Groups = ()
    ) -> Self:
        """Learn from the loss of the threshold for this input, at once.

        Parameters
        ----------
        x : array of shape (d,) or None
            The input of the round; NaN marks a missing feature.
        loss : float
            The loss of the set that the threshold made, in [0, `loss_bound`].
        score : float or None, default None
            The least threshold whose loss is at most `alpha`: for miscoverage, the score of the
            true outcome. Minus infinity if every threshold would do; None if it is unknown.
        groups : hashable, list, set or mapping, default ()
            The groups of the input.
        """
        if type(loss) is not float or not 0.0 <= loss <= self._loss_bound:
            loss = validation.loss(loss, self._loss_bound)
        if type(score) is not float or not -LARGEST <= score <= LARGEST:
            score = self.checked_score(score)
        self._serve(STEP, x, groups, loss, score)
        return self

    def ask(self, x: Point, groups: Groups = ()) -> Ticket:
        """A threshold whose loss will be told later, in any order.

        Parameters
        ----------
        x : array of shape (d,) or None
            The input of the round; NaN marks a missing feature.
        groups : hashable, list, set or mapping, default ()
            The groups of the input.

        Returns
        -------
        Ticket
            The threshold, and the id to report its loss with.
        """
        threshold = self._serve(ASK, x, groups, 0.0, 0.0)
        return Ticket(int(self._numbers[layout.ISSUED]), threshold)

    def _serve(self, mode: int, x: Point, groups: Groups, loss: float, score: float) -> float:
        """One compiled call; everything that can raise comes before it."""
        with self._exclusive():
            quick = self._own_base  # other bases learn before the call, so x is checked first
            if quick and type(x) is _ARRAY and x.dtype is _FLOAT64 and x.shape == (self._fixed,):
                threshold = self._call_unchecked(mode, x, groups, loss, score)
                if threshold == threshold:
                    return threshold
            point, missing = features(x, self._fixed)
            return self._call(mode, point, groups, missing, loss, score)

    def _call_unchecked(
        self, mode: int, x: FloatArray, groups: Groups, loss: float, score: float
    ) -> float:
        """The threshold, or NaN and nothing changed if x is not finite and in range."""
        engine = self._engine
        if type(groups) is not tuple or groups or mode == ASK or engine is None:
            return self._call(mode + UNCHECKED, x, groups, (), loss, score)
        keys, weights = NO_GROUPS
        return engine.serve(mode + UNCHECKED, x, keys, weights, _NAN, _NAN, loss, score)

    def _call(
        self,
        mode: int,
        point: FloatArray,
        groups: Groups,
        missing: tuple[int, ...],
        loss: float,
        score: float,
    ) -> float:
        action = mode % UNCHECKED
        engine = self._engine
        table = NO_GROUPS[0] if engine is None else engine.keys
        keys, weights = self._names.resolve(groups, missing, None if action == PEEK else table)
        if engine is None or action == ASK or len(keys) > engine.groups or not self._fixed:
            engine = self._prepared(len(point), len(keys), int(action == ASK))
        given, unit = _ENGINE_BASE if self._own_base else self._given(point, groups)
        if action != PEEK:
            self._fixed = engine.dimensions
        if self._own_base or action == PEEK:
            return engine.serve(mode, point, keys, weights, given, unit, loss, score)
        serve = partial(engine.serve, mode, point, keys, weights, given, unit, loss, score)
        if action == ASK:
            self._keep_inputs(point[None], [groups], [given])
            return serve()
        return self._with_base(serve, point, loss, score, groups)

    def _given(self, point: FloatArray, groups: Groups) -> tuple[float, float]:
        """The base threshold and its unit, NaN where they are the engine's own."""
        return _ENGINE_BASE

    def _with_base(
        self, follow: Callable[[], T], x: Point, loss: float, score: float, groups: Groups
    ) -> T:
        """Let a base that is not the engine's learn, if it does, and then the engine: `follow`.

        The score is NaN if it is unknown.
        """
        return follow()

    def _keep_inputs(
        self, points: FloatArray, groups: Sequence[Groups], given: Sequence[float] | FloatArray
    ) -> None:
        """Keep what a base that is not the engine's will learn from: that of the next tickets."""

    # ---- late losses -------------------------------------------------------------------------

    def tell(self, ticket: Ticket | int, loss: float, score: float | None = None) -> Self:
        """Learn from the loss of a ticket.

        Parameters
        ----------
        ticket : Ticket or int
            What `ask` returned, or its id.
        loss : float
            The loss of the set that its threshold made, in [0, `loss_bound`].
        score : float or None, default None
            The least threshold whose loss is at most `alpha`, as in `update`.
        """
        number = ticket_id(ticket)
        cost, known_score = validation.loss(loss, self._loss_bound), self.checked_score(score)
        self._close(number, lambda engine: engine.tell(number, cost, known_score))
        return self

    def forget(self, ticket: Ticket | int) -> Self:
        """Stop waiting for the loss of a ticket: it counts as a loss of `alpha`.

        Parameters
        ----------
        ticket : Ticket or int
            What `ask` returned, or its id.
        """
        number = ticket_id(ticket)
        self._close(number, lambda engine: engine.forget(number))
        return self

    def _close(self, number: int, close: Callable[[AutoEngine], bool]) -> None:
        with self._exclusive():
            if self._engine is None or not close(self._engine):
                raise not_pending(number)

    @property
    def pending(self) -> tuple[Ticket, ...]:
        """The tickets whose loss is still to come, in the order in which they were issued."""
        engine = self._engine
        if engine is None:
            return ()
        rows = engine.pending_tickets()
        numbers, thresholds = rows[:, layout.NUMBER], rows[:, layout.THRESHOLD]
        return tuple(
            Ticket(int(number), float(threshold))
            for number, threshold in zip(numbers, thresholds, strict=True)
        )

    @property
    def requires_scores(self) -> bool:
        """Whether thresholds would have no unit or no floor if a loss came without its score."""
        has_floor = self.settings.limits[0] is not None or not self.settings.two_sided
        return not self._numbers[layout.SCORES] and (self.settings.unit is None or not has_floor)

    def checked_score(self, value: float | None) -> float:
        """The score, NaN if unknown; raises if thresholds would then have no unit or no floor.

        Parameters
        ----------
        value : float or None
            A score as `update` accepts it.
        """
        found = score(value)
        if found == found or self._numbers[layout.SCORES] > 0.0:
            return found
        settings = self.settings
        if settings.unit is None:
            raise ValueError(
                "without scores, thresholds have no unit. Pass score=..., the least threshold "
                "whose loss is at most alpha, or construct the calibrator with unit=..., a typical "
                "difference between scores. Thresholds then follow losses alone: they adapt more "
                "slowly, and not to where scores lie."
            )
        if settings.two_sided and settings.limits[0] is None:
            raise ValueError(
                "without scores, nothing says how low thresholds may fall. Construct the "
                'calibrator with limits=(floor, None), or with promise="at most".'
            )
        return found

    # ---- what was learned --------------------------------------------------------------------

    @property
    def is_informed(self) -> bool:
        """Whether enough scores are known for a threshold that is not just the full set."""
        return self.engine.is_informed

    def reset(self) -> Self:
        """Forget everything learned."""
        self._start(self.settings)
        return self
