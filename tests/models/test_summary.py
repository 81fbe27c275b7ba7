"""Summaries: what they lead with, and rows that were shown apart from others."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

from localarc import AutoLARC
from localarc.betting import AutoCertificate
from localarc.betting.sums import Sums
from localarc.models import Calibrated
from localarc.validation import FloatArray


def rows(count: int) -> tuple[FloatArray, FloatArray]:
    """Noise that grows with the first feature; the model below knows the mean."""
    random = np.random.default_rng(0)
    X = random.uniform(0, 10, (count, 2))
    return X, X[:, 0] + random.normal(0, 0.2 + X[:, 0], count)


def uneven(count: int) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Noise that grows with the third feature."""
    random = np.random.default_rng(0)
    X = np.column_stack([random.uniform(0, 10, (count, 2)), random.uniform(20, 200, count)])
    return X, X[:, 0] + random.normal(0, np.where(X[:, 2] > 140, 3, 1), count), X[:, 2]


def mean(X: Any) -> FloatArray:
    return np.asarray(X)[:, 0].astype(float)


def first(X: Any) -> FloatArray:
    return np.asarray(X["a"], float)


def test_a_summary_leads_with_a_third_of_a_column_that_nobody_named() -> None:
    X, y, area = uneven(6000)
    found = Calibrated(mean, local=[0]).warm_up(X[:1000], y[:1000]).update(X[1000:], y[1000:])
    summary = found.summary()
    assert summary.verdict.state == "not kept"
    assert re.match(
        "The third with column 2 above 1[0-9.]+ misses 2[0-9.]+ %, ", summary.verdict.text
    )
    missed = 1 - summary.levels[0].thirds[0].coverage
    third = np.quantile(area[1000:], 2 / 3)
    assert summary.levels[0].thirds[0].name == f"column 2 above {third:.4g}"
    assert missed > 0.2
    named = Calibrated(mean, local=[0, 2]).update(X, y).summary()
    assert named.verdict.state == "kept"
    assert "worst of its 9 thirds of columns: 1" in named.verdict.text


def test_a_healthy_model_is_not_accused_however_many_columns_it_has() -> None:
    random = np.random.default_rng(0)
    for columns in (3, 30, 384):
        X = random.normal(size=(3000, columns))
        m = Calibrated(lambda X: X[:, 0], local=[0]).update(X, X[:, 0] + random.normal(size=3000))
        assert m.summary().verdict.state == "kept"
        assert f"thirds of {columns:,} columns in" in str(m.summary())


@pytest.mark.slow
@pytest.mark.parametrize("columns", [3, 30, 384])
@pytest.mark.parametrize("coverage", [0.8, 0.9, 0.95])
def test_none_of_180_healthy_models_is_accused(coverage: float, columns: int) -> None:
    for seed in range(20):
        random = np.random.default_rng(seed)
        rounds = (600, 2000, 6000)[seed % 3]
        X = random.normal(size=(rounds, columns))
        X = np.exp(X).round(1) if seed % 2 else X  # skewed, with ties
        noise = random.standard_t(2, rounds) * np.where(X[:, 0] > 1, 4, 1)
        m = Calibrated(mean, coverage, local=[0])
        for start in range(0, rounds, 500):
            part = slice(start, start + 500)
            m.update(X[part], X[part, 0] + noise[part])
        assert m.summary().verdict.state == "kept"


def test_a_sample_has_bounded_memory_and_misses_no_more_than_all_rows(tmp_path: Path) -> None:
    random = np.random.default_rng(0)
    wide = random.normal(size=(20_000, 384))
    m = Calibrated(lambda X: X[:, 0], local=[0])
    for start in range(0, len(wide), 1000):
        part = wide[start : start + 1000]
        m.update(part, part[:, 0] + random.normal(size=1000))
    m.save(tmp_path / "file")
    assert (tmp_path / "file").stat().st_size < 2.5e6
    level = m.summary().levels[0]
    assert re.search("384 columns in [0-9],?[0-9]{3} rows sampled of 20,000", level.looked_at)
    for _ in range(3):  # rows come back from a file, and go on
        m = Calibrated.load(tmp_path / "file", m.model)
    assert repr(m.summary().levels[0]) == repr(level)  # in which NaN is NaN


def test_rows_of_a_warm_up_are_counted_apart_from_rows_that_were_shown() -> None:
    X, y = rows(1200)
    m = Calibrated(mean, local=[0]).warm_up(X[:400], y[:400])
    only = m.summary()
    assert only.verdict.text.startswith("No outcome of a row shown so far. Warm-up: Misses ")
    assert (only.levels[0].rows, only.levels[0].warm_up_rows) == (0, 400)
    batch = m.ask(X[400:])
    missed = ~batch.sets.covers(y[400:])  # type: ignore[union-attr]
    m.tell(batch.ids, y[400:])
    level = m.summary().levels[0]
    assert (level.rows, level.warm_up_rows) == (800, 400)
    assert level.coverage == pytest.approx(1 - missed.mean())
    assert level.warm_up_coverage == only.levels[0].warm_up_coverage < 1.0
    assert "of 400 rows, shown to nobody" in str(m.summary())


@pytest.mark.filterwarnings("ignore::localarc.models.FewOutcomesWarning")
@pytest.mark.parametrize("late", [False, True])
def test_a_row_with_an_unbounded_set_is_no_miss(late: bool, tmp_path: Path) -> None:
    X, y = rows(30)
    m = Calibrated(mean, coverage=0.9)
    if late:
        batch = m.ask(X)
        assert np.isinf(batch.sets.upper).all()  # type: ignore[union-attr]
        m.save(tmp_path / "file")
        m = Calibrated.load(tmp_path / "file", mean).tell(batch.ids[::-1], y[::-1])
    else:
        m.update(X[:10], y[:10])
    level = m.summary().levels[0]
    assert level.coverage == 1.0
    assert level.rows == level.unbounded == (30 if late else 10)
    assert "with unbounded sets" in str(level)


@pytest.mark.parametrize("kind", ["symmetric", "asymmetric", "upper"])
def test_a_summary_leads_with_a_bound_that_the_misses_have_passed(
    kind: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    X, y = rows(400)
    model = Calibrated(mean, kind=kind).update(X, y)
    assert model.summary().verdict.state == "kept"
    monkeypatch.setattr(Sums, "most_gain", lambda *_: 0.0)  # as if the theorem were false
    verdict = model.summary().verdict
    assert verdict.state == "not kept"
    assert "further away than the bound" in verdict.text
    assert "One of its assumptions fails" in verdict.text


def test_losses_that_one_end_of_an_interval_has_lost_lead(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = rows(400)
    model, certificate, ends = Calibrated(mean, kind="asymmetric"), AutoLARC.certificate, []

    def lost_by_the_second(cal: AutoLARC) -> AutoCertificate:
        ends.append(cal)
        return replace(certificate(cal), consistent=cal is ends[0])

    model.update(X, y)
    monkeypatch.setattr(AutoLARC, "certificate", lost_by_the_second)
    assert model.summary().verdict.state == "inconsistent"
    assert len({*map(id, ends)}) == 2


def test_a_group_with_few_rows_is_named_with_too_few() -> None:
    X, y = rows(600)
    X[:, 1] = np.arange(600) >= 590
    summary = Calibrated(mean, local=[0], groups=[1]).update(X, y).summary()
    assert "too few in 1=1 (10)" in summary.verdict.text
    assert "of 10 rows, too few to judge" in str(summary)


@pytest.mark.filterwarnings("ignore::localarc.models.FewOutcomesWarning")
def test_a_value_that_inflates_sets_is_news_although_the_misses_are_right() -> None:
    X, y = rows(3000)
    healthy = Calibrated(mean, local=[0]).update(X, y).summary()
    assert healthy.verdict.state == "kept"
    y[::200] = -9999.0  # which some sensors write where they have no value
    m = Calibrated(mean, local=[0])
    for start in range(0, 3000, 50):
        part = slice(start, start + 50)
        m.tell(m.ask(X[part]).ids, y[part])
    assert m.summary().verdict.state == "cautious"
    assert re.search(r"[0-9.]+ times as large as a rolling quantile's\.", str(m.summary()))


def test_columns_of_any_frame_and_rows_one_by_one_are_looked_at() -> None:
    X, y, _ = uneven(900)
    table = pd.DataFrame(X, columns=["a", "b", "c"]).assign(text="x", flag=X[:, 2] > 100)
    table["gaps"] = pd.array([1, None, 3] * 300, "Int64")
    for frame in (table, pl.from_pandas(table)):
        m = Calibrated(first, local=["a"]).update(frame, y)
        m.update(frame[:10][["a", "b"]], y[:10])  # the others are missing
        names = {third.name.split(" ")[0] for third in m.summary().levels[0].thirds}
        assert "c" in names
        assert "5 columns in 910 rows" in m.summary().levels[0].looked_at
    one = Calibrated(lambda x: x[:, 0], local=["a"])
    for row, outcome in zip(table[["a", "c"]].to_dict("records"), y, strict=True):
        one.learn_one(row, outcome)
    assert "2 columns in 900 rows" in one.summary().levels[0].looked_at


def test_a_state_from_before_counts_all_its_rows_as_shown() -> None:
    stored = Path(__file__).parents[1] / "golden" / "models_v4" / "calibrated_intervals.bin"
    level = Calibrated.load(stored, mean).summary().levels[0]
    assert level.rows == level.learned == 60
    assert level.coverage == pytest.approx(level.learned_coverage)
    assert (level.warm_up_rows, level.thirds) == (0, ())
