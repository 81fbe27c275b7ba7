"""A retrained model: units start anew, the promise goes on."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import LinearRegression, LogisticRegression

from localarc import AutoLARC, LabelSets
from localarc.models import Calibrated
from localarc.validation import FloatArray

N = 3000
RANDOM = np.random.default_rng(0)
X = RANDOM.uniform(0, 10, (N, 1))
Y = X[:, 0] + RANDOM.normal(0, 0.2 + X[:, 0])


def mean(rows: Any) -> FloatArray:
    return np.asarray(rows)[:, 0].astype(float)


def scaled(factor: float) -> Any:
    return lambda rows: factor * mean(rows)


def thousandfold(rows: Any) -> FloatArray:
    return 1000.0 * mean(rows)


def test_the_promise_continues_in_other_units() -> None:
    third, scale = N // 3, np.repeat([1.0, 1000.0, 0.001], N // 3)
    m = Calibrated(mean, local=[0])
    for k, factor in enumerate((1.0, 1000.0, 0.001)):
        part = slice(k * third, (k + 1) * third)
        if k:
            m.replace_model(scaled(factor))
        m.update(X[part], (scale * Y)[part])
        sizes = m.predict_interval(np.array([[1.0], [9.0]])).sizes / factor
        assert 1 < sizes[0] < 10 < sizes[1] < 60
        level = m.summary().levels[0]
        assert level.outcomes == (k + 1) * third
        assert level.at_least <= level.coverage <= level.at_most
        assert level.coverage == pytest.approx(0.9, abs=0.015)
    assert m.summary().verdict.good


def test_few_rows_in_other_units_suffice_after_a_restart_alone() -> None:
    kept, replaced = (Calibrated(mean, local=[0]).update(X[:1000], Y[:1000]) for _ in range(2))
    replaced.replace_model(lambda rows: 0.001 * mean(rows), X[1000:1020], 0.001 * Y[1000:1020])
    kept.update(X[1000:1020], 0.001 * Y[1000:1020], prediction=0.001 * mean(X[1000:1020]))
    probe = np.array([[5.0]])
    wide = kept.predict_interval(probe, prediction=np.array([0.005])).sizes[0]
    assert replaced.predict_interval(probe).sizes[0] < 0.1 * wide


def test_a_new_classifier_keeps_the_promise_of_every_class() -> None:
    labels = (RANDOM.uniform(size=N) < 0.2).astype(int)
    rows = RANDOM.normal(size=(N, 1)) + 1.5 * labels[:, None]
    sharp = LogisticRegression().fit(rows[:200], labels[:200])
    dull = LogisticRegression(C=1e-3).fit(rows[:200], labels[:200])
    m = Calibrated(sharp, per_class=True).update(rows[200:1500], labels[200:1500])
    m.replace_model(dull, rows[1500:1700], labels[1500:1700]).update(rows[1700:], labels[1700:])
    for part in m.summary().levels[0].groups:
        assert part.coverage == pytest.approx(0.9, abs=0.03)
        assert part.coverage >= part.at_least
    other = LogisticRegression().fit(rows[:200], labels[:200] + 5)
    with pytest.raises(ValueError, match="other classes"):
        m.replace_model(other)


def test_pending_rows_must_be_told_or_forgotten_first() -> None:
    m = Calibrated(mean).update(X[:50], Y[:50])
    batch = m.ask(X[50:53])
    with pytest.raises(RuntimeError, match="3 rows of the old model are pending"):
        m.replace_model(thousandfold)
    assert m.model is mean
    m.forget(batch.ids).replace_model(thousandfold)
    assert m.model is thousandfold


def test_a_failed_replacement_changes_nothing() -> None:
    m = Calibrated(mean, difficulty=LinearRegression()).warm_up(X[:400], Y[:400])
    before, fitted = m.predict_interval(X[:9]), m.difficulty_
    calls: list[tuple[Any, ...]] = [
        (thousandfold, X[:20], np.full(20, np.nan)),
        (thousandfold, X[:20], Y[:19]),
        (lambda rows: np.zeros((len(rows), 5)), X[:20], Y[:20]),
        (thousandfold, X[:20]),
    ]
    for call in calls:
        with pytest.raises(ValueError, match=r"y|shape"):
            m.replace_model(*call)
        assert m.model is mean
        assert m.difficulty_ is fitted
        np.testing.assert_array_equal(m.predict_interval(X[:9]).upper, before.upper)


def test_a_failed_warm_up_fixes_nothing() -> None:
    text = [["x"], ["y"]]
    m = Calibrated(lambda rows: np.zeros(len(rows)), local=[0])
    with pytest.raises(ValueError, match="y must"):
        m.warm_up(text, [0.0, np.nan])
    m.warm_up([["a"], ["b"], ["c"]], [0.0, 1.0, 2.0])
    assert [*m._calibration.columns.names] == ["0=a", "0=b", "0=c"]


def test_a_restarted_model_is_saved_and_goes_on(tmp_path: Path) -> None:
    m = Calibrated(mean, [0.5, 0.9], local=[0]).update(X[:300], Y[:300])
    m.replace_model(thousandfold)
    m.save(tmp_path / "file")
    other = Calibrated.load(tmp_path / "file", thousandfold)
    for model in (m, other):
        model.update(X[300:600], 1000 * Y[300:600])
    for one, two in zip(m.predict_interval(X[:9]), other.predict_interval(X[:9]), strict=True):
        np.testing.assert_array_equal(one, two)


# ---- any sequence, any restarts --------------------------------------------------------------

# What a stretch between two restarts looks like: its length, the unit of its scores, their shift.
stretch = st.tuples(
    st.integers(1, 60), st.sampled_from([1e-3, 1.0, 1e3]), st.sampled_from([-5.0, 0.0, 5.0])
)
stretches = st.lists(stretch, min_size=1, max_size=6)


@pytest.mark.slow
@settings(deadline=None, max_examples=40)
@given(stretches, st.integers(0, 2**16), st.sampled_from([0.05, 0.2, 0.5]))
def test_no_bound_of_theorem_e_is_passed_whatever_restarts(
    parts: list[tuple[int, float, float]], seed: int, alpha: float
) -> None:
    cal, random, losses = AutoLARC(alpha), np.random.default_rng(seed), []
    for length, unit, shift in parts:
        X = random.uniform(size=(length, 1))
        scores = unit * (shift + random.normal(size=length) * (1 + 3 * X[:, 0]))
        groups = [["even"] if t % 2 else ["odd"] for t in range(length)]
        losses.append(cal.cover(X, scores, groups)[1])
        cal = AutoLARC.from_state(cal.restart_units().state())
        _check(cal.certificate(losses=np.concatenate(losses)))


@settings(deadline=None, max_examples=25)
@given(stretches, st.integers(0, 2**16), st.sampled_from([0.1, 0.3]))
def test_no_bound_of_a_class_is_passed_whatever_restarts(
    parts: list[tuple[int, float, float]], seed: int, alpha: float
) -> None:
    cal, random = LabelSets(alpha, labels=[0, 1]), np.random.default_rng(seed)
    for length, unit, shift in parts:
        for _ in range(length):
            label = int(random.uniform() < 0.3)
            cal.update(None, unit * (shift + random.normal(size=2)), label)
        cal = LabelSets.from_state(cal.restart_units().state())
        _check(cal.certificate())


def _check(certificate: Any) -> None:
    assert certificate.consistent
    for part in (certificate, *certificate.groups.values()):
        if part.above.holds:
            assert part.risk <= part.alpha + part.above.value + 1e-9
        if part.below.holds:
            assert part.risk >= part.alpha - part.below.value - 1e-9
