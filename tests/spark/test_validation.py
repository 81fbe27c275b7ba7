"""Which rows of a bucket are bad, and the error messages. Needs no Spark."""

import json
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from localarc import ARC, LARC, RBF
from localarc.serialization import StateError
from localarc.spark.bucket import Bucket
from localarc.spark.columns import Columns
from localarc.spark.events import Events
from localarc.spark.validation import RULES, BadRowError, consumes_order, raise_first, validate_rows
from localarc.validation import IntArray

NAN = float("nan")


def events(*rows: tuple[str | None, int, float]) -> Events:
    keys, orders, values = zip(*rows, strict=True)
    X = np.empty((len(rows), 0))
    return Events.from_columns(
        list(keys), np.array(orders, np.int64), np.array(values, np.float64), X
    )


def due(found: Events, **orders: int) -> IntArray:
    return np.array([orders.get(name, 1) for name in found.names], np.int64)


def names(found: Events, bound: float | None = None, **orders: int) -> list[str]:
    return [RULES[verdict].name for verdict in validate_rows(found, due(found, **orders), bound)]


def test_rows_are_sorted_by_key_and_order() -> None:
    found = events(("b", 2, 0.1), ("a", 1, 0.2), ("b", 1, 0.3))
    assert found.keys() == ["a", "b", "b"]
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
    verdicts = validate_rows(found, due(found), None)
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
    assert names(events(("a", 1, loss)), bound=1.0) == ["bad loss"]


def test_a_feature_that_is_not_finite_is_bad() -> None:
    X = np.array([[0.0, NAN], [0.0, 1.0]])
    found = Events.from_columns(["a", "a"], np.array([1, 2]), np.array([0.5, 0.5]), X)
    assert names(found) == ["bad features", ""]


def test_the_error_names_the_key_the_order_and_the_rule() -> None:
    found = events(("ann", 1, 0.1), ("bob", 9, 0.1))
    expected = due(found, bob=7)
    with pytest.raises(BadRowError, match=r"gap in order: key 'bob', order 9.* Order 7 was due"):
        raise_first(found, expected, validate_rows(found, expected, None))


@settings(max_examples=60, derandomize=True, deadline=None)
@given(st.lists(st.tuples(st.sampled_from("abc"), st.floats(0.0, 1.0)), min_size=1), st.randoms())
def test_shuffling_a_batch_changes_nothing(rows: list[tuple[str, float]], random: object) -> None:
    numbered, count = [], dict.fromkeys("abc", 0)
    for key, score in rows:
        count[key] += 1
        numbered.append((key, count[key], score))
    straight = Bucket.new(ARC(0.1))
    thresholds, losses = straight.play(events(*numbered))
    random.shuffle(numbered)  # type: ignore[attr-defined]
    shuffled = Bucket.new(ARC(0.1))
    found = events(*numbered)
    assert not validate_rows(found, shuffled.due(found.names), None).any()
    again = shuffled.play(found)
    assert np.array_equal(thresholds, again[0])
    assert np.array_equal(losses, again[1])
    assert straight.panel.state() == shuffled.panel.state()


def test_the_next_threshold_is_the_one_right_after_each_loss() -> None:
    calibrator = LARC(0.1, RBF.from_paper(1.0))
    X = np.array([[0.0], [0.5], [1.0]])
    found = Events.from_columns(["a"] * 3, np.array([1, 2, 3]), np.array([1.0, 0.0, 1.0]), X)
    learned = Bucket.new(calibrator).learn(found)
    one = LARC(0.1, RBF.from_paper(1.0))
    for x, loss, threshold in zip(X, found.values, learned, strict=True):
        assert one.update(x, loss).threshold(x) == threshold


def test_a_bucket_comes_back_as_it_was_stored() -> None:
    bucket = Bucket.new(ARC(0.1))
    bucket.play(events(("a", 1, 0.5), ("b", 1, 0.5)))
    bucket.skip({"a": 2, "new": 1})
    stored = bucket.store(4)
    again = Bucket.from_stored(stored, ARC(0.1), 4)
    assert again.due(["a", "b", "new", "unseen"]).tolist() == [4, 2, 2, 1]
    assert again.store(4) == stored
    assert json.loads(stored[1]) == {"a": 2, "new": 1}


def test_another_number_of_buckets_or_another_calibrator_is_rejected() -> None:
    stored = Bucket.new(ARC(0.1)).store(4)
    with pytest.raises(StateError, match="buckets=4, now it is 8"):
        Bucket.from_stored(stored, ARC(0.1), 8)
    with pytest.raises(StateError, match="other settings"):
        Bucket.from_stored(stored, ARC(0.2), 4)


def test_importing_localarc_spark_imports_neither_spark_nor_pandas() -> None:
    heavy = "{'pyspark', 'pandas', 'pyarrow'}"
    code = f"import sys, localarc.spark; sys.exit(bool({heavy} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


def test_without_pyspark_the_error_names_the_install_command(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "pyspark", None)
    with pytest.raises(ImportError, match=r"pip install 'localarc\[spark\]'"):
        Columns.from_frame(None, "key", "order", [], "score", None)
