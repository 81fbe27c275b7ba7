"""What AutoLARC and Safeguard share: an engine, tickets, groups, and a state."""

from __future__ import annotations

import contextlib
import copy
import math
from abc import abstractmethod
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from typing import Any, Self, overload

import numpy as np
from numpy.typing import ArrayLike

from localarc import validation
from localarc.calibrators.auto import state as stored
from localarc.calibrators.auto.groups import GroupNames, Groups, Resolved
from localarc.calibrators.auto.inputs import features, many_features, score
from localarc.calibrators.auto.settings import AutoSettings
from localarc.calibrators.base import BaseCalibrator, Point, Points, Progress
from localarc.calibrators.tickets import Ticket, not_pending, ticket_id
from localarc.engine.auto import layout
from localarc.engine.auto.engine import AutoEngine
from localarc.engine.auto.loops import ASK, PEEK, STEP, UNCHECKED
from localarc.engine.auto.places import Hat, hats_at
from localarc.guarantees import Evidence, theorem_e
from localarc.guarantees.theorem_e import AutoCertificate, Place
from localarc.memory.base import LossCurves
from localarc.validation import FloatArray, IntArray

_ROUNDS_AT_ONCE = 8192  # between two reports of progress
_NAN = math.nan
_ARRAY, _FLOAT64 = np.ndarray, np.dtype(np.float64)
_OWN = _NAN, _NAN  # the engine's own base, and its own unit


class GuardedCalibrator(BaseCalibrator):
    """A base threshold with bettors around it: the role of AutoLARC and of Safeguard."""

    learns_from = frozenset({"groups", "score"})
    settings: AutoSettings
    _own_base = True

    def _start(self, settings: AutoSettings) -> None:
        """Begin, or begin again, before the first round."""
        self.settings = settings
        self.alpha = settings.alpha
        self._loss_bound = settings.loss_bound
        self._engine: AutoEngine | None = None
        self._names = GroupNames()
        self._fixed: int | None = None  # the number of features, once a threshold went out
        self._busy = False

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
        if validation.is_single(x):
            return self._serve(PEEK, x, groups, 0.0, 0.0)  # type: ignore[arg-type]
        rows = many_features(x, self._fixed)
        each = validation.per_round("groups", groups, len(rows)) if _any(groups) else None
        thresholds = [
            self._serve(PEEK, row, () if each is None else each[t], 0.0, 0.0)
            for t, row in enumerate(rows)
        ]
        return np.array(thresholds)

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
        self._serve(STEP, x, groups, loss, self._checked_score(score))
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
            The threshold, and a number to hand back with its loss.
        """
        threshold = self._serve(ASK, x, groups, 0.0, 0.0)
        return Ticket(int(self._numbers[layout.ISSUED]), threshold)

    def _serve(self, mode: int, x: Point, groups: Groups, loss: float, told: float) -> float:
        """One compiled call; everything that can raise comes before it."""
        if self._busy:
            raise in_use()
        self._busy = True
        try:
            quick = self._own_base  # other bases learn before the call, so x is checked first
            if quick and type(x) is _ARRAY and x.dtype is _FLOAT64 and x.shape == (self._fixed,):
                threshold = self._call(mode + UNCHECKED, x, groups, (), loss, told)
                if threshold == threshold:
                    return threshold
            point, missing = features(x, self._fixed)
            return self._call(mode, point, groups, missing, loss, told)
        finally:
            self._busy = False

    def _call(
        self,
        mode: int,
        point: FloatArray,
        groups: Groups,
        missing: tuple[int, ...],
        loss: float,
        told: float,
    ) -> float:
        keys, weights = self._names.resolve(groups, missing)
        engine = self._engine
        action = mode % UNCHECKED
        if engine is None or action == ASK or len(keys) > engine.groups or not self._fixed:
            engine = self._prepared(len(point), len(keys), action == ASK)
        given, unit = _OWN if self._own_base else self._given(point, groups)
        if action != PEEK:
            if len(keys):
                self._names.add(groups, missing)
            self._fixed = engine.dimensions
            if action == STEP and not self._own_base:
                self._teach(point, loss, told, groups)
        return engine.serve(mode, point, keys, weights, given, unit, loss, told)

    def _prepared(self, dimensions: int, groups: int, ticket: bool) -> AutoEngine:
        """The engine, with room for the next round."""
        engine = self._engine
        if engine is None or engine.dimensions != dimensions:
            engine = self._engine = AutoEngine(self.settings.rules(self._own_base), dimensions)
        if ticket or groups > engine.groups:
            engine.reserve(groups, 1)
        return engine

    def _given(self, point: FloatArray, groups: Groups) -> tuple[float, float]:
        """The base threshold and its unit, NaN where they are the engine's own."""
        return _OWN

    def _teach(self, x: Point, loss: float, told: float, groups: Groups) -> None:
        """Let a base of somebody else's learn; the score is NaN if it is unknown."""

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
        cost, told = validation.loss(loss, self._loss_bound), self._checked_score(score)
        self._close(number, lambda engine: engine.tell(number, cost, told))
        return self

    def forget(self, ticket: Ticket | int) -> Self:
        """Give up waiting for the loss of a ticket: it counts as a loss of `alpha`.

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

    @contextlib.contextmanager
    def _exclusive(self) -> Iterator[None]:
        """Raise if another thread is inside."""
        if self._busy:
            raise in_use()
        self._busy = True
        try:
            yield
        finally:
            self._busy = False

    def _checked_score(self, value: Any) -> float:
        """The score, NaN if unknown; raises if thresholds would then have no unit or no floor."""
        told = score(value)
        if told == told or self._numbers[layout.SCORES] > 0.0:
            return told
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
        return told

    # ---- many rounds -------------------------------------------------------------------------

    def replay_curves(
        self,
        points: FloatArray,
        curves: LossCurves,
        groups: list[Hashable] | None,
        progress: Progress,
    ) -> tuple[FloatArray, FloatArray]:
        """Thresholds and losses of rounds whose curves are known, as if step by step."""
        points = many_features(points, self._fixed)
        thresholds, losses = np.empty((2, len(points)))
        with self._exclusive(), self._unchanged_on_failure():
            for start in range(0, len(points), _ROUNDS_AT_ONCE):
                part = slice(start, start + _ROUNDS_AT_ONCE)
                rows, labels = points[part], None if groups is None else groups[part]
                thresholds[part], losses[part] = self._play(rows, labels, curves.take(part))
                progress(len(rows))
        return thresholds, losses

    def _points_of(self, X: ArrayLike | None, rounds: int) -> FloatArray:
        """The inputs; None stands for rounds without features."""
        return many_features(np.empty((rounds, 0)) if X is None else X, self._dimension)

    @property
    def _dimension(self) -> int | None:
        """The number of features, once a threshold was returned."""
        return self._fixed

    def _play(
        self, points: FloatArray, groups: Sequence[Groups] | None, curves: LossCurves
    ) -> tuple[FloatArray, FloatArray]:
        keys, weights = self._resolve_many(points, groups)
        engine = self._prepared(points.shape[1], keys.shape[1], False)
        self._fixed = points.shape[1]
        offsets = np.require(curves.offsets, np.int64, ["C", "W"])
        steps = (_writable(curves.breakpoints), _writable(curves.losses), offsets)
        return engine.replay(points, keys, weights, np.full(len(points), _NAN), steps)

    def _resolve_many(
        self, points: FloatArray, groups: Sequence[Groups] | None
    ) -> tuple[IntArray, FloatArray]:
        """(n, g) keys and weights of the groups, 0 where a round has fewer."""
        gaps = np.isnan(points)
        if groups is None and not gaps.any():
            return np.zeros((len(points), 0), np.int64), np.zeros((len(points), 0))
        found: list[Resolved] = []
        some = bool(gaps.any())
        for t in range(len(points)):
            labels = () if groups is None else groups[t]
            missing = tuple(np.flatnonzero(gaps[t]).tolist()) if some else ()
            self._names.add(labels, missing)
            found.append(self._names.resolve(labels, missing))
        width = max((len(keys) for keys, _ in found), default=0)
        all_keys, all_weights = (
            np.zeros((len(found), width), np.int64),
            np.zeros((len(found), width)),
        )
        for t, (keys, weights) in enumerate(found):
            all_keys[t, : len(keys)], all_weights[t, : len(keys)] = keys, weights
        return all_keys, all_weights

    def partial_fit(
        self,
        X: ArrayLike,
        losses: ArrayLike,
        scores: ArrayLike | None = None,
        groups: Sequence[Groups] | None = None,
    ) -> Self:
        """Learn from many losses, in order; from all of them or, if one is invalid, from none.

        Parameters
        ----------
        X : array of shape (n, d)
            The inputs, in chronological order.
        losses : array of shape (n,)
            The loss of each round.
        scores : array of shape (n,), optional
            The score of each round, as in `update`.
        groups : sequence of n groups, optional
            The groups of each round.
        """
        rows = many_features(X, self._fixed)
        costs = validation.per_round("losses", losses, len(rows))
        told = [None] * len(rows)
        if scores is not None:
            told = validation.per_round("scores", scores, len(rows))
        each = [()] * len(rows)
        if groups is not None:
            each = validation.per_round("groups", groups, len(rows))
        with self._unchanged_on_failure():
            for t, row in enumerate(rows):
                try:
                    self.update(row, costs[t], told[t], each[t])
                except (TypeError, ValueError) as error:
                    error.add_note(f"in row {t}, counted from 0; nothing was learned.")
                    raise
        return self

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

    # ---- what was learned --------------------------------------------------------------------

    @property
    def _numbers(self) -> Any:
        return _NOTHING if self._engine is None else self._engine.numbers

    @property
    def rounds(self) -> int:
        """The number of losses learned from."""
        return int(self._numbers[layout.ROUNDS])

    @property
    def risk(self) -> float:
        """The mean loss so far, NaN before the first."""
        rounds = self.rounds
        return float(self._numbers[layout.LOSS_SUM]) / rounds if rounds else _NAN

    @property
    def loss_bound(self) -> float:
        """The largest loss that a round may have."""
        return self.settings.loss_bound

    @property
    def nbytes(self) -> int:
        """The size of the tables, in bytes."""
        return 0 if self._engine is None else self._engine.nbytes

    def reset(self) -> Self:
        """Forget everything learned."""
        self._start(self.settings)
        return self

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
        ledger = self._ledger(engine, evidence)
        labels = self._names.present(engine.keys)
        groups = {label: engine.node(key) for label, key in labels.items()}
        made: AutoCertificate = theorem_e.certify(ledger, engine.node(), groups)
        return theorem_e.check_against_log(made, losses)

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

    def _ledger(self, engine: AutoEngine, evidence: Evidence | None) -> theorem_e.Ledger:
        stated = None
        if evidence is not None and evidence.score_range and evidence.rounds is None:
            stated = evidence.score_range[1]  # what a replay observed, the sums know better
        return theorem_e.Ledger(engine.numbers.copy(), engine.columns, stated)

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
        self._continue(found.engine, GroupNames(found.labels))
        return self

    @abstractmethod
    def _base_state(self) -> bytes | None:
        """The state of what the base is made of, if anything."""

    @abstractmethod
    def _restore_base(self, data: bytes | None) -> None:
        """Continue from `_base_state`."""

    def _checkpoint(self) -> Any:
        engine = None if self._engine is None else self._engine.copy()
        return engine, GroupNames(self._names.known)

    def _rollback(self, checkpoint: Any) -> None:
        self._continue(*checkpoint)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.settings.describe()}, rounds={self.rounds})"


_NOTHING = np.zeros(layout.FIRST)


def in_use() -> RuntimeError:
    """The error for a call while another thread is inside."""
    return RuntimeError(
        "the calibrator is in use by another thread. Use one calibrator per thread, or a lock."
    )


def _any(groups: Any) -> bool:
    return groups is not None and not (type(groups) is tuple and not groups)


def _writable(array: FloatArray) -> FloatArray:
    return np.require(array, np.float64, ["C", "W"])
