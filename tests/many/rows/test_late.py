"""Asks and the losses that come later, in rows of their own."""

from typing import Any

import numpy as np
import pandas
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from localarc import ARC
from localarc.many import BadRowError, Columns, calibrate
from localarc.many.rows.bucket import Bucket
from many.keyed_events import PROTOTYPES, Alone, columns_of, late, learn
from many.settings import keyed_settings

LATE: dict[str, Any] = {"kind": "kind", "id": "id"}


@pytest.mark.slow
@pytest.mark.parametrize(("prototype", "dimension"), PROTOTYPES.values(), ids=PROTOTYPES)
@pytest.mark.parametrize("parts", [1, 7])
def test_each_key_is_a_calibrator_that_learns_late_bit_for_bit(
    prototype: Any, dimension: int, parts: int
) -> None:
    frame, alone = late(dimension=dimension), Alone(prototype)
    bucket = Bucket.new(prototype, columns_of(dimension, **LATE))
    pieces = [frame.iloc[at] for at in np.array_split(np.arange(len(frame)), parts)]
    found = pandas.concat([learn(bucket, piece) for piece in pieces], ignore_index=True)
    assert found["threshold"].tolist() == alone.thresholds(frame)
    for key, one in alone.calibrators.items():
        assert bucket.panel.calibrator(key).state() == one.state()
    assert len(bucket.pending) == 0


def test_an_ask_gets_a_threshold_and_its_outcome_the_same_one_with_the_loss() -> None:
    frame = late()
    found = calibrate(
        frame, **keyed_settings(key="key", score="score", **LATE, calibrator=ARC(0.1))
    )
    asks, outcomes = (found[found["kind"] == kind].set_index("id") for kind in ("ask", "learn"))
    assert asks[["loss", "covered"]].isna().all(axis=None)
    assert outcomes["threshold"].to_dict() == asks["threshold"].to_dict()
    assert (outcomes["loss"] == (outcomes["score"] > outcomes["threshold"])).all()
    assert (outcomes["covered"] == (outcomes["loss"] == 0.0)).all()


def test_known_losses_of_asks_are_learned_as_they_are() -> None:
    rows: list[Any] = [("a", "1", "ask", None), ("a", "2", "ask", None)]
    rows += [("a", "2", "learn", 1.0), ("a", "3", "ask", None), ("a", "1", "learn", 0.25)]
    frame = pandas.DataFrame(rows, columns=["key", "id", "kind", "loss"])
    found = calibrate(frame, **keyed_settings(key="key", loss="loss", **LATE, calibrator=ARC(0.1)))
    assert list(found.columns) == [*frame.columns, "threshold"]
    assert found["threshold"].tolist() == [0.0, 0.0, 0.0, 0.9, 0.0]


@pytest.mark.slow
@settings(max_examples=40, derandomize=True, deadline=None)
@given(st.integers(0, 1000), st.integers(1, 6))
def test_shuffling_rows_with_orders_changes_nothing(seed: int, keys: int) -> None:
    frame = late(keys, seed=seed)
    usual: dict[str, Any] = {"key": "key", "order": "order", "score": "score", **LATE}
    straight = calibrate(frame, **keyed_settings(**usual, calibrator=ARC(0.1)))
    mixed = calibrate(
        frame.sample(frac=1.0, random_state=seed), **keyed_settings(**usual, calibrator=ARC(0.1))
    )
    assert mixed.sort_index()["threshold"].tolist() == straight["threshold"].tolist()


BAD: list[tuple[str, tuple[Any, ...]]] = [
    ("repeated id", ("a", "1", "ask", None)),
    ("unknown id", ("a", "2", "learn", 0.5)),
    ("unknown id", ("b", "1", "learn", 0.5)),
    ("missing id", ("a", None, "learn", 0.5)),
    ("bad kind", ("a", "1", "tell", 0.5)),
    ("bad kind", ("a", "1", None, 0.5)),
    ("bad score", ("a", "1", "learn", None)),
]


@pytest.mark.parametrize(("rule", "row"), BAD, ids=[f"{rule} {row[0]}" for rule, row in BAD])
@pytest.mark.parametrize("before", [True, False], ids=["asked in an earlier batch", "in this one"])
def test_a_row_that_fits_no_ask_is_bad_and_consumes_its_order(
    rule: str, row: tuple[Any, ...], before: bool
) -> None:
    rows = [("a", "1", "ask", None), row, ("a", "1", "learn", 0.5), ("a", "1", "ask", None)]
    frame = pandas.DataFrame(rows, columns=["key", "id", "kind", "score"])
    frame["order"] = frame.groupby("key").cumcount() + 1
    bucket = Bucket.new(ARC(0.1), columns_of(**LATE))
    if before:
        learn(bucket, frame[:1])
        frame = frame[1:]
    due = bucket.due(["a", "b"]).tolist()
    with pytest.raises(BadRowError, match=f"^{rule}: key '{row[0]}', order"):
        learn(bucket, frame)
    assert bucket.due(["a", "b"]).tolist() == due  # a failed call changes nothing
    found = learn(bucket, frame, rejects=True)
    assert [name for name in found["rejected"] if isinstance(name, str)] == [rule]
    assert found["threshold"].tolist()[-2:] == [0.0, 0.9]
    assert bucket.due(["a", "b"]).tolist() == ([5, 1] if row[0] == "a" else [4, 2])
    assert bucket.pending.ids.to_pylist() == ["1"]


def test_pending_asks_of_other_keys_stay_pending() -> None:
    bucket = Bucket.new(ARC(0.1), columns_of(**LATE))
    rows: list[Any] = [
        ("a", "1", "ask", 1, None),
        ("b", "1", "ask", 1, None),
        ("b", "2", "ask", 2, None),
    ]
    learn(bucket, pandas.DataFrame(rows, columns=["key", "id", "kind", "order", "score"]))
    rows = [("b", "1", "learn", 3, 0.5)]
    learn(bucket, pandas.DataFrame(rows, columns=["key", "id", "kind", "order", "score"]))
    pending = zip(bucket.pending.keys.to_pylist(), bucket.pending.ids.to_pylist(), strict=True)
    assert sorted(pending) == [("a", "1"), ("b", "2")]


def test_a_broken_duplicate_never_shadows_the_good_row() -> None:
    for broken in ({"score": -9.0, "x0": np.nan}, {"score": np.nan, "x0": 0.1}):
        frame = pandas.DataFrame({"key": "a", "order": [1, 2], "x0": 0.5, "score": 0.5})
        frame.loc[2] = {"key": "a", "order": 1, **broken}
        for rows in (frame, frame[::-1]):
            columns = Columns(key="key", order="order", features=["x0"], score="score")
            found = calibrate(rows, columns, ARC(0.1), bad_rows="reject")
            assert found.sort_index()["rejected"].tolist()[2] == "repeated order"
            assert found["threshold"].notna().sum() == 2
