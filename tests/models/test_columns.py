"""Columns of frames and arrays as features and groups, from every kind of frame."""

from __future__ import annotations

import datetime as dt
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from localarc.models import Calibrated
from localarc.models.columns import Columns
from localarc.tables.rows import Table
from localarc.validation import FloatArray

NO_OUTPUT = np.empty((0, 1))
FRAMES = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "pyarrow": pa.table}
every_frame = pytest.mark.parametrize("frame", FRAMES.values(), ids=FRAMES.keys())


def points(rows: Any, local: Any, cyclic: Any = (), later: Any = None) -> FloatArray:
    """The features of rows; or of `later` ones, after these fixed the categories."""
    columns = Columns(local, (), dict(cyclic))
    features = columns.fixed(Table(rows), True)
    return columns.points(Table(rows if later is None else later), NO_OUTPUT, features)


def groups(rows: Any, *names: Any) -> list[str]:
    found = Columns((), names, {}).labels(Table(rows))
    assert found is not None
    return [" ".join(row) for row in found]


def same(found: FloatArray, expected: Any) -> None:
    np.testing.assert_allclose(found, np.array(expected, float), atol=1e-9)


@every_frame
def test_a_cyclic_number_is_an_angle_and_its_ends_meet(frame: Any) -> None:
    found = points(frame({"hour": [0.0, 6.0, 12.0, 24.0]}), ["hour"], {"hour": 24})
    same(found, [[0, 1], [1, 0], [0, -1], [0, 1]])


@every_frame
@pytest.mark.parametrize(
    ("period", "shift"),
    [("day", dt.timedelta(days=1)), ("week", dt.timedelta(days=7)), (2.5, dt.timedelta(2.5))],
)
def test_a_cyclic_date_comes_back_after_its_period(frame: Any, period: Any, shift: Any) -> None:
    start = dt.datetime(2024, 2, 28, 18, 30)
    found = points(
        frame({"time": [start, start + shift, start + shift / 2]}), ["time"], {"time": period}
    )
    np.testing.assert_allclose(found[0], found[1], atol=1e-9)
    np.testing.assert_allclose(found[0], -found[2], atol=1e-9)


def test_dates_are_the_same_angles_in_every_frame_and_in_a_dict() -> None:
    times = [dt.datetime(2024, 1, 1, 3), dt.datetime(2024, 5, 1, 21, 15)]
    tables = [make({"time": times}) for make in FRAMES.values()]
    tables += [np.array(times, "datetime64[us]").reshape(-1, 1)]
    found = [points(table, [0], {0: "day"}) for table in tables]
    found.append(np.vstack([points({"time": time}, ["time"], {"time": "day"}) for time in times]))
    for other in found:
        same(other, found[0])
    same(found[0][0], [np.sqrt(0.5), np.sqrt(0.5)])


def test_a_time_zone_shows_the_hour_of_its_clock() -> None:
    zone = pd.Series(pd.to_datetime(["2024-01-01 06:00"])).dt.tz_localize("America/New_York")
    same(points(pd.DataFrame({"time": zone}), ["time"], {"time": "day"}), [[1, 0]])
    row = {"time": zone.iloc[0].to_pydatetime()}
    same(points(row, ["time"], {"time": "day"}), [[1, 0]])


def test_dates_without_a_time_of_day_have_a_place_in_the_year() -> None:
    days = pl.DataFrame({"day": [dt.date(2023, 1, 1), dt.date(2023, 7, 2)]})
    found = points(days, ["day"], {"day": "year"})
    assert np.linalg.norm(found[0] + found[1]) < 0.02  # half a year apart


@every_frame
def test_text_is_one_feature_per_category_of_the_first_rows(frame: Any) -> None:
    same(points(frame({"a": ["y", "x", "y"]}), ["a"]), [[0, 1], [1, 0], [0, 1]])


@every_frame
def test_an_unknown_category_is_none_of_the_known(frame: Any) -> None:
    found = points(frame({"a": ["y", "x"]}), ["a"], later=frame({"a": ["z", "x"]}))
    same(found, [[0, 0], [1, 0]])


@pytest.mark.parametrize("missing", [None, float("nan"), pd.NA])
@pytest.mark.parametrize("dtype", [object, "string", "category"])
def test_missing_text_is_one_group_of_its_own(missing: Any, dtype: Any) -> None:
    table = pd.DataFrame({"a": pd.Series(["y", missing, "x"], dtype=dtype)})
    found = points(table, ["a"])
    assert np.isnan(found).sum() == 1
    assert np.isnan(found[1, 0])
    y, rows = np.arange(15.0), pd.concat([table] * 5, ignore_index=True)
    m = Calibrated(lambda X: np.zeros(len(X)), local=["a"]).warm_up(rows, y)
    assert [part.name for part in m.summary().levels[0].groups] == ["a is missing"]
    assert groups(table, "a") == ["a=y", "a is missing", "a=x"]


def test_a_missing_date_is_one_group_of_its_own() -> None:
    table = pd.DataFrame({"t": pd.to_datetime(["2024-01-01", None, "2024-01-02"])})
    m = Calibrated(lambda X: np.zeros(len(X)), local=["t"], cyclic={"t": "day"})
    m.update(pd.concat([table] * 5, ignore_index=True), np.arange(15.0))
    assert [part.name for part in m.summary().levels[0].groups] == ["t is missing"]


@pytest.mark.parametrize(
    "column",
    [
        pd.DataFrame({"a": pd.Categorical(["x"], categories=["x", "y"])}),
        pl.DataFrame({"a": pl.Series(["x"], dtype=pl.Enum(["x", "y"]))}),
    ],
    ids=["pandas", "polars"],
)
def test_a_categorical_type_needs_no_warm_up(column: Any) -> None:
    (feature,) = Columns(["a"], (), {}).fixed(Table(column), False)
    assert feature.names == ("a=x", "a=y")


def test_text_without_warm_up_says_what_to_do() -> None:
    table = pd.DataFrame({"a": ["x", "y"]})
    m = Calibrated(lambda X: np.zeros(len(X)), local=["a"])
    with pytest.raises(ValueError, match="Call warm_up first"):
        m.update(table, [0.0, 1.0])
    assert m.warm_up(table, [0.0, 1.0]).summary().levels[0].outcomes == 2


@every_frame
def test_integers_with_nulls_are_numbers_with_gaps(frame: Any) -> None:
    values: Any = [1, None, 3]
    column = pd.array(values, dtype="Int64") if frame is pd.DataFrame else values
    same(points(frame({"a": column}), ["a"]), [[1], [np.nan], [3]])
    assert groups(frame({"a": column}), "a") == ["a=1", "a is missing", "a=3"]


def test_numbers_in_a_column_of_objects_are_numbers() -> None:
    table = pd.DataFrame({"a": pd.Series([1, None, 2.5], dtype=object)})
    same(points(table, ["a"]), [[1], [np.nan], [2.5]])


@every_frame
def test_booleans_are_numbers_as_features_and_names_as_groups(frame: Any) -> None:
    table = frame({"a": [True, False]})
    same(points(table, ["a"]), [[1], [0]])
    assert groups(table, "a") == ["a=True", "a=False"]


def test_a_group_has_the_same_name_as_whole_number_and_as_float() -> None:
    whole, floats = pd.DataFrame({"a": [1, 2]}), pd.DataFrame({"a": [1.0, 2.0]})
    assert groups(whole, "a") == groups(floats, "a") == ["a=1", "a=2"]
    assert groups(np.array([[1.0, 5.0]]), 1, 0) == ["1=5 0=1"]


def test_columns_of_a_frame_without_names_are_found_by_position() -> None:
    X = np.arange(6.0).reshape(3, 2)
    same(points(pd.DataFrame(X), [1]), X[:, 1:])
    same(points(pd.DataFrame(X, columns=[1, 0]), [1]), X[:, :1])  # a name comes first


def test_a_list_of_rows_keeps_numbers_beside_text() -> None:
    rows = [[1.5, "x"], [2.5, "y"]]
    same(points(rows, [0, 1]), [[1.5, 1, 0], [2.5, 0, 1]])
    assert groups(rows, 1) == ["1=x", "1=y"]


def test_positions_and_names_may_come_from_numpy() -> None:
    X = np.arange(6.0).reshape(3, 2)
    same(points(X, np.array([1, 0])), X[:, ::-1])
    same(points(pd.DataFrame(X, columns=["a", "b"]), pd.Index(["b"])), X[:, 1:])


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"local": "size"}, "local must be"),
        ({"groups": "size"}, "groups must be"),
        ({"local": ["time"]}, "has dates"),
        ({"local": ["size"], "cyclic": {"size": "day"}}, "Pass a number"),
        ({"local": ["size"], "cyclic": {"size": -1}}, "positive number"),
        ({"local": ["lapse"]}, "durations"),
        ({"local": ["far"]}, "infinite"),
    ],
)
def test_a_column_that_is_no_feature_is_named(settings: Any, words: str) -> None:
    table = pd.DataFrame({"size": [1.0], "time": [pd.Timestamp("2024-01-01")], "far": [np.inf]})
    table["lapse"] = table["time"] - table["time"]
    m = Calibrated(lambda X: np.zeros(len(X)), **settings)
    with pytest.raises(ValueError, match=words):
        m.update(table, [0.0])


@pytest.mark.parametrize("setting", ["local", "groups"])
def test_a_column_is_named_once(setting: str) -> None:
    arguments: dict[str, Any] = {setting: ["hour", "wind", "hour"]}
    with pytest.raises(ValueError, match=f"{setting} must name each column once, got 'hour'"):
        Calibrated(lambda rows: rows[:, 0], coverage=0.9, **arguments).update(np.eye(3), [0.0] * 3)
