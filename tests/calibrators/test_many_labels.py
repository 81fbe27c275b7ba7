"""Batches of LabelSets: bit for bit what as many single calls do."""

from __future__ import annotations

from typing import Any, cast

import numpy as np
import pytest

from localarc import LabelSets
from localarc.calibrators.auto import many_labels
from localarc.validation import FloatArray

N, K = 240, 4
RANDOM = np.random.default_rng(0)
X = RANDOM.normal(size=(N, 2))
SCORES = RANDOM.uniform(size=(N, K)) ** 2
TRUE = RANDOM.choice(K, N, p=[0.6, 0.25, 0.1, 0.05])
GAPS = np.where(RANDOM.uniform(size=X.shape) < 0.1, np.nan, X)
GROUPS: list[Any] = [["even", "a"] if t % 2 == 0 else ["odd"] for t in range(N)]

PLACES: dict[str, tuple[FloatArray, Any]] = {
    "features": (X, None),
    "nothing": (np.empty((N, 0)), None),
    "groups": (X, GROUPS),
    "gaps": (GAPS, GROUPS),
}
each = pytest.mark.parametrize("place", PLACES.values(), ids=PLACES.keys())


def single(place: tuple[FloatArray, Any], t: int) -> tuple[Any, Any]:
    points, groups = place
    return (points[t] if points.shape[1] else None), (() if groups is None else groups[t])


def some(groups: Any, part: slice) -> Any:
    return None if groups is None else groups[part]


@each
def test_rows_learned_together_are_learned_one_by_one(place: Any) -> None:
    one, many = (LabelSets(0.1, labels=range(K)) for _ in range(2))
    expected = []
    for t in range(N):
        x, groups = single(place, t)
        expected.append([*one.thresholds(x, groups).values()])
        one.update(x, SCORES[t], int(TRUE[t]), groups)
    for start in range(0, N, 60):
        part = slice(start, start + 60)
        found = many_labels.learn(
            many, place[0][part], SCORES[part], TRUE[part], some(place[1], part)
        )
        np.testing.assert_array_equal(found, expected[part])
    assert many.state() == one.state()


@each
def test_rows_asked_together_are_asked_one_by_one(place: Any) -> None:
    one, many = (LabelSets(0.1, labels=range(K)) for _ in range(2))
    order = np.random.default_rng(1).permutation(40)
    for start in range(0, N, 40):
        part = slice(start, start + 40)
        looked = many_labels.thresholds(many, place[0][part], some(place[1], part))
        ids, found = many_labels.ask(many, place[0][part], SCORES[part], some(place[1], part))
        np.testing.assert_array_equal(looked, _peeked(one, place, part))
        for i, t in enumerate(range(start, start + 40)):
            x, groups = single(place, t)
            ticket = one.ask(x, SCORES[t], groups)
            assert ticket.id == ids[i]
            assert [*ticket.thresholds.values()] == found[i].tolist()
        assert many.pending == one.pending
        told, left = order[:35], order[35:]
        many_labels.tell(many, ids[told], TRUE[part][told])
        for i in told:
            one.tell(int(ids[i]), int(TRUE[part][i]))
        for i in left:
            one.forget(int(ids[i]))
            many.forget(int(ids[i]))
    assert many.state() == one.state()


def _peeked(cal: LabelSets, place: Any, part: slice) -> FloatArray:
    rows = [single(place, t) for t in range(part.start, part.stop)]
    return np.array([[*cal.thresholds(x, groups).values()] for x, groups in rows])


def test_a_label_older_than_all_recent_scores_keeps_its_own() -> None:
    random = np.random.default_rng(2)
    true = np.where(np.arange(700) < 40, np.arange(700) % 2, 0)
    scores = random.uniform(size=(700, 2)) * np.where(true == 1, 9.0, 1.0)[:, None]
    nothing = np.empty((700, 0))
    one, many = (LabelSets(0.1, labels=range(2)) for _ in range(2))
    for t in range(700):
        one.update(None, scores[t], int(true[t]))
    many_labels.learn(many, nothing, scores, true, None)
    expected = [*one.thresholds().values()]
    assert many_labels.thresholds(many, nothing[:1], None)[0].tolist() == expected
    assert expected[1] > 1.0  # no recent score of all labels is as large
    assert many.state() == one.state()


def test_invalid_rows_change_nothing() -> None:
    cal = LabelSets(0.1, labels=range(K))
    many_labels.learn(cal, X[:50], SCORES[:50], TRUE[:50], None)
    before, wrong = cal.state(), cast(Any, [["a"], [{}]])
    with pytest.raises(ValueError, match="X must"):
        many_labels.learn(cal, np.full((3, 2), np.inf), SCORES[:3], TRUE[:3], None)
    with pytest.raises(ValueError, match="a group must be"):
        many_labels.ask(cal, X[:2], SCORES[:2], wrong)
    assert cal.state() == before
