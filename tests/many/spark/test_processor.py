"""The processor in PySpark's own tester: no Java, no cluster."""

import json
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas
import pyarrow
import pytest

from localarc import ARC, LARC, RBF, AutoLARC, Panel
from localarc.many import BadRowError, Columns, calibrate
from localarc.many.panel.streams import Prototype
from localarc.many.rows import bucket_bytes as stored
from localarc.many.rows.bucket import Bucket
from localarc.many.spark.bucket_cache import BucketCache
from localarc.many.spark.packed_columns import NULLS, PackedColumns, alias
from localarc.many.spark.processor import STATE, BucketProcessor, Job, read_bucket
from localarc.serialization import StateError
from many.keyed_events import late
from many.spark.streams import alone, keyed

pytest.importorskip("pyspark", reason="PySpark is not installed: make cluster installs it")
pytest.importorskip("pyspark.sql.streaming.tws_tester", reason="PySpark before 4.2 has no tester")


class Simulated:
    """One bucket of a job: user's rows in, user's rows out."""

    def __init__(self, job: Job, initial: Any = None) -> None:
        from pyspark.sql.streaming.tws_tester import TwsTester

        seeds = None if initial is None else [(0, initial)]
        self._tester = TwsTester(BucketProcessor(job), initialStatePandas=seeds)

    def learn(self, frame: Any) -> Any:
        """Hand rows over as Spark does."""
        nulls = sum((frame[name].isna() * (1 << i) for i, name in enumerate(frame) if i), 0)
        aliases = [alias(i) for i in range(len(frame.columns))]
        filled = frame.fillna({"order": 0, "score": 0.0}).set_axis(aliases, axis=1)
        found = self._tester.testInPandas(0, filled.assign(**{NULLS: nulls}))
        return found.rename(columns=dict(zip(aliases, frame.columns, strict=True)))

    @property
    def row(self) -> Any:
        """The row of state."""
        return self._tester.peekValueState(STATE, 0)


def job(
    calibrator: Prototype, dimension: int = 0, losses: bool = False, rejects: bool = False
) -> Job:
    features = tuple(f"x{i}" for i in range(dimension))
    value = {"loss" if losses else "score": "score"}
    columns = Columns(key="key", order="order", features=features, **value)
    types = ("string", "bigint", *["double"] * dimension, "double")
    packed = PackedColumns(("key", "order", *features, "score"), types)
    return Job(columns, calibrator, 4, packed, rejects)


def batches(frame: Any, size: int) -> list[Any]:
    """Micro-batches of some orders each, each shuffled."""
    parts = [part for _, part in frame.groupby((frame["order"] - 1) // size)]
    return [part.sample(frac=1.0, random_state=1) for part in parts]


@pytest.mark.parametrize(
    ("calibrator", "dimension"),
    [
        (ARC(0.1), 0),
        (LARC(0.1, RBF.from_paper(0.5)), 2),
        (AutoLARC(0.1), 0),
        (AutoLARC(0.1, max_bytes=300_000), 2),
    ],
    ids=["ARC", "L-ARC", "AutoLARC", "AutoLARC, features"],
)
@pytest.mark.parametrize("size", [1, 7, 20])
def test_every_key_is_calibrated_as_if_alone(
    calibrator: Prototype, dimension: int, size: int
) -> None:
    frame = keyed(5, 20, dimension)
    bucket = Simulated(job(calibrator, dimension))
    found = pandas.concat([bucket.learn(part) for part in batches(frame, size)])
    calibrators, thresholds = alone(frame, calibrator)
    assert len(found) == len(frame)
    assert {(r.key, r.order): r.threshold for r in found.itertuples()} == thresholds
    assert (found["covered"] == (found["loss"] == 0.0)).all()
    found_bucket = read_bucket(bucket.row, calibrator, None)
    for key, one in calibrators.items():
        assert found_bucket.panel.calibrator(key).state() == one.state()


def test_given_losses_are_only_learned() -> None:
    frame = keyed(3, 10).assign(score=lambda f: (f["score"] > 1.0) * 1.0)
    bucket = Simulated(job(ARC(0.1), losses=True))
    found = bucket.learn(frame)
    one = ARC(0.1)
    for row in found[found["key"] == "key 1"].itertuples():
        assert row.next_threshold == one.update(None, row.score).threshold(None)
    assert "covered" not in found


def test_autolarc_learns_given_losses_in_its_unit() -> None:
    frame = keyed(3, 10).assign(score=lambda f: (f["score"] > 1.0) * 1.0)
    prototype = AutoLARC(0.1, unit=0.5, limits=(0.0, None))
    found = Simulated(job(prototype, losses=True)).learn(frame)
    one: Any = Panel(prototype).prototype
    for row in found[found["key"] == "key 1"].itertuples():
        assert row.next_threshold == one.update(None, row.score).threshold(None)


def test_a_bad_row_leaves_the_stored_bucket_as_it_was() -> None:
    frame = keyed(3, 4)
    bucket = Simulated(job(ARC(0.1)))
    bucket.learn(frame[frame["order"] <= 2])
    before = bucket.row
    lost = frame[frame["order"] == 4]
    with pytest.raises(BadRowError, match=r"gap in order: key 'key 0', order 4.* Order 3 was due"):
        bucket.learn(lost)
    with pytest.raises(BadRowError, match="repeated order: key 'key 0', order 2"):
        bucket.learn(frame[frame["order"] == 2])
    assert bucket.row == before


def test_rejected_rows_come_out_with_their_rule_and_the_others_are_learned() -> None:
    frame = keyed(3, 3)
    bad = (frame["key"] == "key 1") & (frame["order"] == 2)
    frame.loc[bad, "score"] = np.nan
    frame.loc[len(frame)] = [None, 1, 0.5]
    bucket = Simulated(job(ARC(0.1), rejects=True))
    found = bucket.learn(frame)
    rejects = found[found["rejected"].notna()]
    assert sorted(rejects["rejected"]) == ["bad score", "missing key"]
    assert rejects[["threshold", "loss", "covered"]].isna().all(axis=None)
    kept = read_bucket(bucket.row, ARC(0.1), None)
    assert kept.panel.rounds_of(["key 0", "key 1", "key 2"]).tolist() == [3, 2, 3]
    assert kept.due(["key 0", "key 1"]).tolist() == [4, 4]


def test_a_batch_of_bad_rows_alone_learns_nothing() -> None:
    frame = keyed(2, 1).assign(score=np.nan)
    bucket = Simulated(job(ARC(0.1), rejects=True))
    found = bucket.learn(frame)
    assert found["rejected"].tolist() == ["bad score"] * 2
    assert found["threshold"].isna().all()


def test_a_saved_calibrator_resumes_in_a_bucket() -> None:
    saved = ARC(0.1).update(None, 1.0).update(None, 0.0)
    seed = pandas.DataFrame({"key": ["key 0"], "state": [saved.state()], "skipped": [1]})
    bucket = Simulated(job(ARC(0.1)), initial=seed)
    later = pandas.DataFrame({"key": ["key 0"], "order": [4], "score": [0.5]})
    found = bucket.learn(later)
    assert found["threshold"].tolist() == [saved.threshold(None)]


def test_a_saved_autolarc_resumes_in_a_bucket() -> None:
    saved: Any = Panel(AutoLARC(0.1)).prototype
    saved.update(None, 1.0, 0.3)
    seed = pandas.DataFrame({"key": ["key 0"], "state": [saved.state()], "skipped": [0]})
    bucket = Simulated(job(AutoLARC(0.1)), initial=seed)
    later = pandas.DataFrame({"key": ["key 0"], "order": [2], "score": [0.5]})
    found = bucket.learn(later)
    assert found["threshold"].tolist() == [saved.threshold(None)]


def test_a_row_of_state_of_the_first_version_is_continued() -> None:
    panel = Panel(ARC(0.1)).update(["a", "b"], None, [1.0, 0.0])
    old = panel.state(), json.dumps({"a": 2}), 4
    bucket = job(ARC(0.1)).read(old)
    assert bucket.due(["a", "b", "c"]).tolist() == [4, 2, 1]
    assert bucket.panel.state() == panel.state()


def test_another_number_of_buckets_or_other_settings_are_refused() -> None:
    row = stored.encode(Bucket.new(ARC(0.1), job(ARC(0.1)).columns)), "", 8
    with pytest.raises(StateError, match="buckets=8, now it is 4"):
        job(ARC(0.1)).read(row)
    with pytest.raises(StateError, match="other settings"):
        job(ARC(0.2)).read((*row[:2], 4))
    with pytest.raises(StateError, match="rows of scores, now they are losses"):
        job(ARC(0.1), losses=True).read((*row[:2], 4))


def test_asks_of_one_batch_are_learned_in_another() -> None:
    frame = late(dimension=1)
    packed = PackedColumns(tuple(frame.columns), ("string",) * len(frame.columns))
    columns = Columns(
        key="key", order="order", features=["x0"], score="score", kind="kind", id="id"
    )
    bucket = Simulated(Job(columns, ARC(0.1), 4, packed, False))
    parts = [bucket.learn(frame[i : i + 13]) for i in range(0, len(frame), 13)]
    found = pandas.concat(parts).sort_values(["key", "order"])
    expected = calibrate(
        frame, Columns(key="key", order="order", score="score", kind="kind", id="id"), ARC(0.1)
    ).sort_values(["key", "order"])
    assert found["threshold"].tolist() == expected["threshold"].tolist()
    assert found["when"].tolist() == expected["when"].tolist()


def test_a_kept_bucket_is_current_only_for_its_own_bytes_and_job() -> None:
    recent, mine = BucketCache(max_bytes=100), Bucket.new(ARC(0.1), job(ARC(0.1)).columns)
    first, second = bytes(60), bytes(range(60))
    recent.put("a", (0,), first, mine)
    assert recent.take("b", (0,)) is None
    assert recent.take("a", (1,)) is None
    found = recent.take("a", (0,))
    assert found is not None
    assert found.bucket is mine
    assert found.is_stored_as(first)
    assert not found.is_stored_as(second)
    assert recent.take("a", (0,)) is None  # it is the taker's, who may change it


def test_the_oldest_kept_buckets_are_dropped() -> None:
    recent, mine = BucketCache(max_bytes=100), Bucket.new(ARC(0.1), job(ARC(0.1)).columns)
    recent.put("a", (0,), bytes(60), mine)
    recent.put("a", (0,), bytes(60), mine)  # replaces the first
    assert recent.take("a", (0,)) is not None
    recent.put("a", (0,), bytes(60), mine)
    recent.put("a", (1,), bytes(60), mine)  # both are more than the limit
    assert recent.take("a", (0,)) is None
    assert recent.take("a", (1,)) is not None


@pytest.mark.parametrize("more", [False, True], ids=["same keys", "more keys"])
def test_a_bucket_that_another_worker_stored_replaces_the_kept_one(more: bool) -> None:
    frame, mine = keyed(4, 3), job(ARC(0.1))
    first, second = (Bucket.new(ARC(0.1), mine.columns) for _ in range(2))
    few = frame[frame["key"] != "key 3"]
    for bucket, rows in ((first, few[few["order"] == 1]), (second, frame if more else few)):
        bucket.calibrate(pyarrow.Table.from_pandas(rows, preserve_index=False), False)
    data = stored.encode(second)
    found = mine.read((data, "", 4), earlier=first)
    assert (found.panel.index is first.panel.index) == (not more)
    assert found.panel.rounds.tolist() == second.panel.rounds.tolist()
    assert stored.encode(found) == data


def test_a_batch_that_is_rerun_continues_from_the_stored_state() -> None:
    frame = keyed(3, 3)
    bucket = BucketProcessor(job(ARC(0.1)))
    held: dict[str, Any] = {}
    state: Any = SimpleNamespace(
        get=lambda: held.get("row"), update=lambda row: held.update(row=row)
    )
    bucket.init(SimpleNamespace(getValueState=lambda *given: state))

    def learn(order: int) -> list[float]:
        rows = frame[frame["order"] == order].set_axis([alias(i) for i in range(3)], axis=1)
        (found,) = bucket.handleInputRows((0,), iter([rows.assign(**{NULLS: 0})]), None)
        return list(found["threshold"])

    learn(1)
    before = held["row"]
    thresholds = learn(2)
    held["row"] = before  # the batch did not finish
    assert learn(2) == thresholds
    learn(3)


def test_the_rows_of_several_parts_are_text_that_spark_can_send() -> None:
    bucket = BucketProcessor(job(ARC(0.1)))
    state: Any = SimpleNamespace(get=lambda: None, update=lambda row: None)
    bucket.init(SimpleNamespace(getValueState=lambda *given: state))
    columns = {alias(1): [1], alias(2): [0.5], NULLS: [0]}
    parts = [pandas.DataFrame({alias(0): pandas.Series([key]), **columns}) for key in "abc"]
    (found,) = bucket.handleInputRows((0,), iter(parts), None)
    assert isinstance(pyarrow.array(found[alias(0)], from_pandas=True), pyarrow.Array)
