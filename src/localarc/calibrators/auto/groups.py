"""Groups: any hashable labels, several per round, with weights; each has a node of its own."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Hashable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from localarc import serialization, validation
from localarc.engine.auto.hats import GROUP, KEY_BITS, KIND_SHIFT
from localarc.validation import FloatArray, IntArray

Groups: TypeAlias = Hashable | Sequence[Hashable] | Set[Hashable] | Mapping[Any, float]
"""The groups of one round: one label; a list or set of labels; or {label: weight}."""

Resolved: TypeAlias = tuple[IntArray, FloatArray]
"""The keys of a round's groups, and their weights."""

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
    if isinstance(groups, list | set | frozenset):
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
    """The groups seen so far, by label. The table of nodes only knows their keys."""

    def __init__(self, labels: Iterable[Hashable] = ()) -> None:
        self.known: dict[Hashable, Resolved] = {label: _resolved({label: 1.0}) for label in labels}

    def resolve(self, groups: Groups | None, missing: tuple[int, ...] = ()) -> Resolved:
        """Keys and weights of a round's groups, in an order that no hash seed changes."""
        if not missing:
            if groups is None or (type(groups) is tuple and not groups):
                return NO_GROUPS
            if type(groups) in (str, int, tuple) and groups in self.known:
                return self.known[groups]
        weights = weights_of(groups) | {MissingFeature(i): 1.0 for i in missing}
        return _resolved(weights)

    def add(self, groups: Groups | None, missing: tuple[int, ...] = ()) -> None:
        """Remember the labels of a round."""
        if not missing and type(groups) in (str, int, tuple) and groups in self.known:
            return
        for label in (*weights_of(groups), *map(MissingFeature, missing)):
            if label not in self.known:
                self.known[label] = _resolved({label: 1.0})

    def present(self, keys: IntArray) -> dict[Hashable, int]:
        """The labels whose nodes are in a table with these keys."""
        found = {label: int(pair[0][0]) for label, pair in self.known.items()}
        there = np.isin(np.array([*found.values()], np.int64), keys)
        return {
            label: key
            for (label, key), is_there in zip(found.items(), there, strict=True)
            if is_there
        }


def _resolved(weights: dict[Hashable, float]) -> Resolved:
    pairs = sorted((key_of(label), weight) for label, weight in weights.items())
    return np.array([key for key, _ in pairs], np.int64), np.array([w for _, w in pairs], float)


def label_to_json(label: Hashable) -> Any:
    """A label as JSON, for `label_from_json`."""
    if isinstance(label, MissingFeature):
        return {"missing": label.index}
    return serialization.group_to_json(label)


def label_from_json(value: Any) -> Hashable:
    """The label that `label_to_json` turned into JSON."""
    if isinstance(value, dict) and "missing" in value:
        return MissingFeature(value["missing"])
    return serialization.group_from_json(value)
