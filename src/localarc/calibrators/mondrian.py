"""Mondrian: one calibrator per group, made when the group is first seen."""

from __future__ import annotations

import dataclasses
import math
from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from functools import partial
from typing import Any, Self, TypeAlias, overload

import numpy as np
from numpy.typing import ArrayLike

from localarc import serialization, validation
from localarc.calibrators import mondrian_state
from localarc.calibrators.arc import ARC
from localarc.calibrators.base import BaseCalibrator, Progress
from localarc.calibrators.checkpoints import checkpoint, rolled_back
from localarc.calibrators.grouped_threshold import GroupedThreshold
from localarc.calibrators.larc import LARC
from localarc.calibrators.mondrian_state import Learned
from localarc.calibrators.role import Calibrator, Point, Points
from localarc.calibrators.step_by_step import replay_curves
from localarc.calibrators.tickets import Ticket, not_pending, ticket_id
from localarc.guarantees import Certificate, Evidence
from localarc.guarantees.bounds import checked_evidence
from localarc.guarantees.certificate import check_against_log, combine_groups, with_unmet
from localarc.memory.base import LossCurves
from localarc.serialization import StateError
from localarc.validation import FloatArray, IntArray

Group = Hashable
Checkpoint: TypeAlias = tuple[dict[Group, Calibrator], dict[Group, Any], Counter[Group]]
"""The calibrators, a checkpoint of each, and how often those that do not count were updated."""


class Mondrian(BaseCalibrator):
    """A calibrator for each group of inputs, for groups that are known in advance.

    Parameters
    ----------
    make_calibrator : callable
        Returns a new calibrator, for instance `lambda: ARC(alpha=0.1)`. Anything with `alpha`,
        `threshold` and `update` will do.
    group_of : callable or None, default None
        The group of an input. Without it, the group is passed with each call as `groups`.

    Examples
    --------
    >>> cal = Mondrian(lambda: ARC(alpha=0.1), group_of=lambda x: bool(x[0] > 0))
    >>> cal.update([1.0], loss=1.0).update([-1.0], loss=0.0)
    Mondrian(ARC(alpha=0.1, rate=InverseSqrt(eta=1.0), rounds=0), groups=2, rounds=2)
    >>> cal.threshold([1.0]), cal.threshold([-1.0])
    (0.9, -0.1)

    References
    ----------
    Vovk, Gammerman and Shafer, *Algorithmic Learning in a Random World*, 2005, section 4.5.
    """

    def __init__(
        self,
        make_calibrator: Callable[[], Calibrator],
        group_of: Callable[[FloatArray], Group] | None = None,
    ) -> None:
        if group_of is not None and not callable(group_of):
            raise TypeError(
                f"group_of must be a function from an input to its group, got {group_of!r:.60}. "
                "Leave it out to pass groups=... with each call."
            )
        self._make = make_calibrator
        self._group_of = group_of
        self._template = self._new_calibrator()  # for groups that were never seen
        self.alpha = self._template.alpha
        self._wanted = frozenset({"score"} & {*getattr(self._template, "learns_from", ())})
        self.learns_from = self._wanted if group_of else self._wanted | {"groups"}
        self.calibrators: dict[Group, Calibrator] = {}
        self._counts_rounds = hasattr(self._template, "rounds")
        self._updates: Counter[Group] = Counter()  # of calibrators that do not count
        self._tickets: dict[int, tuple[Group, int]] = {}  # the group, and the ticket there
        self._issued = 0

    def _new_calibrator(self) -> Calibrator:
        if not callable(self._make):
            raise TypeError(
                f"make_calibrator must be a function that makes one, got {self._make!r}. "
                "For example lambda: ARC(alpha=0.1)."
            )
        made = self._make()
        rounds: Any = getattr(made, "rounds", 0)
        if isinstance(made, type) or not isinstance(made, Calibrator) or rounds:
            raise TypeError(
                f"make_calibrator must return a new calibrator, got {made!r}. "
                "Make one in the function, e.g. lambda: ARC(alpha=0.1)."
            )
        return made

    def group(self, x: Point, given: Group | None = None) -> Group:
        """The group of one input.

        Parameters
        ----------
        x : array of shape (d,)
            The input, for `group_of`.
        given : hashable or None, default None
            The group that was passed, without `group_of`.
        """
        group_of = self._group_of
        if given is None and group_of is None:
            raise ValueError(
                "no group was given. Pass groups=..., or construct Mondrian with group_of."
            )
        if group_of is not None and given is not None and not (type(given) is tuple and not given):
            raise ValueError(
                f"group {given!r} was given, but this Mondrian has a group_of function. "
                "Leave one of them out."
            )
        found: Any = given if group_of is None else group_of(x)  # type: ignore[arg-type]
        found = found.item() if isinstance(found, np.generic) else found
        try:
            usable = found in self.calibrators or found == found  # hashed, and not NaN
        except TypeError:
            usable = False
        if not usable:
            raise ValueError(f"a group must be hashable and equal to itself, got {found!r}.")
        if found not in self.calibrators:
            serialization.group_to_json(found)  # raises now, not when everything is to be saved
        return found  # type: ignore[no-any-return]

    @overload
    def threshold(self, x: Points, groups: Sequence[Group] | None = None) -> FloatArray: ...
    @overload
    def threshold(self, x: Point, groups: Group | None = None) -> float: ...
    def threshold(
        self, x: Point | Points, groups: Group | Sequence[Group] | None = None
    ) -> float | FloatArray:
        """The threshold for one input, or n thresholds for n inputs; changes nothing.

        Parameters
        ----------
        x : array of shape (d,) or (n, d)
            The features of one input, or of n inputs.
        groups : hashable or sequence of n hashables, optional
            The group of the input, or of each input, unless there is a `group_of`.
        """
        if validation.is_single(x):
            part = self.calibrators.get(self.group(x, groups), self._template)  # type: ignore[arg-type]
            return part.threshold(x)  # type: ignore[no-any-return]
        live = GroupedThreshold(self, {}, self._template.threshold, live=True)
        return live(x, groups)  # type: ignore[arg-type]

    def update(
        self, x: Point, loss: float, score: float | None = None, groups: Group | None = None
    ) -> Self:
        """Learn from the loss of one round in its group.

        Parameters
        ----------
        x : array of shape (d,)
            The input of the round.
        loss : float
            The loss of the set that the threshold made.
        score : float or None, default None
            The least threshold whose loss is at most `alpha`, for calibrators that learn from it.
        groups : hashable, optional
            The group of the input, unless there is a `group_of`.
        """
        key = self.group(x, groups)
        part = self.calibrators.get(key) or self._new_calibrator()
        count = self._updates[key] + 1
        learned: list[object] = []
        try:
            # No signal is handled between the return of `update` and the entry in the list.
            learned.extend(map(partial(part.update, **self._more(score)), [x], [loss]))
        finally:
            if learned:
                self.calibrators[key] = part  # a new group is kept once its first update worked
                if not self._counts_rounds:
                    self._updates[key] = count
        return self

    def _more(self, score: float | None) -> dict[str, float | None]:
        """What the calibrators learn from beside a loss."""
        return {"score": score} if self._wanted else {}

    def ask(self, x: Point, groups: Group | None = None) -> Ticket:
        """The threshold for one input, with a ticket for its loss, which may come late.

        Parameters
        ----------
        x : array of shape (d,)
            The input.
        groups : hashable, optional
            The group of the input, unless there is a `group_of`.
        """
        key = self.group(x, groups)
        part: Any = self.calibrators.get(key) or self._new_calibrator()
        if not hasattr(part, "ask"):
            raise TypeError(f"{part!r} issues no tickets. Use threshold and update.")
        number, before = self._issued + 1, _issued(part)
        try:
            ticket = part.ask(x)
            made = Ticket(number, ticket.threshold)
            self._tickets[number] = key, ticket.id
            self._issued, self.calibrators[key] = number, part
        except BaseException:
            inner = _issued(part)
            if inner > before:  # an interrupt came after it was issued
                self._tickets[number] = key, inner
                self._issued, self.calibrators[key] = number, part
            raise
        return made

    def tell(self, ticket: Ticket | int, loss: float, score: float | None = None) -> Self:
        """Learn from the loss of a round that `ask` issued a ticket for, in any order.

        Parameters
        ----------
        ticket : Ticket or int
            What `ask` returned, or its id.
        loss : float
            The loss of the set that the ticket's threshold made.
        score : float or None, default None
            The least threshold whose loss is at most `alpha`, for calibrators that learn from it.
        """
        number, part, inner = self._pending_round(ticket)
        self._close(number, part, inner, lambda: part.tell(inner, loss, **self._more(score)))
        return self

    def forget(self, ticket: Ticket | int) -> Self:
        """Stop waiting for the loss of a round: it will never be known.

        Parameters
        ----------
        ticket : Ticket or int
            What `ask` returned, or its id.
        """
        number, part, inner = self._pending_round(ticket)
        self._close(number, part, inner, lambda: part.forget(inner))
        return self

    @property
    def pending(self) -> tuple[Ticket, ...]:
        """The tickets whose loss is still to come, in the order in which they were issued."""
        parts: dict[Group, Any] = dict(self.calibrators)
        inside = {
            key: {ticket.id: ticket.threshold for ticket in parts[key].pending}
            for key in {key for key, _ in self._tickets.values()}
        }
        tickets = self._tickets.items()
        return tuple(Ticket(number, inside[key][inner]) for number, (key, inner) in tickets)

    @property
    def issued(self) -> int:
        """The number of tickets that were ever issued."""
        return self._issued

    @property
    def pending_count(self) -> int:
        """The number of tickets whose loss is still to come."""
        return len(self._tickets)

    def _close(self, number: int, part: Any, inner: int, close: Callable[[], object]) -> None:
        """Close a ticket in the calibrator of its group, and here."""
        try:
            close()
            del self._tickets[number]
        except BaseException:
            if inner not in {ticket.id for ticket in part.pending}:
                self._tickets.pop(number, None)  # an interrupt came after it was closed
            raise

    def _pending_round(self, ticket: Ticket | int) -> tuple[int, Any, int]:
        """The number of the ticket, the calibrator of its group, and the ticket there."""
        number = ticket_id(ticket)
        if number not in self._tickets:
            raise not_pending(number)
        key, inner = self._tickets[number]
        return number, self.calibrators[key], inner

    def replay_curves(
        self,
        points: FloatArray,
        curves: LossCurves,
        groups: list[Hashable] | None,
        progress: Progress,
    ) -> tuple[FloatArray, FloatArray]:
        """Thresholds and losses of rounds, group by group: groups do not affect each other."""
        keys = self.groups_of(points, groups if self.learns_from else None)
        thresholds, losses = np.empty((2, len(points)))
        with self.unchanged_on_failure():
            for key, rounds in _rounds_by_group(keys).items():
                part = self.calibrators.setdefault(key, self._new_calibrator())
                thresholds[rounds], losses[rounds] = replay_curves(
                    part, points[rounds], curves.take(rounds), None, progress
                )
                if not self._counts_rounds:
                    self._updates[key] += len(rounds)
        return thresholds, losses

    def points_of(self, X: ArrayLike | None, rounds: int) -> FloatArray:
        """The inputs, none of them for parts that need none: the parts check that."""
        return np.empty((rounds, 0)) if X is None else validation.points(X, min_features=0)

    def checkpoint(self) -> Checkpoint:
        """A copy of everything learned, for `rollback`."""
        parts = self.calibrators
        return dict(parts), {key: checkpoint(part) for key, part in parts.items()}, +self._updates

    def rollback(self, checkpoint: Checkpoint) -> None:
        """Forget what was learned since the checkpoint."""
        parts, copies, self._updates = checkpoint
        self.calibrators = {key: rolled_back(part, copies[key]) for key, part in parts.items()}

    def groups_of(self, points: FloatArray, groups: Sequence[Group] | None) -> list[Group]:
        """The group of each of n inputs.

        Parameters
        ----------
        points : array of shape (n, d)
            The inputs, for `group_of`.
        groups : sequence of n hashables or None
            The groups that were passed, without `group_of`.
        """
        if groups is None:
            return [self.group(x) for x in points]
        listed = validation.sequence("groups", groups, "have one entry per input")
        if len(listed) != len(points):
            raise ValueError(
                f"groups must have one entry per input, got {len(listed)} for {len(points)}."
            )
        return [self.group(None, group) for group in listed]

    def reset(self) -> Self:
        """Forget everything learned, and all groups."""
        updates: Counter[Group] = Counter()
        self.calibrators, self._updates, self._tickets, self._issued = {}, updates, {}, 0
        return self

    @property
    def rounds(self) -> int:
        """The number of losses learned from, in all groups."""
        parts = self.calibrators.items()
        return sum(getattr(part, "rounds", self._updates[key]) for key, part in parts)

    @property
    def settings(self) -> Any:
        """The settings of each group's calibrator."""
        return self._of_template("settings")

    @property
    def loss_sum(self) -> float:
        """The sum of the losses learned from, in all groups."""
        return math.fsum(self._of_parts("loss_sum"))

    @property
    def nbytes(self) -> int:
        """The size of what all groups store of places, in bytes."""
        return sum(self._of_parts("nbytes"))

    @property
    def consistent(self) -> bool:
        """Whether the thresholds of every group follow from its losses."""
        return all(self._of_parts("consistent"))

    def problems(self) -> list[str]:
        """What goes wrong in each group without an error, with the number to change."""
        self._of_template("problems")
        parts: dict[Group, Any] = dict(self.calibrators)
        return [f"Group {key}: {text}" for key, part in parts.items() for text in part.problems()]

    def _of_template(self, name: str) -> Any:
        if not hasattr(self._template, name):
            raise TypeError(f"{self._template!r} has no {name}.")
        return getattr(self._template, name)

    def _of_parts(self, name: str) -> list[Any]:
        self._of_template(name)
        return [getattr(part, name) for part in self.calibrators.values()]

    @property
    def warnings(self) -> tuple[str, ...]:
        """What went wrong in each group without an error, with the number to change."""
        parts = self.calibrators.items()
        return tuple(
            f"Group {key}: {text}" for key, part in parts for text in getattr(part, "warnings", ())
        )

    @property
    def loss_bound(self) -> float:
        """The largest loss that a round may have."""
        return float(getattr(self._template, "loss_bound", 1.0))

    @property
    def averaged_threshold_function(self) -> GroupedThreshold:
        """The time-averaged threshold function of each group."""
        return self._functions("averaged_threshold_function")

    @property
    def threshold_function(self) -> GroupedThreshold:
        """The threshold function of each group's next round."""
        return self._functions("threshold_function")

    def _functions(self, name: str) -> GroupedThreshold:
        parts = dict(zip(self.calibrators, self._of_parts(name), strict=True))
        return GroupedThreshold(self, parts, self._of_template(name))

    def certificate(
        self,
        pending: int | None = None,
        evidence: Evidence | None = None,
        input_bound: float | None = None,
        losses: ArrayLike | None = None,
    ) -> Certificate:
        """The certificate over all groups, with each group's own in `groups`.

        Parameters
        ----------
        pending : int or None, default None
            The largest number of losses that were ever pending beside the one learned, in one
            group, where no tickets count them.
        evidence : Evidence or None, default None
            What `replay` found out about the stream: `record.evidence`.
        input_bound : float or None, default None
            The largest norm of an input, for the paper's own bound.
        losses : array of shape (n,) or None, default None
            All losses so far, from a log of your own, to check the calibrators against.
        """
        if not isinstance(self._of_template("certificate")(), Certificate):
            raise TypeError(
                f"certificates like that of {self._template!r} do not add up over groups. Read "
                "those of the groups: calibrators[group].certificate()."
            )
        checked_evidence(evidence)
        reasons = () if evidence is None else evidence.incomplete(self.rounds)
        shared = evidence and dataclasses.replace(evidence, rounds=None)  # it is of all groups
        parts: dict[Group, Any] = dict(self.calibrators)
        groups = {
            key: with_unmet(part.certificate(pending, shared, input_bound), reasons)
            for key, part in parts.items()
        }
        return check_against_log(combine_groups(groups, self.alpha), losses)

    # ---- state -------------------------------------------------------------------------------

    def state(self) -> bytes:
        """All calibrators, for storage."""
        learned = Learned(self.calibrators, self._updates, self._tickets, self._issued)
        return mondrian_state.encode(learned, self._template, self._group_of is None)

    @classmethod
    def from_state(
        cls,
        data: bytes,
        make_calibrator: Callable[[], Calibrator] | None = None,
        group_of: Callable[[FloatArray], Group] | None = None,
    ) -> Self:
        """The calibrators whose `state` this was.

        Parameters
        ----------
        data : bytes
            What `state` returned.
        make_calibrator : callable or None, default None
            What makes the calibrators, where they are not ARC, LARC or Mondrian.
        group_of : callable or None, default None
            The same function as before, if there was one: functions are not stored.
        """
        stored = mondrian_state.decode(data)
        if group_of is None and not stored.uses_groups:
            raise StateError(
                "the state was saved with a group_of function, and functions are not stored. "
                "Pass the same one: Mondrian.load(path, group_of=...)."
            )
        template = stored.part("fresh")
        return cls(make_calibrator or (lambda: _built_in(template)), group_of).restore(data)

    def restore(self, data: bytes) -> Self:
        """Replace what was learned by a state that was saved with the same kind of calibrator.

        Parameters
        ----------
        data : bytes
            What `state` returned.
        """
        learned = mondrian_state.restored(mondrian_state.decode(data), self._new_calibrator)
        self.calibrators, self._updates, self._tickets, self._issued = learned
        return self

    def __repr__(self) -> str:
        return f"Mondrian({self._template!r}, groups={len(self.calibrators)}, rounds={self.rounds})"


def _issued(part: Any) -> int:
    return int(getattr(part, "issued", 0))


def _rounds_by_group(keys: list[Group]) -> dict[Group, IntArray]:
    """The rounds of each group, in order."""
    rounds: dict[Group, list[int]] = {}
    for t, key in enumerate(keys):
        rounds.setdefault(key, []).append(t)
    return {key: np.array(group, dtype=np.int64) for key, group in rounds.items()}


def _built_in(data: bytes) -> Calibrator:
    kind = serialization.decode(data)[0]
    kinds: dict[str, type[ARC | LARC | Mondrian]] = {"LARC": LARC, "ARC": ARC, "Mondrian": Mondrian}
    if kind not in kinds:
        raise StateError(
            f"groups hold calibrators of kind {kind!r}. "
            "Pass what makes them: Mondrian.load(path, make_calibrator=...)."
        )
    return kinds[kind].from_state(data)
