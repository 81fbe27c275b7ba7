"""LabelSets: sets of labels that cover every class, each with a threshold of its own."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any, Self

import numpy as np

from localarc.calibrators.auto import label_state
from localarc.calibrators.auto.candidates import (
    Candidates,
    LabelTicket,
    Scores,
    checked_label,
    checked_labels,
    checked_scores,
)
from localarc.calibrators.auto.groups import GroupNames, Groups, Resolved, weights_of
from localarc.calibrators.auto.inputs import features
from localarc.calibrators.auto.label_base import LabelBase
from localarc.calibrators.auto.promise import Promised
from localarc.calibrators.auto.round_input import RoundInput
from localarc.calibrators.auto.settings import BYTES, MOST_PENDING, checked_settings
from localarc.calibrators.role import Point
from localarc.calibrators.storable import Storable
from localarc.calibrators.tickets import not_pending, ticket_id
from localarc.engine.auto import label_rounds, layout
from localarc.engine.auto.engine import AutoEngine
from localarc.engine.auto.loops import ASK, PEEK
from localarc.validation import FloatArray


class LabelSets(Promised, Storable):
    """Prediction sets for classification whose coverage holds for each true class, online.

    The set of a round is `{y : score(x, y) <= g(x, y)}`. A label's threshold is the conformal
    quantile of the last 500 scores that it had when it was true, or of those since a sudden change,
    an offset that follows its losses, and bets. Bettors sit on everyone, on each label, on each
    label in each group and, if features are passed, on places.
    Only the true label's own threshold is charged, with 1 if its score is above, so that about
    `alpha` of the rounds of every class are missed, for any data: theorem E.

    While a label has fewer than about 1/alpha scores, there is no such quantile, and its base is
    the largest recent score of any true label: nothing is known that could exclude it. While all
    labels together have so few, no label is excluded.

    Parameters
    ----------
    alpha : float
        The target: the share of each class's rounds whose set may miss the label, in (0, 1).
    labels : sequence of labels or None, default None
        The order of the scores in an array. None requires `{label: score}`; labels are then added
        when they first appear.
    limits : (float or None, float or None), default (None, None)
        Thresholds that are never crossed, below and above, in the units of the score.
    promise : "both" or "at most", default "both"
        Whether each class is kept near `alpha` from both sides, or only from above.
    initial_threshold : float or None, default None
        The threshold before the first label, in the units of the score. None: infinite, until about
        1/alpha labels are known. Such rounds are counted apart, see `certificate().uninformed`.
    max_bytes : int, default 9000000
        Bounds the table of nodes. A full table adds no labels until it can drop idle ones.
    max_pending : int, default 1000000
        The most tickets that may be pending. `ask` then fails until `tell` or `forget` frees one.

    Notes
    -----
    Lower scores are more plausible: `1 - probability`, or the cumulative probability of APS.

    Examples
    --------
    >>> cal = LabelSets(alpha=0.1, labels=["cat", "dog"])
    >>> for _ in range(20):
    ...     _ = cal.update(None, [0.1, 0.9], "cat").update(None, [0.7, 0.3], "dog")
    >>> cal.predict(None, [0.05, 0.95])
    ('cat',)
    >>> cal.certificate().groups["dog"].rounds  # of the first nine rounds, all sets were full
    16.0

    References
    ----------
    Vovk, *Conditional validity of inductive conformal predictors*, ACML 2012 (one quantile per
    label). Romano, Sesia and Candes, *Classification with valid and adaptive coverage*, NeurIPS
    2020 (APS scores). Orabona and Pal, *Coin betting and parameter-free online learning*, NeurIPS
    2016.
    """

    _own_base = False

    def __init__(
        self,
        alpha: float,
        labels: Sequence[Hashable] | None = None,
        *,
        limits: tuple[float | None, float | None] = (None, None),
        promise: str = "both",
        initial_threshold: float | None = None,
        max_bytes: int = BYTES,
        max_pending: int = MOST_PENDING,
    ) -> None:
        self.settings = checked_settings(
            alpha=alpha,
            limits=limits,
            promise=promise,
            evenness=1.0,
            loss_bound=1.0,
            unit=None,
            initial_threshold=initial_threshold,
            max_bytes=max_bytes,
            max_pending=max_pending,
        )
        self.labels = checked_labels(labels)
        self.reset()

    def reset(self) -> Self:
        """Forget everything learned, and all pending tickets."""
        names, base = GroupNames(), LabelBase(self.alpha, self.settings.start)
        self._engine = None
        self._names, self._base = names, base
        self._pending: dict[int, Candidates] = {}
        return self

    def restart_units(self) -> Self:
        """Relearn where scores lie, as after a change of the model; the promise continues.

        Nothing may be pending: tell or forget tickets first.
        """
        if self._waiting():
            raise RuntimeError(
                f"{len(self._waiting())} tickets are pending, in the units of earlier scores. Tell "
                "their labels, or forget them, first."
            )
        with self._exclusive():
            engine = None if self._engine is None else self._engine.copy()
            if engine is not None:
                engine.restart_units()
            base = LabelBase(self.alpha, self.settings.start)
            self._engine, self._base = engine, base
        return self

    # ---- sets --------------------------------------------------------------------------------

    def thresholds(
        self, x: Point = None, groups: Groups = (), labels: Sequence[Hashable] | None = None
    ) -> dict[Hashable, float]:
        """The threshold of each label; changes nothing.

        Parameters
        ----------
        x : array of shape (d,) or None, default None
            The features of the input; None if places do not matter.
        groups : hashable, list, set or mapping, default ()
            The groups of the input.
        labels : sequence of labels or None, default None
            The candidates; by default those of the constructor, or all that were true so far.
        """
        names = checked_labels(labels) or self.labels or tuple(self._base.labels)
        with self._exclusive():
            where = self._where(x, groups)
            found = {name: self._decide(name, where) for name in names}
        return {name: float(decision[layout.THRESHOLD]) for name, decision in found.items()}

    def predict(self, x: Point, scores: Scores, groups: Groups = ()) -> tuple[Hashable, ...]:
        """The prediction set: the labels whose score is at most their threshold; changes nothing.

        Parameters
        ----------
        x : array of shape (d,) or None
            The features of the input; None if places do not matter.
        scores : mapping or array of shape (labels,)
            The score of each candidate label: `{label: score}`, or in the order of `labels`.
        groups : hashable, list, set or mapping, default ()
            The groups of the input.
        """
        with self._exclusive():
            return self._candidates(self._where(x, groups), scores).ticket(0).labels

    def update(self, x: Point, scores: Scores, label: Hashable, groups: Groups = ()) -> Self:
        """Learn from the true label of a round, at once.

        Parameters
        ----------
        x : array of shape (d,) or None
            The features of the input; None if places do not matter.
        scores : mapping or array of shape (labels,)
            The score of each candidate label.
        label : hashable
            The true label, one of the candidates.
        groups : hashable, list, set or mapping, default ()
            The groups of the input.
        """
        by_label, name = checked_scores(scores, self.labels), checked_label(label)
        score = by_label[_candidate(name, tuple(by_label))]
        with self._exclusive():
            where = self._where(x, groups)
            keys, weights = self._resolve(name, where)
            engine = self._prepared(len(where.point), len(keys), tickets=0)
            self._names.add([(where.nodes(name), where.missing)], engine.keys)
            self._base.add([name])
            rows, true, given = self._base.rows_of([name]), np.zeros(1, np.int64), [[score]]
            nodes = keys[None, None], weights[None, None]
            told = self._base.tables, rows, true, np.array(given), np.empty((1, 1))
            label_rounds.step(engine._table, where.point[None], *nodes, *told)
        return self

    # ---- late labels -------------------------------------------------------------------------

    def ask(self, x: Point, scores: Scores, groups: Groups = ()) -> LabelTicket:
        """Thresholds and set of a round whose label arrives later, in any order.

        Parameters
        ----------
        x : array of shape (d,) or None
            The features of the input; None if places do not matter.
        scores : mapping or array of shape (labels,)
            The score of each candidate label.
        groups : hashable, list, set or mapping, default ()
            The groups of the input.
        """
        with self._exclusive():
            where = self._where(x, groups)
            made = self._candidates(where, scores)
            weights: dict[Hashable, float] = {}
            for name in made.labels:
                weights |= where.nodes(name)
            keys, shares = self._names.resolve(weights, where.missing)
            engine = self._prepared(len(where.point), len(keys), tickets=1)
            self._names.add([(weights, where.missing)], engine.keys)
            number = int(engine.numbers[layout.ISSUED]) + 1
            self._pending[number] = made
            base = np.inf if made.is_uninformed else 0.0
            engine.serve(ASK, where.point, keys, shares, base, 1.0, 0.0, 0.0)
        return made.ticket(number)

    def tell(self, ticket: LabelTicket | int, label: Hashable) -> Self:
        """Learn the true label of a ticket: its own nodes learn, those of the others do not.

        Parameters
        ----------
        ticket : LabelTicket or int
            What `ask` returned, or its id.
        label : hashable
            The true label, one of the ticket's candidates.
        """
        number, name = _number(ticket), checked_label(label)
        with self._exclusive():
            made = self._asked(number)
            at = made.labels.index(_candidate(name, made.labels))
            keys, decision, score = made.keys[at], made.decisions[at], made.scores[at]
            self._tell([number], [keys], [decision], [score], [name])
        return self

    def forget(self, ticket: LabelTicket | int) -> Self:
        """Stop waiting for the label of a ticket: it will never be known.

        Parameters
        ----------
        ticket : LabelTicket or int
            What `ask` returned, or its id.
        """
        number = _number(ticket)
        with self._exclusive():
            self._asked(number)
            engine: Any = self._engine
            engine.forget(number)
            del self._pending[number]
        return self

    @property
    def pending(self) -> tuple[LabelTicket, ...]:
        """The tickets whose label is still to come, in the order in which they were issued."""
        return tuple(made.ticket(number) for number, made in self._waiting().items())

    def _waiting(self) -> dict[int, Candidates]:
        """The pending rounds; an interrupted call may have left one that the engine closed."""
        if self._engine is None:
            return {}
        numbers = self._engine.pending_tickets()[:, layout.NUMBER]
        return {int(number): self._pending[int(number)] for number in numbers}

    def _asked(self, number: int) -> Candidates:
        if number not in self._pending:
            raise not_pending(number)
        return self._pending[number]

    # ---- one round ---------------------------------------------------------------------------

    def _where(self, x: Point, groups: Groups) -> RoundInput:
        point, missing = features(x, self.dimension)
        return RoundInput(point, weights_of(groups), missing)

    def _candidates(self, where: RoundInput, scores: Scores) -> Candidates:
        """What `ask` would issue; changes nothing."""
        by_label = checked_scores(scores, self.labels)
        decisions = [self._decide(name, where) for name in by_label]
        keys = [self._resolve(name, where)[0] for name in by_label]
        values = np.array([*by_label.values()])
        return Candidates(tuple(by_label), values, np.array(keys), np.array(decisions))

    def _decide(self, name: Hashable, where: RoundInput) -> FloatArray:
        """The threshold of a label and what it is made of; columns as in the engine's tickets."""
        self._serve(PEEK, name, where, 0.0, 0.0)
        engine: Any = self._engine
        return engine.last_decision  # type: ignore[no-any-return]

    def _serve(
        self, mode: int, name: Hashable, where: RoundInput, loss: float, score: float
    ) -> None:
        keys, weights = self._resolve(name, where)
        engine = self._prepared(len(where.point), len(keys), tickets=0)
        (base,), (unit,) = self._base.thresholds([name])
        engine.serve(mode, where.point, keys, weights, base, unit, loss, score)

    def _resolve(self, name: Hashable, where: RoundInput) -> Resolved:
        nodes = name if where.is_plain else where.nodes(name)
        return self._names.resolve(nodes, where.missing)

    def _tell(
        self, numbers: Any, keys: Any, decisions: Any, scores: Any, labels: Sequence[Hashable]
    ) -> None:
        """The true labels of tickets, in one compiled call that no interrupt divides."""
        self._base.add(labels)
        engine: Any = self._engine
        rows, tables = self._base.rows_of(labels), self._base.tables
        told = np.array(numbers, np.int64), np.array(keys, np.int64), np.array(decisions)
        missing = label_rounds.tell(engine._table, *told, tables, rows, np.array(scores))
        if missing >= 0:
            raise not_pending(numbers[missing])
        for number in numbers:
            del self._pending[number]

    # ---- what was learned --------------------------------------------------------------------

    @property
    def alpha(self) -> float:
        """The target."""
        return self.settings.alpha

    def _nodes(self, engine: AutoEngine) -> dict[Hashable, FloatArray]:
        """The node of each label that was true, and of each such label in each group."""
        nodes = super()._nodes(engine).items()
        return {name: node for name, node in nodes if node[layout.VISITS] > 0.0}

    # ---- state -------------------------------------------------------------------------------

    def state(self) -> bytes:
        """Everything, with pending tickets, for storage."""
        return label_state.encode(self)

    @classmethod
    def from_state(cls, data: bytes) -> Self:
        """The calibrator whose `state` this was, with its pending tickets.

        Parameters
        ----------
        data : bytes
            What `state` returned.
        """
        new = cls.__new__(cls)
        label_state.decode_into(new, data)
        return new

    def restore(self, data: bytes) -> Self:
        """Replace what was learned by a state that was saved with the same settings.

        Parameters
        ----------
        data : bytes
            What `state` returned.
        """
        found = type(self).from_state(data)
        label_state.check_same(self, found)
        self.settings = found.settings
        self._engine, self._names = found._engine, found._names
        self._base, self._pending = found._base, found._pending
        return self

    def __repr__(self) -> str:
        return f"LabelSets({self.settings.describe()}, rounds={self.rounds})"


def _number(ticket: LabelTicket | int) -> int:
    return ticket.id if isinstance(ticket, LabelTicket) else ticket_id(ticket)


def _candidate(name: Hashable, candidates: tuple[Hashable, ...]) -> Hashable:
    """The label, if it is one of the candidates."""
    if name not in candidates:
        raise ValueError(
            f"label {name!r:.60} has no score, candidates are {candidates!r:.200}. Pass a score "
            "for every label that may be true, infinity for one that the model does not know."
        )
    return name
