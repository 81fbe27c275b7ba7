"""Calibrated among other libraries: rows of every kind, scikit-learn, river, threads."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any, cast

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import check_estimator

from localarc.models import Calibrated, FewOutcomesWarning, Locked
from localarc.sets import Interval, LabelMatrix

N = 120
RANDOM = np.random.default_rng(0)
X = RANDOM.uniform(0, 10, (N, 2))
Y = X[:, 0] + RANDOM.normal(0, 1, N)
LABELS = np.where(Y > 5, "high", "low")


def first(rows: Any) -> Any:
    return np.asarray(rows)[:, 0].astype(float)


def total(rows: Any) -> Any:
    """A prediction for rows of any shape, sparse ones included."""
    return np.array([np.asarray(row.sum() if hasattr(row, "sum") else sum(row)) for row in rows])


# ---- rows and outcomes -----------------------------------------------------------------------


@pytest.mark.parametrize("series", [list, pd.Series, pl.Series, pa.array, tuple])
def test_outcomes_may_be_any_series(series: Any) -> None:
    expected = Calibrated(first).update(X, Y)
    found = Calibrated(first).update(X, series(Y.tolist()))
    np.testing.assert_array_equal(
        found.predict_interval(X).lower, expected.predict_interval(X).lower
    )


def test_labels_may_be_any_series() -> None:
    model = LogisticRegression().fit(X, LABELS)
    for series in (list, pd.Series, pl.Series, pa.array):
        m = Calibrated(model, per_class=True).update(X, series(LABELS.tolist()))
        assert m.summary().levels[0].outcomes == N


def test_rows_may_be_a_list_of_lists() -> None:
    expected = Calibrated(first, local=[1]).update(X, Y)
    found = Calibrated(first, local=[1]).update(X.tolist(), Y)
    np.testing.assert_array_equal(
        found.predict_interval(X.tolist()).lower, expected.predict_interval(X).lower
    )


def test_rows_of_a_model_that_reads_them_may_have_any_shape() -> None:
    images = np.repeat(X[:, :, None], 3, axis=2)
    ragged = [row[: 1 + t % 2] for t, row in enumerate(X)]
    for rows in (images, ragged, list(images)):
        m = Calibrated(lambda rows: np.array([row.sum() for row in rows])).update(rows, Y)
        assert np.isfinite(m.predict_interval(rows[:5]).lower).all()
    with pytest.raises(ValueError, match="no column 0 in an array"):
        Calibrated(total, local=[0]).update(images, Y)


def test_rows_may_be_sparse() -> None:
    sparse = pytest.importorskip("scipy.sparse")  # scikit-learn brings it
    rows = sparse.csr_array(np.where(X > 5, X, 0.0))
    m = Calibrated(LinearRegression().fit(rows, Y), local=[1], groups=[0]).update(rows, Y)
    dense = Calibrated(m.model, local=[1], groups=[0]).update(rows.toarray(), Y)
    np.testing.assert_allclose(
        m.predict_interval(rows).lower, dense.predict_interval(rows.toarray()).lower
    )


def test_a_pyarrow_table_comes_back_as_arrow() -> None:
    table = pa.table({"a": X[:, 0], "g": LABELS})
    m = Calibrated(lambda rows: rows["a"].to_numpy(), local=["a"], groups=["g"])
    lower, _ = m.update(table, pa.array(Y)).predict_interval(table)
    assert isinstance(lower, pa.ChunkedArray)
    several = Calibrated(lambda rows: rows["a"].to_numpy(), [0.5, 0.8]).update(table, Y)
    ends = cast(Any, several.predict_interval(table).upper)
    assert ends.column_names == ["0.5", "0.8"]


@pytest.mark.parametrize("per_class", [False, True])
def test_no_rows_are_no_work_in_every_method(per_class: bool) -> None:
    models: list[tuple[Any, Any, str]] = [
        (LogisticRegression().fit(X, LABELS), LABELS, "predict_set")
    ]
    if not per_class:
        models.append((LinearRegression().fit(X, Y), Y, "predict_interval"))
    for model, outcomes, look in models:
        for warm in (0, 50):
            m = Calibrated(model, [0.5, 0.8], per_class=per_class)
            m.warm_up(X[:warm], outcomes[:warm]).update(X[:0], outcomes[:0])
            assert len(getattr(m, look)(X[:0])) == 0
            batch = m.ask(X[:0])
            assert len(batch) == len(batch.sets) == len(m.pending) == 0
            m.tell(batch.ids, outcomes[:0]).forget(batch.ids)
            assert m.update(X, outcomes).summary().levels[0].outcomes == warm + N


def test_no_frames_are_no_work_either() -> None:
    table = pd.DataFrame(X, columns=["a", "b"])
    m = Calibrated(lambda rows: rows["a"], local=["a"], groups=["b"]).update(table, Y)
    lower, _ = m.predict_interval(table[:0])
    assert isinstance(lower, pd.Series)
    assert len(lower) == 0
    masks = Calibrated(None, kind="masks", local=())
    assert len(masks.predict_mask(X[:0], prediction=[])) == 0


def test_label_sets_come_back_as_a_frame_with_the_index() -> None:
    table = pd.DataFrame(X, columns=["a", "b"], index=[f"row {i}" for i in range(N)])
    model = LogisticRegression().fit(table, LABELS)
    found = Calibrated(model).update(table, LABELS).predict_set(table[:4])
    frame: Any = found.to_frame()
    assert list(frame.columns) == ["high", "low"]
    assert list(frame.index) == list(table.index[:4])
    np.testing.assert_array_equal(frame.to_numpy(), np.asarray(found))
    several = Calibrated(model, [0.5, 0.8]).update(table, LABELS).predict_set(table[:4])
    frame = several.to_frame()
    assert list(frame.columns) == ["high 0.5", "high 0.8", "low 0.5", "low 0.8"]
    np.testing.assert_array_equal(frame["low 0.8"], np.asarray(several)[:, 1, 1])
    assert isinstance(_polars_sets(model, table), pl.DataFrame)
    with pytest.raises(TypeError, match="no frame"):
        LabelMatrix(np.ones((1, 2), bool), np.arange(2)).to_frame()


def _polars_sets(model: Any, table: pd.DataFrame) -> Any:
    predict = lambda rows: model.predict_proba(rows.to_pandas())  # noqa: E731
    m = Calibrated(predict, classes=["high", "low"])
    return m.update(pl.from_pandas(table), LABELS).predict_set(pl.from_pandas(table)).to_frame()


def test_the_warning_points_to_the_line_that_asked() -> None:
    calls: list[Any] = [
        lambda m: m.predict_interval(X),
        lambda m: m.ask(X),
        lambda m: m.predict_one({"a": 1.0, "b": 2.0}, with_interval=True),
        lambda m: Locked(m).predict_interval(X),
    ]
    for call in calls:
        with pytest.warns(FewOutcomesWarning) as caught:
            call(Calibrated(first))
        assert caught[0].filename == __file__


# ---- scikit-learn ----------------------------------------------------------------------------


@pytest.mark.parametrize("model", [LinearRegression(), LogisticRegression()])
def test_every_check_of_scikit_learn_holds(model: Any) -> None:
    found = check_estimator(Calibrated(model), on_fail=None, on_skip=None)
    other = {part["check_name"]: part["exception"] for part in found if part["status"] != "passed"}
    other.pop("check_array_api_input", None)  # which runs only where SCIPY_ARRAY_API is set
    assert not other


def test_a_pipeline_warms_up_after_fit() -> None:
    pipe = make_pipeline(StandardScaler(), Calibrated(LinearRegression(), 0.8)).fit(X[:60], Y[:60])
    scaled = pipe[:-1].transform(X)
    pipe[-1].warm_up(scaled[60:], Y[60:])
    assert np.isfinite(pipe[-1].predict_interval(scaled[:5]).lower).all()
    np.testing.assert_array_equal(pipe.predict(X), pipe[-1].predict(scaled))
    inside = Calibrated(make_pipeline(StandardScaler(), LinearRegression()), 0.8).fit(
        X[:60], Y[:60]
    )
    inside.warm_up(X[60:], Y[60:])
    np.testing.assert_allclose(
        inside.predict_interval(X[:5]).lower, pipe[-1].predict_interval(scaled[:5]).lower
    )


# ---- river -----------------------------------------------------------------------------------


class MeanByHand:
    """A model with the interface of river: it learns the mean of outcomes."""

    def __init__(self) -> None:
        self.sum = self.count = 0.0

    def predict_one(self, x: dict[str, Any]) -> float:
        return self.sum / self.count if self.count else 0.0

    def learn_one(self, x: dict[str, Any], y: float) -> None:
        self.sum, self.count = self.sum + y, self.count + 1


class SharesByHand:
    """A classifier with the interface of river: the shares of labels so far."""

    def __init__(self) -> None:
        self.counts: dict[str, int] = {}

    def predict_proba_one(self, x: dict[str, Any]) -> dict[str, float]:
        total = sum(self.counts.values())
        return {label: count / total for label, count in self.counts.items()}

    def learn_one(self, x: dict[str, Any], y: str) -> None:
        self.counts[y] = self.counts.get(y, 0) + 1


def row(t: int) -> dict[str, Any]:
    return {"a": float(X[t, 0]), "b": None if t % 5 == 0 else float(X[t, 1]), "c": "xy"[t % 2]}


def test_a_model_of_one_row_at_a_time_learns_and_is_calibrated() -> None:
    m = Calibrated(MeanByHand(), 0.8, local=["a"], groups=["c"])
    for t in range(N):
        m.learn_one(row(t), float(Y[t]))
    assert m.predict_one(row(0)) == pytest.approx(Y.mean())
    found = m.predict_one(row(0), with_interval=True)
    assert isinstance(found, Interval)
    assert found.lower < Y.mean() < found.upper
    names = {part.name for part in m.summary().levels[0].groups}
    assert names == {"c=x", "c=y"}
    several = Calibrated(MeanByHand(), [0.5, 0.8])
    for t in range(N):
        several.learn_one(row(t), float(Y[t]))
    inner, outer = cast(Any, several.predict_one(row(0), with_interval=True))
    assert outer.lower <= inner.lower <= inner.upper <= outer.upper


def test_a_classifier_of_one_row_at_a_time_gives_sets() -> None:
    m = Calibrated(SharesByHand(), 0.8, classes=["high", "low"])
    m.model.learn_one({}, "low")  # type: ignore[union-attr]
    for t in range(N):
        m.learn_one(row(t), str(LABELS[t]))
    found = cast(Any, m.predict_one(row(0), with_set=True))
    assert set(found) <= {"high", "low"}
    with pytest.raises(ValueError, match="classes"):
        Calibrated(SharesByHand(), kind="probability").learn_one(row(0), "low")


def test_models_of_river_learn_and_are_calibrated() -> None:
    from river import linear_model, preprocessing

    model = preprocessing.StandardScaler() | linear_model.LinearRegression()
    m = Calibrated(model, 0.8, local=["a"])
    for t in range(N):
        m.learn_one({"a": X[t, 0], "b": X[t, 1]}, Y[t])
    assert m.summary().levels[0].coverage == pytest.approx(0.8, abs=0.1)
    assert isinstance(m.predict_one({"a": 1.0, "b": 2.0}, with_interval=True), Interval)
    classifier = preprocessing.StandardScaler() | linear_model.LogisticRegression()
    sets = Calibrated(classifier, 0.8, classes=[False, True])
    for t in range(N):
        sets.learn_one({"a": X[t, 0]}, bool(Y[t] > 5))
    assert sets.summary().levels[0].outcomes == N


def test_one_row_is_a_batch_of_one() -> None:
    table = pd.DataFrame(X, columns=["a", "b"])
    model = LinearRegression().fit(table, Y)
    one, many = Calibrated(model, local=["a"]), Calibrated(model, local=["a"])
    for t in range(N):
        one.learn_one({"b": X[t, 1], "a": X[t, 0]}, Y[t])  # in another order
    many.update(table, Y)
    found = cast(Any, one.predict_one({"a": 3.0, "b": 4.0}, with_interval=True))
    lower, upper = many.predict_interval(pd.DataFrame({"a": [3.0], "b": [4.0]}))
    assert (found.lower, found.upper) == pytest.approx((lower[0], upper[0]))
    assert one.predict_one({"b": 4.0, "a": 3.0}) == pytest.approx(
        model.predict(pd.DataFrame({"a": [3.0], "b": [4.0]}))[0]
    )


# ---- threads ---------------------------------------------------------------------------------


def test_threads_share_a_locked_model() -> None:
    shared = Locked(Calibrated(first, [0.5, 0.8], local=[0]).update(X, Y))
    start = threading.Barrier(8)

    def serve(thread: int) -> int:
        start.wait()
        for t in range(40):
            part = slice((thread + t) % 100, (thread + t) % 100 + 3)
            batch = shared.ask(X[part])
            shared.predict_interval(X[part])
            shared.tell(batch.ids[:2], Y[part][:2])
        return 40

    with ThreadPoolExecutor(8) as pool:
        served = sum(pool.map(serve, range(8)))
    assert served == 320
    assert shared.summary().levels[0].outcomes == N + 2 * served
    assert len(shared.pending) == len({*shared.pending.tolist()}) == served
    shared.forget(shared.pending)
    assert shared.update(X, Y) is shared
    assert shared.summary().levels[1].outcomes == 2 * N + 2 * served


def test_an_unlocked_model_says_so_or_stays_in_step() -> None:
    m = Calibrated(first, [0.5, 0.8], local=[0]).update(X, Y)
    refused = []

    def serve(_: int) -> None:
        for _t in range(200):
            try:
                m.update(X[:2], Y[:2])
            except RuntimeError as error:
                refused.append(str(error))

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(serve, range(4)))
    rounds = [cal.rounds for cal in m._calibration.levels.each]
    assert len({*rounds}) == 1
    assert rounds[0] == N + 2 * (800 - len(refused))
    assert all("another thread" in text for text in refused)


def test_only_a_calibrated_model_can_be_locked() -> None:
    with pytest.raises(TypeError, match="Calibrated"):
        Locked(LinearRegression())
    assert repr(Locked(Calibrated(None))) == "Locked(Calibrated())"
