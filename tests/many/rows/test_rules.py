"""Which rows are bad, and the error messages."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from localarc import ARC
from localarc.many.panel.late import ASK, LEARN
from localarc.many.rows.bucket import Bucket
from localarc.many.rows.events import Events, Rows
from localarc.many.rows.rules import (
    RULES,
    BadRowError,
    check_orders,
    check_values,
    consumes_order,
    raise_first,
)
from localarc.validation import IntArray
from many.keyed_events import columns_of

NAN = float("nan")


def rows(*given: tuple[str | None, int, float], X: Any = None) -> Rows:
    keys, orders, values = zip(*given, strict=True)
    names = sorted({key for key in keys if key is not None})
    codes = np.array([-1 if key is None else names.index(key) for key in keys], np.int64)
    acts = np.full(len(keys), ASK | LEARN, np.int64)
    inputs = np.empty((len(keys), 0)) if X is None else np.array(X)
    numbers = np.array(values, np.float64)
    return Rows(names, codes, np.array(orders, np.int64), acts, None, numbers, None, inputs)


def events(*given: tuple[str | None, int, float], bound: float | None = None, X: Any = None) -> Any:
    found = rows(*given, X=X)
    return Events.sort(found, check_values(found, bound), np.ones(len(found.names), np.int64))


def due(found: Events, **orders: int) -> IntArray:
    return np.array([orders.get(name, 1) for name in found.names], np.int64)


def names(found: Events, **orders: int) -> list[str]:
    return [RULES[verdict].name for verdict in check_orders(found, due(found, **orders))]


def test_rows_are_sorted_by_key_and_order() -> None:
    found = events(("b", 2, 0.1), ("a", 1, 0.2), ("b", 1, 0.3))
    assert [found.names[code] for code in found.codes] == ["a", "b", "b"]
    assert found.values.tolist() == [0.2, 0.3, 0.1]
    assert found.positions().tolist() == [0, 0, 1]


def test_events_that_continue_their_key_are_good() -> None:
    assert names(events(("b", 8, 0.1), ("a", 1, 0.2), ("b", 7, 0.3)), b=7) == ["", "", ""]


def test_a_lost_event_and_all_after_it_are_a_gap() -> None:
    found = events(("a", 1, 0.1), ("a", 3, 0.1), ("a", 4, 0.1), ("b", 1, 0.1))
    assert names(found) == ["", "gap in order", "gap in order", ""]


def test_an_event_that_was_learned_before_is_a_repetition() -> None:
    assert names(events(("a", 4, 0.1), ("a", 5, 0.1)), a=5) == ["repeated order", ""]


def test_of_two_rows_with_one_order_the_smaller_value_wins_and_never_nan() -> None:
    found = events(("a", 1, 0.9), ("a", 1, 0.1), ("a", 1, NAN), ("a", 2, 0.5))
    assert names(found) == ["", "repeated order", "repeated order", ""]
    assert found.values[0] == 0.1


def test_a_bad_value_consumes_its_order_so_that_the_key_can_continue() -> None:
    found = events(("a", 1, 0.1), ("a", 2, NAN), ("a", 3, 0.2))
    verdicts = check_orders(found, due(found))
    assert [RULES[verdict].name for verdict in verdicts] == ["", "bad score", ""]
    assert consumes_order(verdicts).tolist() == [False, True, False]


def test_missing_keys_and_orders_violate_different_rules() -> None:
    assert names(events((None, 1, 0.1), ("a", 0, 0.1), ("a", 1, 0.1))) == [
        "missing key",
        "bad order",
        "",
    ]


@pytest.mark.parametrize("loss", [-0.1, 1.1, NAN, float("inf")])
def test_a_loss_outside_its_bound_is_bad(loss: float) -> None:
    assert names(events(("a", 1, loss), bound=1.0)) == ["bad loss"]


def test_a_feature_that_is_not_finite_is_bad() -> None:
    X = np.array([[0.0, NAN], [0.0, 1.0]])
    found = events(("a", 1, 0.5), ("a", 2, 0.5), X=X)
    assert names(found) == ["bad features", ""]


def test_the_error_names_the_key_the_order_and_the_rule() -> None:
    found = events(("ann", 1, 0.1), ("bob", 9, 0.1))
    expected = due(found, bob=7)
    with pytest.raises(BadRowError, match=r"gap in order: key 'bob', order 9.* Order 7 was due"):
        raise_first(found, expected, check_orders(found, expected))


@settings(max_examples=60, derandomize=True, deadline=None)
@given(st.lists(st.tuples(st.sampled_from("abc"), st.floats(0.0, 1.0)), min_size=1), st.randoms())
def test_shuffling_a_batch_changes_nothing(scored: list[tuple[str, float]], random: object) -> None:
    numbered, count = [], dict.fromkeys("abc", 0)
    for key, score in scored:
        count[key] += 1
        numbered.append((key, count[key], score))
    straight = Bucket.new(ARC(0.1), columns_of())
    thresholds = straight.learn(rows(*numbered), False).table(False)["threshold"].to_pylist()
    mixed = list(range(len(numbered)))
    random.shuffle(mixed)  # type: ignore[attr-defined]
    shuffled = Bucket.new(ARC(0.1), columns_of())
    again = shuffled.learn(rows(*(numbered[i] for i in mixed)), False).table(False)
    assert again["threshold"].to_pylist() == [thresholds[i] for i in mixed]
    assert straight.panel.state() == shuffled.panel.state()
