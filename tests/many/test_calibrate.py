"""`localarc.many.calibrate`: frames of every library in, the same rows and more columns out."""

from collections.abc import Callable
from typing import Any

import duckdb
import numpy as np
import pandas
import polars
import pyarrow
import pytest

from localarc import ARC, LARC, RBF, AutoLARC, Panel
from localarc.curves import miscoverage
from localarc.many import BadRowError, Columns, calibrate
from localarc.many.panel.adaptive_streams import AdaptiveStreams
from many.keyed_events import PROTOTYPES, late, scored
from many.settings import keyed_settings

LIBRARIES: dict[str, tuple[Callable[[Any], Any], Callable[[Any], Any]]] = {
    "pandas": (lambda frame: frame, lambda frame: frame),
    "polars": (polars.from_pandas, lambda frame: frame.to_pandas()),
    "pyarrow": (pyarrow.Table.from_pandas, lambda table: table.to_pandas()),
    "duckdb": (duckdb.from_df, lambda relation: relation.df()),
}


@pytest.mark.parametrize(("enter", "leave"), LIBRARIES.values(), ids=LIBRARIES)
def test_rows_keep_their_type_place_and_columns_in_every_library(
    enter: Callable[[Any], Any], leave: Callable[[Any], Any]
) -> None:
    frame = scored()
    given = enter(frame)
    found = calibrate(given, Columns(key="key", order="order", score="score"), ARC(0.1))
    assert type(found) is type(given)
    rows = leave(found)
    assert list(rows.columns) == [*frame.columns, "threshold", "loss", "covered"]
    for name in ("key", "order", "score", "when"):
        assert rows[name].tolist() == frame[name].tolist()
    expected = Panel(ARC(0.1)).replay(frame["key"], None, miscoverage(frame["score"]))
    assert rows["threshold"].tolist() == expected.thresholds.tolist()
    assert rows["loss"].tolist() == expected.losses.tolist()
    assert (rows["covered"] == (rows["score"] <= rows["threshold"])).all()


def test_a_relation_comes_back_on_its_own_connection() -> None:
    connection = duckdb.connect()
    connection.register("events", scored())
    found = calibrate(
        connection.table("events"), Columns(key="key", order="order", score="score"), ARC(0.1)
    )
    joined = found.set_alias("a").join(connection.table("events").set_alias("b"), "key, score")
    assert len(joined.fetchall()) == 60


@pytest.mark.parametrize(("prototype", "dimension"), PROTOTYPES.values(), ids=PROTOTYPES)
def test_a_frame_is_a_panel_replayed(prototype: Any, dimension: int) -> None:
    frame = scored(dimension=max(dimension, 1))
    expected = Panel(prototype).replay(frame["key"], frame[["x0"]], miscoverage(frame["score"]))
    found = calibrate(frame, Columns(key="key", features=["x0"], score="score"), prototype)
    assert found["threshold"].tolist() == expected.thresholds.tolist()


def test_rows_are_learned_by_order_wherever_they_are() -> None:
    frame = scored()
    usual: dict[str, Any] = {"key": "key", "score": "score", "calibrator": ARC(0.1)}
    straight = calibrate(frame, **keyed_settings(order="order", **usual))
    mixed = frame.sample(frac=1.0, random_state=3)
    found = calibrate(mixed, **keyed_settings(order="order", **usual))
    assert found.index.tolist() == mixed.index.tolist()
    assert found.sort_index()["threshold"].tolist() == straight["threshold"].tolist()
    assert (
        straight["threshold"].tolist()
        == calibrate(frame, **keyed_settings(**usual))["threshold"].tolist()
    )


def test_known_losses_return_the_threshold_right_after_each() -> None:
    X, losses = [[0.0], [0.5], [1.0]], [1.0, 0.0, 1.0]
    for prototype in (LARC(0.1, RBF.from_paper(1.0)), AutoLARC(0.1, unit=1.0, limits=(0.0, None))):
        frame = pandas.DataFrame({"key": "a", "x": np.ravel(X), "cost": losses})
        found = calibrate(frame, Columns(key="key", features=["x"], loss="cost"), prototype)
        one: Any = Panel(prototype).prototype
        expected = [one.update(x, loss).threshold(x) for x, loss in zip(X, losses, strict=True)]
        assert found["next_threshold"].tolist() == expected


def test_a_thousand_losses_of_one_key_are_one_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    passes, serve = [], AdaptiveStreams.serve

    def counted(streams: Any, rows: Any, events: Any) -> Any:
        passes.append(len(rows))
        return serve(streams, rows, events)

    monkeypatch.setattr(AdaptiveStreams, "serve", counted)
    frame = pandas.DataFrame({"key": "a", "cost": np.tile([1.0, 0.0], 500)})
    calibrate(frame, Columns(key="key", loss="cost"), ARC(0.1))
    assert passes == [1000]


def test_intervals_have_a_size_where_their_width_is_known() -> None:
    frame = scored().assign(width=2.0)
    found = calibrate(frame, Columns(key="key", score="score", width="width"), ARC(0.1))
    assert found["size"].tolist() == np.maximum(2.0 + 2.0 * found["threshold"], 0.0).tolist()
    asks = late().assign(width=2.0)
    given: dict[str, Any] = {"key": "key", "kind": "kind", "id": "id", "width": "width"}
    found = calibrate(asks, **keyed_settings(**given, score="score", calibrator=ARC(0.1)))
    assert found["size"].notna().tolist() == (asks["kind"] == "ask").tolist()


def test_several_columns_make_a_key_of_their_own() -> None:
    shops = [("de", "a/b"), ("de/a", "b"), ("de", "a%2Fb"), ("de", "a/b")]
    frame = pandas.DataFrame(shops, columns=["country", "shop"]).assign(score=1.0)
    found = calibrate(frame, Columns(key=["country", "shop"], score="score"), ARC(0.1))
    assert found["threshold"].tolist() == [0.0, 0.0, 0.0, 0.9]
    holes = frame.assign(shop=[None, "b", "c", "d"])
    with pytest.raises(BadRowError, match="missing key"):
        calibrate(holes, Columns(key=["country", "shop"], score="score"), ARC(0.1))


@pytest.mark.parametrize("keys", [[1, 2, 1], pandas.Categorical(["a", "b", "a"])], ids=str)
def test_keys_may_be_integers_or_categories(keys: Any) -> None:
    frame = pandas.DataFrame({"key": keys, "score": 1.0})
    found = calibrate(frame, Columns(key="key", score="score"), ARC(0.1))
    assert found["threshold"].tolist() == [0.0, 0.0, 0.9]
    assert found["key"].dtype == frame["key"].dtype


def test_rejected_rows_stay_in_place_with_their_rule() -> None:
    frame = scored(rows=6, keys=1)
    frame.loc[2, "score"] = np.nan
    usual: dict[str, Any] = {"key": "key", "score": "score", "calibrator": ARC(0.1)}
    with pytest.raises(BadRowError, match=r"bad score: key 'key 0', order 3"):
        calibrate(frame, **keyed_settings(**usual))
    found = calibrate(frame, **keyed_settings(**usual, bad_rows="reject"))
    assert found["rejected"].tolist()[2] == "bad score"
    assert found["rejected"].isna().sum() == 5
    good = calibrate(frame.drop(index=2), **keyed_settings(**usual))
    assert found.drop(index=2)["threshold"].tolist() == good["threshold"].tolist()


def test_an_empty_frame_stays_empty_and_gains_columns() -> None:
    frame = scored().iloc[:0]
    found = calibrate(frame, Columns(key="key", order="order", score="score"), ARC(0.1))
    assert list(found.columns)[-3:] == ["threshold", "loss", "covered"]
    assert not len(found)


WRONG: list[tuple[dict[str, Any], type[Exception], str]] = [
    ({"key": "nobody"}, ValueError, "no column 'nobody'"),
    ({"key": []}, ValueError, "key must name a column"),
    ({"key": "x"}, TypeError, "key must be text or integers"),
    ({"order": "x"}, TypeError, "order must be integers"),
    ({"score": "k2"}, TypeError, "must be numbers, column 'k2' is"),
    ({"loss": "x"}, ValueError, "pass either score= or loss="),
    ({"score": None}, ValueError, "pass either score= or loss="),
    ({"features": "x"}, TypeError, "a list of columns"),
    ({"features": ["s"]}, ValueError, "each column can be used only once"),
    ({"kind": "k2"}, ValueError, "kind= and id= together"),
    ({"score": None, "loss": "s", "width": "x"}, ValueError, "width= requires thresholds"),
    ({"bad_rows": "ignore"}, ValueError, '"fail" or "reject"'),
    ({"calibrator": ARC(0.1).update(None, 1.0)}, TypeError, "must be a new ARC, LARC or AutoLARC"),
    ({"calibrator": LARC(0.1, RBF.from_paper(1.0))}, ValueError, "none were named"),
    ({"frame": [1, 2]}, TypeError, "must be a data frame of pandas, Polars, PyArrow or DuckDB"),
    ({"frame": polars.LazyFrame({"k": ["a"]})}, TypeError, "Collect a lazy frame"),
    ({"frame": pandas.DataFrame({"k": ["a"], "s": 0.5, "Loss": 1})}, ValueError, "Rename it"),
    (
        {"frame": pandas.DataFrame([["a", 0.5, 0.5]], columns=["k", "s", "s"])},
        ValueError,
        "frame must have distinct columns, got 2 of the name 's'",
    ),
    (
        {"frame": pandas.DataFrame({"k": ["a", "b"], "s": [1, 10**400]}, dtype=object)},
        ValueError,
        r"s must have integers of 64 bits, got 1000.* in row 1, counted from 0",
    ),
]


@pytest.mark.parametrize(("change", "error", "says"), WRONG, ids=[says for *_, says in WRONG])
def test_what_cannot_work_is_rejected(change: Any, error: type[Exception], says: str) -> None:
    frame = pandas.DataFrame({"k": ["a"], "k2": ["ask"], "s": [0.5], "x": [0.5]})
    usual = {"frame": frame, "key": "k", "score": "s", "calibrator": ARC(0.1)}
    with pytest.raises(error, match=says):
        calibrate(**keyed_settings(**usual | change))
