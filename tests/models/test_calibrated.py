"""Calibrated: intervals around a regressor, learned online, by row, by batch and by ticket."""

from typing import Any, cast

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from localarc.models import Calibrated, FewOutcomesWarning
from localarc.validation import FloatArray


def rows(count: int, seed: int = 0) -> tuple[FloatArray, FloatArray]:
    """Noise that grows with the first feature; the model below knows the mean."""
    random = np.random.default_rng(seed)
    X = random.uniform(0, 10, (count, 2))
    return X, X[:, 0] + random.normal(0, 0.2 + X[:, 0], count)


def mean(X: Any) -> FloatArray:
    return np.asarray(X)[:, 0].astype(float)


def frame(X: FloatArray) -> pd.DataFrame:
    table = pd.DataFrame(X, columns=["size", "age"], index=[f"row {i}" for i in range(len(X))])
    table["region"] = np.where(table["age"] > 5, "north", "south")
    return table


def size(X: Any) -> FloatArray:
    return np.asarray(X["size"], float)


def online_coverage(m: Calibrated, X: FloatArray, y: FloatArray) -> FloatArray:
    """Coverage of what would have been shown, by third of the first feature."""
    hits = []
    for t in range(len(y)):
        lower, upper = m.predict_interval(X[t : t + 1])
        hits.append(float(lower[0] <= y[t] <= upper[0]))
        m.update(X[t : t + 1], y[t : t + 1])
    third = np.digitize(X[:, 0], [10 / 3, 20 / 3])
    return np.array([np.mean(np.array(hits)[third == k]) for k in range(3)])


def test_every_third_of_the_inputs_is_covered() -> None:
    X, y = rows(4000)
    with pytest.warns(FewOutcomesWarning):
        coverage = online_coverage(Calibrated(mean, local=[0]), X, y)
    assert np.abs(coverage - 0.9).max() < 0.03


def test_without_places_one_third_pays_for_another() -> None:
    X, y = rows(3000)
    with pytest.warns(FewOutcomesWarning):
        coverage = online_coverage(Calibrated(mean, local=()), X, y)
    assert coverage[0] > 0.98
    assert coverage[2] < 0.85


def test_update_learns_as_row_by_row_and_as_ask_and_tell() -> None:
    X, y = rows(300)
    at_once, one_by_one, by_ticket = (Calibrated(mean, local=[0, 1]) for _ in range(3))
    at_once.update(X, y)
    for t in range(len(y)):
        one_by_one.update(X[t : t + 1], y[t : t + 1])
        with pytest.warns() if t == 0 else _no_warning():
            batch = by_ticket.ask(X[t : t + 1])
        by_ticket.tell(batch.ids, y[t : t + 1])
    probes, _ = rows(50, seed=1)
    expected = at_once.predict_interval(probes)
    for other in (one_by_one, by_ticket):
        found = other.predict_interval(probes)
        np.testing.assert_array_equal(found.lower, expected.lower)
        np.testing.assert_array_equal(found.upper, expected.upper)


class _no_warning:  # noqa: N801
    def __enter__(self) -> None: ...
    def __exit__(self, *_: object) -> None: ...


def test_looking_changes_nothing() -> None:
    X, y = rows(200)
    m = Calibrated(mean).update(X, y)
    first = m.predict_interval(X)
    m.predict_interval(X[::-1])
    np.testing.assert_array_equal(m.predict_interval(X).lower, first.lower)
    assert m.summary().levels[0].outcomes == 200


def test_what_was_shown_is_what_is_charged() -> None:
    X, y = rows(600)
    m = Calibrated(mean, local=[0]).update(X[:200], y[:200])
    level = m.summary().levels[0]
    missed = level.rows * (1 - level.coverage)
    for start in range(200, 600, 50):
        part = slice(start, start + 50)
        batch = m.ask(X[part])
        missed += (~batch.sets.covers(y[part])).sum()  # type: ignore[union-attr]
        order = np.random.default_rng(start).permutation(50)
        m.tell(batch.ids[order], y[part][order])
    assert m.summary().levels[0].coverage == pytest.approx(1 - missed / 600)


def test_intervals_are_infinite_until_enough_outcomes_are_known_and_say_so() -> None:
    X, y = rows(30)
    m = Calibrated(mean, coverage=0.9)
    with pytest.warns(FewOutcomesWarning, match="0 outcomes are known and 10 are needed"):
        lower, upper = m.predict_interval(X)
    assert np.isinf(lower).all()
    assert np.isinf(upper).all()
    m.update(X[:9], y[:9])
    assert np.isinf(m.predict_interval(X).upper).all()
    assert "9 of 10 outcomes are known" in str(m.summary())
    m.update(X[9:10], y[9:10])
    assert np.isfinite(m.predict_interval(X).upper).all()


def test_levels_are_nested_and_each_is_kept() -> None:
    X, y = rows(4000)
    m = Calibrated(mean, coverage=[0.5, 0.8, 0.95], local=[0]).update(X, y)
    lower, upper = m.predict_interval(X[:100])
    assert lower.shape == (100, 3)
    assert (np.diff(lower, axis=1) <= 0).all()
    assert (np.diff(upper, axis=1) >= 0).all()
    found = [level.coverage for level in m.summary().levels]
    np.testing.assert_allclose(found, [0.5, 0.8, 0.95], atol=0.02)


def test_levels_by_ticket_are_charged_as_by_update() -> None:
    X, y = rows(400)
    one, other = (Calibrated(mean, coverage=[0.6, 0.9], local=[0]) for _ in range(2))
    one.update(X, y)
    other.update(X[:50], y[:50])
    for t in range(50, 400):
        batch = other.ask(X[t : t + 1])
        other.tell(batch.ids[0], y[t])
    np.testing.assert_array_equal(one.predict_interval(X).upper, other.predict_interval(X).upper)


@pytest.mark.parametrize("kind", ["asymmetric", "lower", "upper"])
def test_each_end_misses_its_share(kind: Any) -> None:
    random = np.random.default_rng(0)
    X, y = random.uniform(size=(4000, 1)), random.exponential(size=4000)
    m = Calibrated(lambda X: np.zeros(len(X)), kind=kind).update(X[:3000], y[:3000])
    below = above = 0.0
    for t in range(3000, 4000):
        lower, upper = m.predict_interval(X[t : t + 1])
        below, above = below + (y[t] < lower[0]), above + (y[t] > upper[0])
        m.update(X[t : t + 1], y[t : t + 1])
    share = {"asymmetric": (50, 50), "lower": (100, 0), "upper": (0, 100)}[kind]
    assert abs(below - share[0]) < 25
    assert abs(above - share[1]) < 25
    assert (lower[0] == -np.inf) == (kind == "upper")
    assert (upper[0] == np.inf) == (kind == "lower")


def test_a_pair_of_quantile_models_is_widened_or_narrowed() -> None:
    X, y = rows(3000)
    narrow = (lambda X: mean(X) - 0.1 * mean(X), lambda X: mean(X) + 0.1 * mean(X))
    m = Calibrated(narrow, local=[0]).update(X, y)
    lower, upper = m.predict_interval(np.array([[1.0, 0.0], [9.0, 0.0]]))
    assert upper[1] - lower[1] > 2 * (upper[0] - lower[0])
    wide = (lambda X: mean(X) - 100, lambda X: mean(X) + 100)
    m = Calibrated(wide, local=[0]).update(X, y)
    assert (m.predict_interval(X).sizes < 100).all()
    assert m.summary().levels[0].coverage == pytest.approx(0.9, abs=0.02)


def test_predictions_made_elsewhere_need_no_model() -> None:
    X, y = rows(200)
    with_model, without = Calibrated(mean), Calibrated(None)
    with_model.update(X, y)
    without.update(X, y, prediction=mean(X))
    np.testing.assert_array_equal(
        without.predict_interval(X, prediction=mean(X)).lower, with_model.predict_interval(X).lower
    )
    with pytest.raises(ValueError, match="there is no model"):
        without.predict_interval(X)


def test_a_difficulty_scales_intervals() -> None:
    X, y = rows(2000)
    m = Calibrated(mean, local=(), difficulty=lambda X: 0.2 + mean(X)).update(X, y)
    sizes = m.predict_interval(np.array([[1.0, 0], [9.0, 0]])).sizes
    assert sizes[1] / sizes[0] == pytest.approx(9.2 / 1.2)


def test_an_estimator_of_difficulty_is_fitted_by_warm_up_on_the_first_half() -> None:
    X, y = rows(2000)
    m = Calibrated(mean, local=(), difficulty=LinearRegression()).warm_up(X, y)
    level = m.summary().levels[0]
    assert (level.rows, level.warm_up_rows, level.outcomes) == (0, 1000, 1000)
    assert m.difficulty_.coef_[0] == pytest.approx(0.8, abs=0.15)  # the mean of |N(0, s)|
    assert level.warm_up_coverage == pytest.approx(0.9, abs=0.03)


def test_the_models_own_deviation_is_a_difficulty() -> None:
    class WithDeviation:
        def predict(self, X: Any, return_std: bool = False) -> Any:
            return (mean(X), 0.2 + mean(X)) if return_std else mean(X)

    X, y = rows(500)
    m = Calibrated(WithDeviation(), local=(), difficulty="std").update(X, y)
    sizes = m.predict_interval(np.array([[1.0, 0], [9.0, 0]])).sizes
    assert sizes[1] / sizes[0] == pytest.approx(9.2 / 1.2)
    with pytest.raises(TypeError, match="predict_std"):
        Calibrated(mean, difficulty="std").update(X, y)


def test_frames_come_back_with_their_index() -> None:
    X, y = rows(300)
    m = Calibrated(size, local=["size"], groups=["region"]).update(frame(X), y)
    lower, upper = cast(Any, m.predict_interval(frame(X)[:5]))
    assert isinstance(lower, pd.Series)
    assert lower.name == "lower"
    assert list(upper.index) == [f"row {i}" for i in range(5)]
    several = Calibrated(size, coverage=[0.5, 0.9], local=["size"]).update(frame(X), y)
    _, ends = cast(Any, several.predict_interval(frame(X)[:5]))
    assert list(ends.columns) == ["0.5", "0.9"]
    assert list(ends.index) == list(lower.index)


def test_pandas_rows_and_outcomes_in_another_order_are_rejected() -> None:
    X, y = rows(30)
    table, shuffled = frame(X), pd.Series(y, index=frame(X).index)[::-1]
    m = Calibrated(size, local=["size"])
    for learn in (m.update, m.warm_up):
        with pytest.raises(ValueError, match="must have the same index"):
            learn(table, shuffled)
    with pytest.raises(ValueError, match="must have the same index"):
        m.ask(table, prediction=shuffled)
    assert m.summary().levels[0].outcomes == 0
    assert m.update(table, shuffled.reindex(table.index)).summary().levels[0].outcomes == 30


def test_polars_gives_the_same_numbers() -> None:
    X, y = rows(300)
    settings: dict[str, Any] = {"local": ["size"], "groups": ["region"]}
    pandas = Calibrated(size, **settings).update(frame(X), y)
    polars = Calibrated(size, **settings).update(pl.from_pandas(frame(X)), pl.Series(y))
    lower, _ = polars.predict_interval(pl.from_pandas(frame(X)))
    assert isinstance(lower, pl.Series)
    np.testing.assert_array_equal(
        np.asarray(lower), np.asarray(pandas.predict_interval(frame(X)).lower)
    )


def test_groups_have_a_promise_of_their_own_and_overlap() -> None:
    random = np.random.default_rng(0)
    table = pd.DataFrame({"a": random.choice(["x", "y"], 4000), "b": random.integers(0, 3, 4000)})
    noise = np.where(table["a"] == "x", 4.0, 1.0) * (1.0 + np.asarray(table["b"]))
    y = random.normal(0, noise)
    m = Calibrated(lambda X: np.zeros(len(X)), local=(), groups=["a", "b"]).update(table, y)
    found = {part.name: part.coverage for part in m.summary().levels[0].groups}
    assert set(found) == {"a=x", "a=y", "b=0", "b=1", "b=2"}
    np.testing.assert_allclose(list(found.values()), 0.9, atol=0.03)


def test_missing_features_are_allowed_and_are_a_group() -> None:
    X, y = rows(1500)
    X[::3, 0] = np.nan
    m = Calibrated(lambda X: np.zeros(len(X)), local=[0], groups=[]).update(X, y)
    assert np.isfinite(m.predict_interval(X[:3]).lower).all()
    assert "0 is missing" in [part.name for part in m.summary().levels[0].groups]


def test_the_summary_says_what_batches_cost() -> None:
    X, y = rows(1000)
    m = Calibrated(mean, local=[0]).warm_up(X[:500], y[:500])
    batch = m.ask(X[500:])
    assert "500 rows are pending." in str(m.summary())
    m.tell(batch.ids, y[500:])
    assert "Up to 499 rows were pending together" in str(m.summary())
    text = str(m.summary()).splitlines()
    assert text[0].startswith("Misses")
    assert text[1].startswith("coverage ")


def test_a_broken_promise_comes_first() -> None:
    X, y = rows(200)
    m = Calibrated(mean, local=()).update(X, y)
    for t in range(60):  # nothing can cover an outcome that is chosen afterwards
        batch = m.ask(X[t : t + 1])
        m.tell(batch.ids, np.asarray(batch.sets.upper) + 1)  # type: ignore[union-attr]
    assert not m.summary().verdict.good
    assert str(m.summary()).startswith("Misses 2")


def test_scikit_learn_can_clone_fit_and_pipe_it() -> None:
    X, y = rows(500)
    m = Calibrated(LinearRegression(), coverage=0.8, groups=[1])
    assert clone(m).get_params()["coverage"] == 0.8
    piped = make_pipeline(StandardScaler(), Calibrated(LinearRegression())).fit(X, y)
    np.testing.assert_allclose(
        piped.predict(X), make_pipeline(StandardScaler(), LinearRegression()).fit(X, y).predict(X)
    )
    m.fit(X, y)
    assert not hasattr(m.model, "coef_")  # a clone is fitted
    assert m.model_.coef_.shape == (2,)
    m.set_params(model__fit_intercept=False)
    assert m.get_params()["model__fit_intercept"] is False


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"coverage": 1.0}, "coverage must lie between 0 and 1"),
        ({"coverage": [0.9, 0.5]}, "ascending order"),
        ({"kind": "round"}, "kind must be one of"),
        ({"per_class": True}, "applies to label sets"),
        ({"local": ["size"]}, "there is no column 'size' in an array"),
        ({"local": [2]}, "there is no column 2"),
        ({"local": [0], "cyclic": {1: 24}}, "not in local"),
        ({"groups": ["region"]}, "there is no column 'region'"),
    ],
)
def test_errors_name_the_rule(settings: dict[str, Any], words: str) -> None:
    X, y = rows(20)
    with pytest.raises(ValueError, match=words):
        Calibrated(mean, **settings).update(X, y)


def test_a_class_in_place_of_a_fitted_model_is_named() -> None:
    X, y = rows(20)
    with pytest.raises(TypeError, match="is the class LinearRegression"):
        Calibrated(LinearRegression).update(X, y)


def test_outcomes_in_a_table_say_which_column_to_pass() -> None:
    X, y = rows(20)
    with pytest.raises(ValueError, match=r"got shape \(20, 1\) for 20 row\(s\)\. Pass a single"):
        Calibrated(mean).update(X, y[:, None])


def test_bad_outcomes_change_nothing() -> None:
    X, y = rows(100)
    m = Calibrated(mean, coverage=[0.5, 0.9], local=[0]).update(X, y)
    before = m.predict_interval(X).upper
    for wrong in (y[:50], np.full(100, np.nan), np.array(["a"] * 100)):
        with pytest.raises((TypeError, ValueError)):
            m.update(X, wrong)
    batch = m.ask(X[:3])
    with pytest.raises(LookupError, match="not pending"):
        m.tell([*batch.ids, 999], y[:4])
    with pytest.raises(ValueError, match="distinct"):
        m.tell([batch.ids[0], batch.ids[0]], y[:2])
    m.forget(batch.ids)
    assert len(m.pending) == 0
    assert m.summary().levels[0].outcomes == 100
    assert m.predict_interval(X).upper.shape == before.shape
    with pytest.raises(LookupError, match="not pending"):
        m.tell(batch.ids, y[:3])


def test_the_wrong_kind_of_set_is_named() -> None:
    X, y = rows(20)
    m = Calibrated(mean).update(X, y)
    with pytest.raises(TypeError, match="use predict_interval"):
        m.predict_set(X)
