"""The processor in PySpark's own tester: no Java, no cluster."""

from typing import Any

import numpy as np
import pandas
import pytest

from localarc import ARC, LARC, RBF, AutoLARC
from localarc.panel.streams import Prototype
from localarc.spark.bucket import Bucket
from localarc.spark.processor import STATE, BucketProcessor, Job
from localarc.spark.validation import BadRowError
from spark.streams import alone, keyed

pytest.importorskip("pyspark", reason="PySpark is not installed: make cluster installs it")


def simulated(job: Job, initial: Any = None) -> Any:
    from pyspark.sql.streaming.tws_tester import TwsTester

    return TwsTester(BucketProcessor(job), initialStatePandas=initial)


def job(
    calibrator: Prototype, dimension: int = 0, losses: bool = False, rejects: bool = False
) -> Job:
    return Job(calibrator, 4, dimension, losses, rejects)


def rows(frame: Any) -> Any:
    return frame.rename(columns={"score": "value"})


def batches(frame: Any, size: int) -> list[Any]:
    """Micro-batches of some orders each, each shuffled."""
    parts = [part for _, part in frame.groupby((frame["order"] - 1) // size)]
    return [rows(part.sample(frac=1.0, random_state=1)) for part in parts]


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
    bucket = simulated(job(calibrator, dimension))
    found = pandas.concat([bucket.testInPandas(2, part) for part in batches(frame, size)])
    calibrators, thresholds = alone(frame, calibrator)
    assert len(found) == len(frame)
    assert {(r.key, r.order): r.threshold for r in found.itertuples()} == thresholds
    assert (found["covered"] == (found["loss"] == 0.0)).all()
    stored = Bucket.from_stored(bucket.peekValueState(STATE, 2), calibrator, 4)
    for key, one in calibrators.items():
        assert stored.panel.calibrator(key).state() == one.state()


def test_given_losses_are_only_learned() -> None:
    frame = keyed(3, 10).assign(score=lambda f: (f["score"] > 1.0) * 1.0)
    bucket = simulated(job(ARC(0.1), losses=True))
    found = bucket.testInPandas(0, rows(frame))
    one = ARC(0.1)
    for row in found[found["key"] == "key 1"].itertuples():
        assert row.next_threshold == one.update(None, row.value).threshold(None)
    assert "covered" not in found


def test_autolarc_learns_given_losses_in_its_unit() -> None:
    frame = keyed(3, 10).assign(score=lambda f: (f["score"] > 1.0) * 1.0)
    prototype = AutoLARC(0.1, unit=0.5, limits=(0.0, None))
    found = simulated(job(prototype, losses=True)).testInPandas(0, rows(frame))
    one = Bucket.new(prototype).panel.prototype
    for row in found[found["key"] == "key 1"].itertuples():
        assert row.next_threshold == one.update(None, row.value).threshold(None)


def test_a_bad_row_leaves_the_stored_bucket_as_it_was() -> None:
    frame = rows(keyed(3, 4))
    bucket = simulated(job(ARC(0.1)))
    bucket.testInPandas(0, frame[frame["order"] <= 2])
    before = bucket.peekValueState(STATE, 0)
    lost = frame[frame["order"] == 4]
    with pytest.raises(BadRowError, match=r"gap in order: key 'key 0', order 4.* Order 3 was due"):
        bucket.testInPandas(0, lost)
    with pytest.raises(BadRowError, match="repeated order: key 'key 0', order 2"):
        bucket.testInPandas(0, frame[frame["order"] == 2])
    assert bucket.peekValueState(STATE, 0) == before


def test_rejected_rows_come_out_with_their_rule_and_the_others_are_learned() -> None:
    frame = rows(keyed(3, 3))
    bad = (frame["key"] == "key 1") & (frame["order"] == 2)
    frame.loc[bad, "value"] = np.nan
    frame.loc[len(frame)] = [None, 1, 0.5]
    bucket = simulated(job(ARC(0.1), rejects=True))
    found = bucket.testInPandas(0, frame)
    rejects = found[found["rejected"].notna()]
    assert sorted(rejects["rejected"]) == ["bad score", "missing key"]
    assert rejects[["threshold", "loss", "covered"]].isna().all(axis=None)
    stored = Bucket.from_stored(bucket.peekValueState(STATE, 0), ARC(0.1), 4)
    assert stored.panel.rounds_of(["key 0", "key 1", "key 2"]).tolist() == [3, 2, 3]
    assert stored.due(["key 0", "key 1"]).tolist() == [4, 4]


def test_a_batch_of_bad_rows_alone_learns_nothing() -> None:
    frame = rows(keyed(2, 1)).assign(value=np.nan)
    bucket = simulated(job(ARC(0.1), rejects=True))
    found = bucket.testInPandas(0, frame)
    assert found["rejected"].tolist() == ["bad score"] * 2
    assert found["threshold"].isna().all()


def test_a_saved_calibrator_resumes_in_a_bucket() -> None:
    saved = ARC(0.1).update(None, 1.0).update(None, 0.0)
    seed = pandas.DataFrame({"key": ["key 0"], "state": [saved.state()], "skipped": [1]})
    bucket = simulated(job(ARC(0.1)), initial=[(0, seed)])
    found = bucket.testInPandas(
        0, pandas.DataFrame({"key": ["key 0"], "order": [4], "value": [0.5]})
    )
    assert found["threshold"].tolist() == [saved.threshold(None)]


def test_a_saved_autolarc_resumes_in_a_bucket() -> None:
    saved: Any = Bucket.new(AutoLARC(0.1)).panel.prototype
    saved.update(None, 1.0, 0.3)
    seed = pandas.DataFrame({"key": ["key 0"], "state": [saved.state()], "skipped": [0]})
    bucket = simulated(job(AutoLARC(0.1)), initial=[(0, seed)])
    found = bucket.testInPandas(
        0, pandas.DataFrame({"key": ["key 0"], "order": [2], "value": [0.5]})
    )
    assert found["threshold"].tolist() == [saved.threshold(None)]
