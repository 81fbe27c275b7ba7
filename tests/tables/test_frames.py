"""Frames in, frames out: pandas and polars give the numbers of arrays, and the index survives."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

from localarc import ARC, LARC, RBF, AutoLARC, Mondrian, Record, measures, replay, replay_many
from localarc.curves import miscoverage
from localarc.sets import interval, interval_from_quantiles, label_set

N = 200
RANDOM = np.random.default_rng(0)
X = RANDOM.uniform(size=(N, 2))
SCORES = RANDOM.uniform(size=N)
REGIONS = RANDOM.choice(["north", "south"], N).tolist()
AGES = RANDOM.choice(["old", "young"], N).tolist()
CURVES = miscoverage(SCORES)
INDEX = pd.date_range("2025-01-01", periods=N, freq="h")
COLUMNS = {"x": X[:, 0], "z": X[:, 1], "region": REGIONS}


def of_pandas(columns: dict[str, Any]) -> pd.DataFrame:
    return pd.DataFrame(columns, index=INDEX)


Make = Callable[[dict[str, Any]], Any]
both = pytest.mark.parametrize("make", [of_pandas, pl.DataFrame], ids=["pandas", "polars"])


def framed(made: Any) -> Any:
    """What `to_frame` returned."""
    return made.to_frame()


def same(left: Record, right: Record) -> bool:
    pairs = ((left.thresholds, right.thresholds), (left.losses, right.losses))
    return all(np.array_equal(a, b) for a, b in pairs) and left.groups == right.groups


@both
@pytest.mark.parametrize("build", [lambda: AutoLARC(0.1), lambda: LARC(0.1, RBF(0.3))])
def test_a_frame_gives_the_thresholds_of_its_array(make: Make, build: Callable[[], Any]) -> None:
    from_array = replay(build(), X, CURVES, REGIONS)
    assert same(replay(build(), make(COLUMNS), CURVES, "region"), from_array)
    features = make({"x": X[:, 0], "z": X[:, 1]})
    assert same(replay(build(), features, CURVES, make(COLUMNS)["region"]), from_array)


@both
def test_a_text_column_is_what_mondrian_splits_by(make: Make) -> None:
    cal = Mondrian(lambda: ARC(0.1))
    record = replay(cal, make(COLUMNS), CURVES, "region")
    assert set(cal.calibrators) == {"north", "south"}
    assert record.groups == tuple(REGIONS)


@both
def test_several_columns_give_every_round_several_groups(make: Make) -> None:
    frame = make(COLUMNS | {"age": AGES})
    record = replay(AutoLARC(0.1), frame, CURVES, ["region", "age"])
    several: list[Any] = [[f"region={r}", f"age={a}"] for r, a in zip(REGIONS, AGES, strict=True)]
    assert same(record, replay(AutoLARC(0.1), X, CURVES, several))
    groups = make({"region": REGIONS, "age": AGES})
    assert same(replay(AutoLARC(0.1), X, CURVES, groups), record)


@both
def test_missing_groups_are_a_group_of_their_own(make: Make) -> None:
    frame = make({"x": X[:, 0], "region": [None, *REGIONS[1:]]})
    record = replay(Mondrian(lambda: ARC(0.1)), frame, CURVES, "region")
    assert (record.groups or ())[0] == "region is missing"


@pytest.mark.parametrize("dtype", ["object", "str", "string", "category"])
def test_every_kind_of_missing_value_of_pandas_is_recognized(dtype: str) -> None:
    series = pd.Series([None, *REGIONS[1:]], INDEX, dtype=dtype, name="region")
    groups = replay(ARC(0.1), None, CURVES, series).groups or ()
    assert groups[:2] == ("region is missing", REGIONS[1])


def test_results_are_of_the_first_library_where_two_are_mixed() -> None:
    record = replay(ARC(0.1), pl.DataFrame({"x": X[:, 0]}), CURVES, pd.Series(REGIONS, INDEX))
    assert isinstance(record.to_frame(), pl.DataFrame)


def test_a_record_is_a_frame_with_the_index_of_the_inputs() -> None:
    table = framed(replay(AutoLARC(0.1), of_pandas(COLUMNS), CURVES, "region"))
    assert isinstance(table, pd.DataFrame)
    assert table.index.equals(INDEX)
    assert list(table) == ["round", "group", "threshold", "loss", "size"]
    assert table["group"].tolist() == REGIONS
    pd.testing.assert_frame_equal(
        table, replay(AutoLARC(0.1), of_pandas(COLUMNS), CURVES, "region").to_pandas()
    )


def test_a_record_of_polars_is_a_frame_of_polars() -> None:
    record = replay(AutoLARC(0.1), pl.DataFrame(COLUMNS), CURVES, "region")
    table = framed(record)
    assert isinstance(table, pl.DataFrame)
    assert table["loss"].to_list() == record.losses.tolist()


@both
def test_rounds_with_several_groups_can_be_a_frame(make: Make) -> None:
    frame = make(COLUMNS | {"age": AGES})
    table = framed(replay(AutoLARC(0.1), frame, CURVES, ["region", "age"]))
    assert next(iter(table["group"])) == f"region={REGIONS[0]}, age={AGES[0]}"


def test_the_index_also_comes_from_the_groups_alone() -> None:
    record = replay(ARC(0.1), None, CURVES, pd.Series(REGIONS, index=INDEX))
    assert framed(record).index.equals(INDEX)


@both
def test_many_calibrators_run_over_a_frame(make: Make) -> None:
    runs = replay_many([ARC(0.1), ARC(0.2)], make(COLUMNS), CURVES, "region")
    arrays = replay_many([ARC(0.1), ARC(0.2)], X, CURVES, REGIONS)
    assert all(same(a, b) for a, b in zip(runs, arrays, strict=True))
    assert len(framed(runs[1])) == N


def test_a_record_of_arrays_has_no_frame() -> None:
    with pytest.raises(TypeError, match=r"use to_pandas\(\) or columns\(\)"):
        framed(replay(ARC(0.1), X, CURVES))


@both
def test_text_that_is_no_group_is_rejected_by_name(make: Make) -> None:
    cal = AutoLARC(0.1)
    with pytest.raises(TypeError, match="got text, dates or categories in 'region'"):
        replay(cal, make(COLUMNS), CURVES)
    assert cal.rounds == 0


@both
def test_a_column_that_is_not_there_is_named(make: Make) -> None:
    with pytest.raises(ValueError, match="groups='city' must name a column of X"):
        replay(ARC(0.1), make(COLUMNS), CURVES, "city")


def test_rows_in_another_order_are_rejected() -> None:
    shuffled = of_pandas(COLUMNS)["region"].iloc[::-1]
    with pytest.raises(ValueError, match="must have the same index"):
        replay(ARC(0.1), of_pandas({"x": X[:, 0]}), CURVES, shuffled)
    with pytest.raises(ValueError, match="must have the same index"):
        interval(pd.Series(SCORES, INDEX), pd.Series(SCORES, INDEX[::-1]))


@both
def test_intervals_of_a_series_are_series_and_a_frame(make: Make) -> None:
    series = make({"forecast": SCORES})["forecast"]
    found = interval(series, np.full(N, 0.5))
    lower, upper = found
    assert type(lower) is type(upper) is type(series)
    assert np.array_equal(lower, SCORES - 0.5)
    assert found.covers(SCORES).all()
    assert list(framed(found).columns) == ["lower", "upper"]
    again = interval_from_quantiles(series, series, make({"t": np.full(N, 0.5)})["t"])
    assert np.array_equal(again.upper, upper)


def test_intervals_keep_the_index() -> None:
    found = interval(pd.Series(SCORES, INDEX), 0.5)
    assert isinstance(found.lower, pd.Series)
    assert found.lower.index.equals(INDEX)
    assert framed(found).index.equals(INDEX)
    with pytest.raises(TypeError, match="lower, upper = intervals"):
        interval(SCORES, 0.5).to_frame()


@both
def test_the_columns_of_probabilities_are_the_labels(make: Make) -> None:
    frame = make({"ant": [0.7] * N, "bee": [0.3] * N})
    sets = label_set(frame, np.full(N, -0.5))
    assert sets.labels[0] == ("ant",)
    table: Any = framed(sets)
    assert type(table) is type(frame)
    assert list(table.columns) == ["ant", "bee"]
    if isinstance(table, pd.DataFrame):
        assert table.index.equals(INDEX)


@both
def test_metrics_of_a_series_are_a_series(make: Make) -> None:
    losses = (SCORES > 0.9).astype(float)
    series = make({"loss": losses})["loss"]
    for metric in (
        measures.running_risk,
        lambda values: measures.rolling_risk(values, 20),
        lambda values: measures.distance_to_target(values, 0.1),
    ):
        found = metric(series)
        assert type(found) is type(series)
        assert np.array_equal(found, metric(losses), equal_nan=True)
        if isinstance(found, pd.Series):
            assert found.index.equals(INDEX)


@both
def test_risks_by_the_columns_of_a_frame(make: Make) -> None:
    losses = make({"loss": SCORES})["loss"]
    by_column = measures.group_risk(losses, make({"region": REGIONS, "age": AGES}))
    groups = [row.group for row in by_column]
    assert groups == ["age=old", "age=young", "region=north", "region=south"]
    by_series = measures.group_risk(losses, make({"region": REGIONS})["region"], losses)
    assert by_series == measures.group_risk(SCORES, REGIONS, SCORES)


def test_arrays_do_not_import_narwhals() -> None:
    code = (
        "import sys, numpy as np; from localarc import ARC, measures, replay; "
        "from localarc.curves import miscoverage; from localarc.sets import interval; "
        "record = replay(ARC(0.1), np.zeros((9, 1)), miscoverage(np.ones(9)), list('abcabcabc'));"
        "measures.running_risk(record.losses); interval(np.zeros(9), record.thresholds);"
        "measures.group_risk(record.losses, record.groups);"
        "assert not any(name.startswith('narwhals') for name in sys.modules)"
    )
    subprocess.run([sys.executable, "-W", "ignore", "-c", code], check=True)
