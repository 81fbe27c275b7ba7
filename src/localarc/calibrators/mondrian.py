"""Mondrian: one calibrator per group, made when the group is first seen."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from localarc import serialization, validation
from localarc.calibrators.arc import ARC
from localarc.calibrators.base import Calibrator, Progress
from localarc.calibrators.larc import LARC
from localarc.guarantees import Certificate, Evidence
from localarc.guarantees.certificate import audited, combine, doubted
from localarc.memory import LossCurves
from localarc.validation import FloatArray, IntArray

Group = Hashable


class Mondrian(Calibrator):
    """A calibrator for each group of inputs: exact for groups known in advance.

    Groups come from `group_of(x)`, or are passed with each call.

    >>> cal = Mondrian(lambda: ARC(alpha=0.1), group_of=lambda x: bool(x[0] > 0))
    >>> cal.update([1.0], loss=1.0).update([-1.0], loss=0.0)
    Mondrian(ARC(alpha=0.1, rate=InverseSqrt(eta=1.0), rounds=0), groups=2, rounds=2)
    >>> cal.threshold([1.0]), cal.threshold([-1.0])
    (0.9, -0.1)
    """

    def __init__(
        self,
        make_calibrator: Callable[[], Calibrator],
        group_of: Callable[[Any], Group] | None = None,
    ) -> None:
        self._make = make_calibrator
        self._group_of = group_of
        self._fresh = self._made()  # answers for groups that were never seen
        self.alpha = self._fresh.alpha
        self.calibrators: dict[Group, Calibrator] = {}

    def _made(self) -> Calibrator:
        if not callable(self._make):
            raise TypeError(
                f"make_calibrator must be a function that makes one, got {self._make!r}. "
                "For example lambda: ARC(alpha=0.1)."
            )
        made = self._make()
        if not isinstance(made, Calibrator) or made.rounds:
            raise TypeError(
                f"make_calibrator must return a new calibrator, got {made!r}. "
                "Make one in the function, e.g. lambda: ARC(alpha=0.1)."
            )
        return made

    @property
    def uses_groups(self) -> bool:  # type: ignore[override]
        """Whether the group has to be passed with each call."""
        return self._group_of is None

    def group(self, x: Any, given: Group | None = None) -> Group:
        """The group of one input."""
        group_of = self._group_of
        if given is None and group_of is None:
            raise ValueError(
                "no group was given. Pass group=..., or construct Mondrian with group_of."
            )
        if given is not None and group_of is not None:
            raise ValueError(
                f"group {given!r} was given, but this Mondrian has a group_of function. "
                "Leave one of them out."
            )
        found = given if group_of is None else group_of(x)
        found = found.item() if isinstance(found, np.generic) else found
        try:
            sound = found in self.calibrators or found == found  # hashed, and not NaN
        except TypeError:
            sound = False
        if not sound:
            raise ValueError(f"a group must be hashable and equal to itself, got {found!r}.")
        return found

    def threshold(self, x: Any, group: Any = None) -> Any:
        """The threshold for one input, or n for an (n, d) array (with n groups, if passed)."""
        if validation.is_single(x):
            return self._of(self.group(x, group)).threshold(x)
        return GroupedThreshold(self, {}, self._fresh.threshold, live=True)(x, group)

    def _of(self, group: Group) -> Calibrator:
        return self.calibrators.get(group, self._fresh)

    def update(self, x: Any, loss: float, group: Any = None) -> Self:
        """Learn the loss of one round in its group."""
        self._learn(self.group(x, group), x, loss)
        return self

    def _learn(self, key: Group, x: Any, loss: float) -> None:
        calibrator = self.calibrators.get(key) or self._made()
        calibrator.update(x, loss)
        self.calibrators[key] = calibrator  # a new group is kept once its first update worked

    def follow(
        self,
        points: FloatArray,
        curves: LossCurves,
        groups: list[Hashable] | None,
        progress: Progress,
    ) -> tuple[FloatArray, FloatArray]:
        """Go through rounds group by group: groups do not touch each other, so order is kept."""
        keys = self.groups_of(points, groups if self.uses_groups else None)
        thresholds, losses = np.empty((2, len(points)))
        with self.unchanged_on_failure():
            for key, rounds in _rounds_of(keys).items():
                part = self.calibrators.setdefault(key, self._made())
                thresholds[rounds], losses[rounds] = part.follow(
                    points[rounds], curves.take(rounds), None, progress
                )
        return thresholds, losses

    def snapshot(self) -> Any:
        """A copy of all that was learnt, for `go_back`."""
        return {key: (part, part.snapshot()) for key, part in self.calibrators.items()}

    def go_back(self, snapshot: Any) -> None:
        """Forget what was learnt since the snapshot, and groups that came since."""
        for part, before in snapshot.values():
            part.go_back(before)
        self.calibrators = {key: part for key, (part, _) in snapshot.items()}

    def groups_of(self, points: FloatArray, groups: Sequence[Group] | None) -> list[Group]:
        """The group of each of n inputs."""
        if groups is None:
            return [self.group(x) for x in points]
        if len(groups) != len(points):
            raise ValueError(
                f"groups must hold one group per input, got {len(groups)} for {len(points)}."
            )
        return [self.group(None, group) for group in groups]

    def predict_one(self, x: Any, group: Any = None) -> float:
        """The threshold for one input (river's name for `threshold`)."""
        return float(self.threshold(x, group))

    def learn_one(self, x: Any, loss: float, group: Any = None) -> Self:
        """Learn the loss of one round (river's name for `update`)."""
        return self.update(x, loss, group)

    def partial_fit(
        self, X: ArrayLike, losses: ArrayLike, groups: Sequence[Group] | None = None
    ) -> Self:
        """Learn many losses, in order (scikit-learn's name); all of them or, if bad, none."""
        at, costs = validation.points(X), validation.numbers("losses", losses).reshape(-1)
        keys = self.groups_of(at, groups)
        if len(at) != len(costs):
            raise ValueError(
                f"losses must hold one number per row of X, got {len(costs)} for {len(at)} rows."
            )
        with self.unchanged_on_failure():
            for x, loss, key in zip(at, costs, keys, strict=True):
                self._learn(key, x, loss)
        return self

    def reset(self) -> Self:
        """Forget everything learnt, and all groups."""
        self.calibrators = {}
        return self

    @property
    def rounds(self) -> int:
        """How many losses were learnt, in all groups."""
        return sum(part.rounds for part in self.calibrators.values())

    @property
    def loss_bound(self) -> float:
        """The largest loss that a round may have."""
        return self._fresh.loss_bound

    @property
    def averaged_threshold_function(self) -> GroupedThreshold:
        """The time-averaged threshold function of each group."""
        parts = {key: part.averaged_threshold_function for key, part in self.calibrators.items()}
        return GroupedThreshold(self, parts, self._fresh.averaged_threshold_function)

    @property
    def threshold_function(self) -> GroupedThreshold:
        """The threshold function of each group's next round."""
        parts = {key: part.threshold_function for key, part in self.calibrators.items()}
        return GroupedThreshold(self, parts, self._fresh.threshold_function)

    def certificate(
        self,
        outstanding: int = 0,
        evidence: Evidence | None = None,
        input_bound: float | None = None,
        losses: ArrayLike | None = None,
    ) -> Certificate:
        """The certificate over all groups, with each group's own in `groups`."""
        reasons = () if evidence is None else evidence.too_few(self.rounds)
        shared = evidence and dataclasses.replace(evidence, rounds=None)  # it is of all groups
        groups = {
            key: doubted(part.certificate(outstanding, shared, input_bound), reasons)
            for key, part in self.calibrators.items()
        }
        return audited(combine(groups, self.alpha), losses)

    def state(self) -> bytes:
        """All of the calibrators, to be stored."""
        parts = [part.state() for part in self.calibrators.values()]
        arrays = {str(i): np.frombuffer(part, np.uint8) for i, part in enumerate(parts)}
        content = {
            "groups": [serialization.group_to_json(group) for group in self.calibrators],
            "uses_groups": self.uses_groups,
        }
        arrays["fresh"] = np.frombuffer(self._fresh.state(), np.uint8)
        return serialization.encode("Mondrian", content, arrays)

    @classmethod
    def from_state(
        cls,
        data: bytes,
        make_calibrator: Callable[[], Calibrator] | None = None,
        group_of: Callable[[Any], Group] | None = None,
    ) -> Self:
        """The calibrators whose `state` this was; `group_of`, being a function, comes again."""
        content, arrays = _decoded(data)
        if group_of is None and not content["uses_groups"]:
            raise serialization.StateError(
                "the state was saved with a group_of function, and functions are not stored. "
                "Pass the same one: Mondrian.load(path, group_of=...)."
            )
        fresh = arrays["fresh"].tobytes()
        return cls(make_calibrator or (lambda: _any_calibrator(fresh)), group_of).restore(data)

    def restore(self, data: bytes) -> Self:
        """Take over a state that was saved with the same kind of calibrator."""
        content, arrays = _decoded(data)
        self._made().restore(arrays["fresh"].tobytes())  # raises unless it has the same settings
        parts = {
            serialization.group_from_json(key): self._made().restore(arrays[str(i)].tobytes())
            for i, key in enumerate(content["groups"])
        }
        self.calibrators = parts
        return self

    def __repr__(self) -> str:
        return f"Mondrian({self._fresh!r}, groups={len(self.calibrators)}, rounds={self.rounds})"


@dataclass(frozen=True)
class GroupedThreshold:
    """A threshold function for each group, and one for groups that were never seen."""

    owner: Mondrian
    parts: Mapping[Group, Callable[[Any], Any]]
    unseen: Callable[[Any], Any]
    live: bool = False

    def __call__(self, x: Any, groups: Any = None) -> Any:
        """The threshold for one input and its group, or n thresholds for n of them."""
        if validation.is_single(x):
            return self._part(self.owner.group(x, groups))(x)
        at = np.asarray(x)
        keys = self.owner.groups_of(at, groups)
        return np.array([self._part(key)(row) for key, row in zip(keys, at, strict=True)])

    def _part(self, group: Group) -> Callable[[Any], Any]:
        if self.live and group in self.owner.calibrators:
            return self.owner.calibrators[group].threshold
        return self.parts.get(group, self.unseen)


def _rounds_of(keys: list[Group]) -> dict[Group, IntArray]:
    """The rounds of each group, in order."""
    rounds: dict[Group, list[int]] = {}
    for t, key in enumerate(keys):
        rounds.setdefault(key, []).append(t)
    return {key: np.array(group, dtype=np.int64) for key, group in rounds.items()}


def _decoded(data: bytes) -> tuple[dict[str, Any], Mapping[str, Any]]:
    kind, content, arrays = serialization.decode(data)
    if kind != "Mondrian":
        raise serialization.StateError(
            f"the state is of kind {kind}, not Mondrian. Use {kind}.load."
        )
    return content, arrays


def _any_calibrator(data: bytes) -> Calibrator:
    kind = serialization.decode(data)[0]
    kinds: dict[str, type[Calibrator]] = {"LARC": LARC, "ARC": ARC, "Mondrian": Mondrian}
    if kind not in kinds:
        raise serialization.StateError(
            f"groups hold calibrators of kind {kind!r}. "
            "Hand in what makes them: Mondrian.load(path, make_calibrator=...)."
        )
    return kinds[kind].from_state(data)
