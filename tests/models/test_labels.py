"""Calibrated classifiers: label sets by four scores, and coverage of every true class."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression, RidgeClassifier

from localarc.models import Calibrated, FewOutcomesWarning
from localarc.models.kinds.labels import label_scores
from localarc.validation import FloatArray

NAMES = np.array(["ant", "bee", "cat"])


def rows(count: int, seed: int = 0) -> tuple[FloatArray, Any]:
    """Three classes, the third of them rare and hard to tell from the second."""
    random = np.random.default_rng(seed)
    y = random.choice(3, count, p=[0.5, 0.4, 0.1])
    X = np.array([[0.0, 0.0], [3.0, 0.0], [3.5, 1.0]])[y] + random.normal(0, 1, (count, 2))
    return X, NAMES[y]


@pytest.fixture(scope="module")
def model() -> LogisticRegression:
    return LogisticRegression().fit(*rows(500, seed=9))


@pytest.mark.parametrize("kind", ["auto", "probability", "aps", "raps", "margin"])
def test_sets_contain_the_true_label_as_often_as_promised(model: Any, kind: Any) -> None:
    X, y = rows(3000)
    m = Calibrated(model, coverage=0.9, kind=kind).update(X, y)
    assert m.summary().levels[0].coverage == pytest.approx(0.9, abs=0.01)
    found = m.predict_set(X[:200])
    assert np.asarray(found).shape == (200, 3)
    assert found.labels[0] == tuple(NAMES[np.asarray(found)[0]])
    np.testing.assert_array_equal(found.sizes, np.asarray(found).sum(axis=1))


def test_per_class_covers_the_rare_class_too(model: Any) -> None:
    X, y = rows(6000)
    overall = Calibrated(model, coverage=0.9)
    each = Calibrated(model, coverage=0.9, per_class=True)
    rare = {}
    for name, m in {"overall": overall, "each": each}.items():
        m.update(X[:3000], y[:3000])
        hits = []
        for start in range(3000, 6000, 10):
            part = slice(start, start + 10)
            batch = m.ask(X[part])
            hits.append(batch.sets.covers(y[part]))  # type: ignore[union-attr]
            m.tell(batch.ids, y[part])
        rare[name] = np.concatenate(hits)[y[3000:] == "cat"].mean()
    assert rare["overall"] < 0.8
    assert rare["each"] == pytest.approx(0.9, abs=0.05)
    named = {part.name: part.coverage for part in each.summary().levels[0].groups}
    assert set(named) == {"class ant", "class bee", "class cat"}
    np.testing.assert_allclose(list(named.values()), 0.9, atol=0.04)


def test_levels_of_labels_are_nested(model: Any) -> None:
    X, y = rows(1000)
    for per_class in (False, True):
        m = Calibrated(model, coverage=[0.6, 0.9], per_class=per_class).update(X, y)
        members = np.asarray(m.predict_set(X))
        assert members.shape == (1000, 3, 2)
        assert (members[:, :, 0] <= members[:, :, 1]).all()


def test_nothing_is_excluded_before_enough_labels_are_known(model: Any) -> None:
    X, _y = rows(20)
    m = Calibrated(model)
    with pytest.warns(FewOutcomesWarning):
        assert np.asarray(m.predict_set(X)).all()


def test_scores_by_hand() -> None:
    p = np.array([[0.5, 0.3, 0.2]])
    against = np.log([[1.0, 7 / 3, 4.0]])
    np.testing.assert_allclose(label_scores(p, "probability"), against, atol=1e-5)
    np.testing.assert_allclose(label_scores(p, "aps"), [[0.5, 0.8, 1.0]])
    np.testing.assert_allclose(label_scores(p, "margin"), [[-0.2, 0.2, 0.3]])
    many = np.array([[0.3, 0.2, 0.15, 0.12, 0.1, 0.08, 0.05]])
    extra = label_scores(many, "raps") - label_scores(many, "aps")
    np.testing.assert_allclose(extra, [[0, 0, 0, 0, 0, 0.01, 0.02]], atol=1e-12)


def test_impossible_and_certain_labels_have_finite_scores_in_order() -> None:
    scores = label_scores(np.array([[0.0, 1e-4, 0.9999, 1.0]]), "probability")[0]
    assert np.isfinite(scores).all()
    assert (np.diff(scores) < 0.0).all()


def test_thresholds_that_move_admit_few_of_many_unlikely_labels() -> None:
    random = np.random.default_rng(0)
    y = random.integers(10, size=4000)
    logits = 4.0 * random.normal(size=(4000, 10))
    logits[np.arange(4000), y] += np.linspace(2.0, 9.0, 10)[y]
    p = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    X = np.zeros((4000, 0))
    m = Calibrated(None, classes=range(10), kind="probability", per_class=True, local=())
    m.update(X, y, prediction=p)
    least = np.array([np.quantile(p[y == k, k], 0.1) for k in range(10)])  # known in hindsight
    assert m.summary().levels[0].mean_size < 1.15 * (p >= least).sum(axis=1).mean()


def test_margins_of_tied_labels_are_zero() -> None:
    np.testing.assert_array_equal(
        label_scores(np.array([[0.4, 0.4, 0.2]]), "margin")[0, :2], [0, 0]
    )


def test_a_classifier_without_probabilities_is_not_taken_for_a_regressor() -> None:
    X, y = rows(100)
    classifier = RidgeClassifier().fit(X, y == "ant")  # whose labels look like numbers
    with pytest.raises(TypeError, match="RidgeClassifier is a classifier without predict_proba"):
        Calibrated(classifier).update(X, y == "ant")


def test_probabilities_made_elsewhere_need_classes(model: Any) -> None:
    X, y = rows(300)
    p = model.predict_proba(X)
    m = Calibrated(None, classes=NAMES).update(X, y, prediction=p)
    assert set(m.predict_set(X, prediction=p).labels[0]) <= set(NAMES)
    with pytest.raises(ValueError, match="label 'dog' is not one of the classes"):
        m.update(X[:1], ["dog"], prediction=p[:1])
    with pytest.raises(ValueError, match="there are 3 classes and 2 probabilities"):
        m.update(X[:1], ["ant"], prediction=p[:1, :2])


def test_groups_and_places_of_a_classifier(model: Any) -> None:
    X, y = rows(2000)
    table = pd.DataFrame(X, columns=["a", "b"])
    table["site"] = np.where(np.arange(2000) % 2, "east", "west")
    predict = lambda X: model.predict_proba(np.asarray(X[["a", "b"]], float))  # noqa: E731
    m = Calibrated(predict, classes=NAMES, local=["a"], groups=["site"], per_class=True)
    m.update(table, y)
    names = {part.name for part in m.summary().levels[0].groups}
    assert {"class ant", "class ant and site=east"} <= names
