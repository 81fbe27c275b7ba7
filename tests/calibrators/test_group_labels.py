"""Groups of a round: labels and weights, and the keys of their nodes."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

from localarc import AutoLARC
from localarc.calibrators.auto.groups import (
    MOST_COMBINATIONS,
    GroupNames,
    MissingFeature,
    key_of,
    label_from_json,
    label_to_json,
    weights_of,
)

NO_NODES = np.zeros(0, np.int64)
LABELS: list[Any] = [
    "a",
    "b",
    "1",
    1,
    2,
    2.5,
    -1,
    ("a", 1),
    ("a", ("b",)),
    ("a",),
    MissingFeature(1),
]


def resolved(names: GroupNames, groups: Any, missing: tuple[int, ...] = ()) -> dict[int, float]:
    keys, weights = names.resolve(groups, missing)
    assert keys.tolist() == sorted(keys.tolist())
    return dict(zip(keys.tolist(), weights.tolist(), strict=True))


def expected(weights: dict[Any, float]) -> dict[int, float]:
    return {key_of(label): weight for label, weight in weights.items()}


@pytest.mark.parametrize(
    ("groups", "weights"),
    [
        (None, {}),
        ((), {}),
        ("a", {"a": 1.0}),
        (("a", 1), {("a", 1): 1.0}),
        (["a", "b", "a"], {"a": 1.0, "b": 1.0}),
        ({"a", 3}, {"a": 1.0, 3: 1.0}),
        (frozenset({"b"}), {"b": 1.0}),
        ({"a": 0.25, "b": 1, "c": 0.0}, {"a": 0.25, "b": 1.0}),
        (np.int64(3), {3: 1.0}),
        ([np.str_("a")], {"a": 1.0}),
        ({"a": 1.0, "b": 1e-3}, {"a": 1.0, "b": 1e-3}),
    ],
)
def test_groups_are_labels_with_weights(groups: Any, weights: Any) -> None:
    assert weights_of(groups) == weights
    for table in (None, NO_NODES):
        names = GroupNames()
        for _ in range(3):
            assert dict(
                zip(*map(np.ndarray.tolist, names.resolve(groups, (), table)), strict=True)
            ) == (expected(weights))
        assert {*names.known} == (set() if table is None else {*weights})


@pytest.mark.parametrize("weight", [-1e-9, 1.0 + 1e-9, np.nan, np.inf, "half"])
def test_a_weight_outside_0_and_1_is_rejected(weight: Any) -> None:
    with pytest.raises((ValueError, TypeError), match="weight"):
        weights_of({"a": weight})


@pytest.mark.parametrize("label", [np.nan, b"a", [1], ("a", [1]), object()])
def test_what_cannot_be_stored_is_no_label(label: Any) -> None:
    with pytest.raises(ValueError, match="a group must be text, a number or a tuple"):
        weights_of([label])


def test_different_labels_have_different_keys_and_equal_ones_the_same() -> None:
    keys = [key_of(label) for label in LABELS]
    assert len({*keys}) == len(LABELS)
    for one, other in itertools.combinations([1, 1.0, True], 2):
        assert key_of(one) == key_of(other)
        assert key_of(("a", one)) == key_of(("a", other))
    assert key_of(0) == key_of(False) != key_of(1)
    assert key_of(7) == key_of(7.0) != key_of(8)
    assert key_of("a") == 7499696455343697942  # in every process


def test_missing_features_are_groups_beside_those_that_are_given() -> None:
    names = GroupNames()
    both = expected({"a": 1.0, MissingFeature(0): 1.0, MissingFeature(2): 1.0})
    for table in (None, NO_NODES, NO_NODES):
        names.resolve("a", (0, 2), table)
        assert resolved(names, "a", (0, 2)) == both
        assert resolved(names, "a") == expected({"a": 1.0})
        assert resolved(names, "a", (0,)) == expected({"a": 1.0, MissingFeature(0): 1.0})
        assert resolved(names, None, (2,)) == expected({MissingFeature(2): 1.0})


def test_what_was_resolved_before_depends_on_weights_kinds_and_missing_features() -> None:
    names = GroupNames()
    calls: list[tuple[Any, tuple[int, ...]]] = [
        ({"a": 0.5, "b": 1.0}, ()),
        ({"a": 1.0, "b": 0.5}, ()),
        ({"a": 0.5, "b": 1.0}, (1,)),
        (["a", "b"], ()),
        (["a", "b"], (1,)),
        ({"a", "b"}, ()),
        ({"a", "b"}, (0,)),
        (("a", "b"), ()),
        (("a", "b"), (0,)),
        (frozenset({"a"}), (1,)),
        (["a"], ()),
    ]
    for _ in range(2):
        for groups, missing in calls:
            names.add([(groups, missing)], NO_NODES)
            weights = weights_of(groups) | {MissingFeature(i): 1.0 for i in missing}
            assert resolved(names, groups, missing) == expected(weights)


def test_a_copy_grows_on_its_own_and_memory_of_combinations_is_limited() -> None:
    names = GroupNames(["a"])
    twin = names.copy()
    twin.add([("b", ())], NO_NODES)
    assert ({*names.known}, {*twin.known}) == ({"a"}, {"a", "b"})
    for i in range(MOST_COMBINATIONS + 3):
        twin.add([({"a": 1.0 / (1.0 + i)}, ())], NO_NODES)
        assert len(twin._combinations) <= MOST_COMBINATIONS
    assert resolved(twin, {"a": 0.5}) == expected({"a": 0.5})


def test_present_are_the_labels_whose_keys_a_table_has() -> None:
    names = GroupNames(["a", "b", ("c", 1)])
    keys = np.array([0, key_of("b"), 5, key_of(("c", 1))])
    assert names.present(keys) == {"b": key_of("b"), ("c", 1): key_of(("c", 1))}
    assert names.present(np.zeros(3, np.int64)) == {}


@pytest.mark.parametrize("label", LABELS)
def test_labels_survive_json(label: Any) -> None:
    again = label_from_json(label_to_json(label))
    assert (again, key_of(again)) == (label, key_of(label))


def test_a_weight_is_what_a_round_counts_at_the_node_of_its_group() -> None:
    cal = AutoLARC(0.1, initial_threshold=0.0)
    cal.update([0.0], 1.0, 0.5, {"a": 0.25, "b": 1.0}).update([0.0], 0.0, 0.5, ["a"])
    found = {name: part.rounds for name, part in cal.certificate().groups.items()}
    assert found == {"a": 1.25, "b": 1.0}
