"""Groups: any hashable labels, several per round, with weights; each has a node of its own."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from localarc import serialization, validation
from localarc.calibrators.role import Groups as Groups
from localarc.engine.auto.nodes import GROUP, KEY_BITS, KIND_SHIFT
from localarc.validation import FloatArray, IntArray

Resolved: TypeAlias = tuple[IntArray, FloatArray]
"""The keys of a round's groups, and their weights."""

MOST_COMBINATIONS = 4096  # that are kept resolved
_SIMPLE = frozenset({str, int, tuple})  # types of a single label, by far the most frequent

NO_GROUPS: Resolved = np.empty(0, np.int64), np.empty(0)


@dataclass(frozen=True)
class MissingFeature:
    """The group of rounds in which a feature was missing.

    Parameters
    ----------
    index : int
        The position of the feature, counted from 0.

    Examples
    --------
    >>> print(MissingFeature(1))
    feature 1 is missing
    """

    index: int

    def __str__(self) -> str:
        return f"feature {self.index} is missing"


def weights_of(groups: Groups | None) -> dict[Hashable, float]:
    """The groups of a round, each with its weight in (0, 1]."""
    if groups is None or (type(groups) is tuple and not groups):
        return {}
    if isinstance(groups, Mapping):
        return {_label(name): w for name, value in groups.items() if (w := _weight(name, value))}
    if isinstance(groups, set | frozenset):  # whose order depends on the hash seed
        return dict.fromkeys(sorted(map(_label, groups), key=repr), 1.0)
    if isinstance(groups, list):
        return {_label(name): 1.0 for name in groups}
    return {_label(groups): 1.0}


def _label(name: Any) -> Hashable:
    name = name.item() if isinstance(name, np.generic) else name
    try:
        usable = hash(name) is not None and name == name  # NaN is no label
        if usable and not isinstance(name, MissingFeature):
            serialization.group_to_json(name)
    except (TypeError, serialization.StateError):
        usable = False
    if not usable:
        raise ValueError(
            f"a group must be text, a number or a tuple of them, got {name!r:.60}. Pass several "
            "groups of one round as a list, a set, or {group: weight}."
        )
    return name  # type: ignore[no-any-return]


def _weight(name: Any, value: Any) -> float:
    weight = validation.finite("a group's weight", value, "It says how much a round belongs to it.")
    if not 0.0 <= weight <= 1.0:
        raise ValueError(f"the weight of group {name!r:.60} must lie in [0, 1], got {weight}.")
    return weight


def key_of(label: Hashable) -> int:
    """The key of a group's node; equal labels have equal keys, in every process."""
    text = json.dumps(_canonical(label), sort_keys=True).encode()
    digest = int.from_bytes(hashlib.blake2b(text, digest_size=8).digest(), "little")
    return int(digest & KEY_BITS) | (GROUP + 1) << KIND_SHIFT


def _canonical(label: Hashable) -> Any:
    """A label as JSON, with 1, 1.0 and True alike, as they are for Python."""
    if isinstance(label, tuple):
        return {"tuple": [_canonical(part) for part in label]}
    if isinstance(label, bool | int | float) and label == int(label):
        return int(label)
    return {"missing": label.index} if isinstance(label, MissingFeature) else label


class GroupNames:
    """The groups of the nodes in a table, by label: the table itself only knows their keys.

    Rounds repeat combinations of groups, so those whose labels are known are kept resolved. Labels
    whose nodes the table dropped are forgotten once they may be as many as those that it has.
    """

    def __init__(self, labels: Iterable[Hashable] = ()) -> None:
        self.known: dict[Hashable, int] = {label: key_of(label) for label in labels}
        self._combinations: dict[Hashable, Resolved] = {}
        self._room = _room(len(self.known))

    def copy(self) -> GroupNames:
        """The same names, which then grow on their own."""
        new = GroupNames()
        new.known, new._combinations = self.known.copy(), self._combinations.copy()
        new._room = self._room
        return new

    def resolve(
        self,
        groups: Groups | None,
        missing: tuple[int, ...] = (),
        table: IntArray | None = None,
    ) -> Resolved:
        """Keys and weights of a round's groups, in an order that no hash seed changes.

        With the keys of the table on which the round is about to be played, they are remembered.
        """
        if not missing and (groups is None or (type(groups) is tuple and not groups)):
            return NO_GROUPS
        mark = combination(groups, missing)
        try:
            found = self._combinations.get(mark)
        except TypeError:  # not hashable: `weights_of` says what is wrong, if anything is
            mark = found = None
        if found is None:
            found = self._combined(groups, missing)
            if table is not None:
                self._make_room(table)
                self._remember(groups, missing, mark, found)
        return found

    def _combined(self, groups: Groups | None, missing: tuple[int, ...]) -> Resolved:
        """`resolve` without looking it up."""
        weights = weights_of(groups) | {MissingFeature(i): 1.0 for i in missing}
        pairs = sorted((self._key(label), weight) for label, weight in weights.items())
        return np.array([key for key, _ in pairs], np.int64), np.array([w for _, w in pairs], float)

    def _key(self, label: Hashable) -> int:
        found = self.known.get(label)
        return key_of(label) if found is None else found

    def add(self, rounds: Iterable[tuple[Groups | None, tuple[int, ...]]], table: IntArray) -> None:
        """Remember the groups and missing features of rounds, which are about to be played.

        `table` has the keys of the nodes that there are before them.
        """
        self._make_room(table)
        for groups, missing in rounds:
            mark = combination(groups, missing)
            try:
                known = mark in self._combinations
            except TypeError:
                mark, known = None, False
            if not known:
                self._remember(groups, missing, mark, self._combined(groups, missing))

    def _make_room(self, table: IntArray) -> None:
        """Forget the labels that have no node any more, if there may be many of them."""
        if len(self.known) < self._room:
            return
        self._combinations = {}  # first: what is resolved must be known, should an interrupt come
        self.known = self.present(table)
        self._room = _room(len(self.known))

    def _remember(
        self, groups: Groups | None, missing: tuple[int, ...], mark: Hashable, found: Resolved
    ) -> None:
        for label in (*weights_of(groups), *map(MissingFeature, missing)):
            if label not in self.known:
                self.known[label] = key_of(label)
        if mark is not None:
            if len(self._combinations) >= MOST_COMBINATIONS:
                self._combinations.clear()
            self._combinations[mark] = found

    def present(self, table: IntArray) -> dict[Hashable, int]:
        """The labels whose nodes are in a table with these keys, in order of their text.

        The order in which they were met would not survive storage: rounds that are asked before
        anything is known make no nodes.
        """
        there = np.isin(np.array([*self.known.values()], np.int64), table)
        pairs = zip(self.known.items(), there, strict=True)
        found = [(label, key) for (label, key), is_there in pairs if is_there]
        return dict(sorted(found, key=lambda pair: repr(pair[0])))


def _room(labels: int) -> int:
    """How many labels there may be before those without a node are looked for."""
    return 2 * labels + 1000


def combination(groups: Groups | None, missing: tuple[int, ...]) -> Any:
    """What rounds with the same groups have in common; hashable if labels and weights are."""
    if type(groups) in _SIMPLE:
        return type(groups), groups, missing
    if isinstance(groups, list):
        return list, tuple(groups), missing
    if isinstance(groups, Mapping):
        return dict, tuple(groups.items()), missing
    return type(groups), frozenset(groups) if isinstance(groups, set) else groups, missing


def label_to_json(label: Hashable) -> Any:
    """A label as JSON, for `label_from_json`."""
    if isinstance(label, MissingFeature):
        return {"missing": label.index}
    return serialization.group_to_json(label)


def label_from_json(value: Any) -> Hashable:
    """The label that `label_to_json` turned into JSON."""
    if isinstance(value, dict) and "missing" in value:
        index = validation.integer("missing", value["missing"], 0, "It is the number of a feature.")
        return MissingFeature(index)
    return serialization.group_from_json(value)
