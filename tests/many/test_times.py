"""Rows by event time and id: they wait for the watermark, and late ones are named."""

from datetime import timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pandas
import polars
import pyarrow
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from localarc import ARC, LARC, RBF, AutoLARC
from localarc.many import BadRowError, KeyedStreams, calibrate, run_files
from many.keyed_events import PROTOTYPES, Alone, late, scored
from many.settings import keyed_settings

HOUR = timedelta(hours=1)
TIMED: dict[str, Any] = {"key": "key", "time": "when", "score": "score"}
LATE: dict[str, Any] = {"kind": "kind", "id": "id"}


def timed(rows: int = 60, seed: int = 0, **more: Any) -> Any:
    """Events with times, some of them equal, and ids."""
    frame = scored(rows=rows, seed=seed, **more).drop(columns="order")
    hours = np.sort(np.random.default_rng(seed).integers(0, rows // 2, rows))
    frame["when"] = pandas.Timestamp("2026-01-01") + pandas.to_timedelta(hours, "h")
    return frame.assign(id=[f"event {i:03d}" for i in range(rows)])


def mixed(frame: Any, hours: int, seed: int = 0) -> Any:
    """The same events, each up to some hours late."""
    late_by = pandas.to_timedelta(np.random.default_rng(seed).uniform(0, hours, len(frame)), "h")
    return frame.iloc[np.argsort(frame["when"] + late_by)]


def rules(found: Any) -> list[str]:
    """The rule that each row violates, empty for good rows."""
    return list(found["rejected"].fillna("").astype(str))


def in_parts(streams: KeyedStreams, frame: Any, number: int, **more: Any) -> Any:
    parts = [frame.iloc[at] for at in np.array_split(np.arange(len(frame)), number)]
    found = [streams.calibrate(part, **more) for part in parts[:-1]]
    return pandas.concat([*found, streams.calibrate(parts[-1], **more, last=True)])


@settings(max_examples=30, derandomize=True, deadline=None)
@given(st.integers(0, 1000), st.integers(1, 9), st.integers(1, 6))
def test_rows_that_come_within_the_delay_are_learned_as_if_in_order(
    seed: int, number: int, hours: int
) -> None:
    frame = timed(seed=seed)
    expected = calibrate(frame, **keyed_settings(**TIMED, id="id", calibrator=ARC(0.1))).set_index(
        "id"
    )
    delay = timedelta(hours=hours)
    streams = KeyedStreams(**keyed_settings(calibrator=ARC(0.1), **TIMED, id="id", delay=delay))
    found = in_parts(streams, mixed(frame, hours, seed), number).set_index("id")
    assert len(found) == len(frame)
    assert streams.waiting == 0
    assert found["threshold"].to_dict() == expected["threshold"].to_dict()


@pytest.mark.parametrize(("prototype", "dimension"), PROTOTYPES.values(), ids=PROTOTYPES)
def test_asks_and_outcomes_by_time_are_those_of_calibrators_alone(
    prototype: Any, dimension: int
) -> None:
    frame = late(dimension=dimension).drop(columns="order")
    frame["when"] = pandas.Timestamp("2026-01-01") + pandas.to_timedelta(frame.pop("time"), "h")
    expected = Alone(prototype).thresholds(frame.sort_values(["when", "id"]))
    names = [name for name in frame.columns if name.startswith("x")]
    streams = KeyedStreams(
        **keyed_settings(calibrator=prototype, **TIMED, **LATE, features=names, delay=2 * HOUR)
    )
    found = in_parts(streams, mixed(frame, 2), 7).sort_values(["when", "id"])
    assert found["threshold"].tolist() == expected


def test_what_is_late_is_named_and_nothing_is_lost() -> None:
    start = pandas.Timestamp("2026-01-01")
    hours = [0, 5, 3, 4, 9, 2]
    frame = pandas.DataFrame({"key": "a", "when": start + pandas.to_timedelta(hours, "h")})
    frame = frame.assign(id=range(6), score=0.5, note=[f"note {h}" for h in hours])
    streams = KeyedStreams(**keyed_settings(calibrator=ARC(0.1), **TIMED, id="id", delay=HOUR))
    first = streams.calibrate(frame[:2], "reject")  # the watermark is at 4 h
    assert first["note"].tolist() == ["note 0"]
    assert streams.waiting == 1
    with pytest.raises(BadRowError, match=r"^late: key 'a', time 2026-01-01T03:00:00"):
        streams.calibrate(frame[2:5])
    assert streams.waiting == 1
    second = streams.calibrate(frame[2:5], "reject")
    rejected = dict(zip(second["note"], rules(second), strict=True))
    assert rejected == {"note 5": "", "note 3": "late", "note 4": "late"}
    third = streams.calibrate(frame[5:], "reject", last=True)
    assert dict(zip(third["note"], rules(third), strict=True)) == {"note 9": "", "note 2": "late"}
    assert third["threshold"].isna().tolist() == third["rejected"].notna().tolist()


def test_a_repeated_event_is_rejected_and_a_broken_copy_never_shadows_the_good_one() -> None:
    frame = timed(rows=8)
    copies = frame.iloc[[2, 5]].assign(score=[frame["score"][2], np.nan])
    for rows in (pandas.concat([frame, copies]), pandas.concat([copies, frame])):
        found = calibrate(
            rows, **keyed_settings(**TIMED, id="id", calibrator=ARC(0.1), bad_rows="reject")
        )
        bad = found[found["rejected"].notna()]
        assert bad["rejected"].tolist() == ["repeated event"] * 2
        assert set(bad["id"]) == {"event 002", "event 005"}
        good = found[found["rejected"].isna()].sort_values("id")
        assert good["score"].tolist() == frame["score"].tolist()


def test_rows_without_key_time_or_id_go_out_at_once_with_their_rule() -> None:
    frame = timed(rows=4).astype({"key": object, "id": object})
    frame.loc[0, "key"], frame.loc[1, "when"], frame.loc[2, "id"] = None, pandas.NaT, None
    streams = KeyedStreams(**keyed_settings(calibrator=ARC(0.1), **TIMED, id="id", delay=99 * HOUR))
    found = streams.calibrate(frame, "reject")
    assert sorted(found["rejected"]) == ["bad time", "missing key"]
    last = streams.calibrate(frame[:0], "reject", last=True)
    assert sorted(rules(last)) == ["", "missing id"]


@settings(max_examples=30, derandomize=True, deadline=None)
@given(st.integers(0, 1000), st.integers(1, 6))
def test_a_key_without_events_for_its_time_to_live_starts_anew(seed: int, number: int) -> None:
    frame, ttl = timed(seed=seed), timedelta(hours=2)
    restarts = frame.groupby("key")["when"].diff() > ttl
    frame["life"] = frame["key"] + " " + restarts.groupby(frame["key"]).cumsum().astype(str)
    assert restarts.any()
    usual: dict[str, Any] = {"calibrator": ARC(0.1), "id": "id"}
    expected = calibrate(frame, **keyed_settings(**TIMED | {"key": "life"}, **usual))[
        "threshold"
    ].tolist()
    assert (
        calibrate(frame, **keyed_settings(**TIMED, **usual, ttl=ttl))["threshold"].tolist()
        == expected
    )
    streams = KeyedStreams(
        **keyed_settings(calibrator=ARC(0.1), **TIMED, id="id", delay=3 * HOUR, ttl=ttl)
    )
    found = in_parts(streams, mixed(frame, 3, seed), number).sort_values(["when", "id"])
    assert found["threshold"].tolist() == expected
    alive = frame.groupby("key")["when"].max() >= frame["when"].max() - ttl
    assert sorted(streams.panel.keys) == sorted(alive[alive].index)


def test_the_pending_asks_of_a_key_end_with_it() -> None:
    start = pandas.Timestamp("2026-01-01")
    rows: list[Any] = [("a", 0, "1", "ask", None), ("b", 9, "1", "ask", None)]
    rows += [("a", 10, "1", "learn", 0.5), ("a", 11, "2", "ask", None)]
    frame = pandas.DataFrame(rows, columns=["key", "when", "id", "kind", "score"])
    frame["when"] = start + pandas.to_timedelta(frame["when"], "h")
    for parts in (1, 4):
        streams = KeyedStreams(
            **keyed_settings(calibrator=ARC(0.1), **TIMED, **LATE, delay=HOUR, ttl=5 * HOUR)
        )
        found = in_parts(streams, frame, parts, bad_rows="reject").sort_values("when")
        assert found["rejected"].tolist()[2] == "unknown id"
        assert found["rejected"].isna().sum() == 3
        assert streams.pending == 2


@pytest.mark.parametrize("prototype", [ARC(0.1), AutoLARC(0.1)], ids=["ARC", "AutoLARC"])
@pytest.mark.parametrize("parts", [1, 5])
def test_more_pending_asks_than_the_limit_give_up_the_oldest(prototype: Any, parts: int) -> None:
    names = [f"{i}" for i in range(6)]
    asks = [("a", name, "ask", None) for name in names]
    rows: list[Any] = [*asks[:5], ("a", "4", "learn", 0.5), asks[5], ("a", "1", "learn", 0.5)]
    rows += [("a", "3", "learn", 0.9), ("a", "1", "ask", None), ("a", "1", "learn", 0.2)]
    frame = pandas.DataFrame(rows, columns=["key", "id", "kind", "score"])
    streams = KeyedStreams(
        **keyed_settings(calibrator=prototype, key="key", score="score", **LATE, max_pending=3)
    )
    pieces = [frame.iloc[at] for at in np.array_split(np.arange(len(frame)), parts)]
    found = pandas.concat([streams.calibrate(piece, "reject") for piece in pieces])
    assert rules(found) == [""] * 7 + ["unknown id"] + [""] * 3
    assert streams._bucket.pending.ids.to_pylist() == ["2", "5"]
    whole = KeyedStreams(
        **keyed_settings(calibrator=prototype, key="key", score="score", **LATE, max_pending=3)
    )
    whole.calibrate(frame, "reject")
    assert streams.panel.state() == whole.panel.state()
    if isinstance(prototype, AutoLARC):
        one: Any = streams.panel.calibrator("a")
        assert len(one.pending) == 2


def test_state_with_waiting_rows_resumes_as_if_never_stopped(tmp_path: Path) -> None:
    frame = mixed(timed(), 3)
    limits: dict[str, Any] = {"delay": 3 * HOUR, "ttl": 4 * HOUR}
    straight = KeyedStreams(**keyed_settings(calibrator=ARC(0.1), **TIMED, id="id", **limits))
    expected = in_parts(straight, frame, 3)
    streams, found = (
        KeyedStreams(**keyed_settings(calibrator=ARC(0.1), **TIMED, id="id", **limits)),
        [],
    )
    for i in range(3):
        found.append(streams.calibrate(frame[20 * i : 20 * i + 20], last=i == 2))
        streams.save(tmp_path / "state.parquet")
        streams = KeyedStreams.load(tmp_path / "state.parquet")
    assert pandas.concat(found)["threshold"].tolist() == expected["threshold"].tolist()
    assert streams.panel.state() == straight.panel.state()
    times = polars.read_parquet(tmp_path / "state.parquet")["last_event"]
    assert times.max() == frame["when"].max()


def test_a_job_over_files_by_time_is_one_frame_and_its_last_rows_come_when_asked(
    tmp_path: Path,
) -> None:
    frame = mixed(timed(dimension=1), 3)
    for i in range(4):
        frame[15 * i : 15 * i + 15].to_parquet(tmp_path / f"{i}.parquet")
    paths = sorted(tmp_path.glob("*.parquet"))
    roles = {**TIMED, "id": "id", "features": ["x0"], "calibrator": LARC(0.1, RBF(0.5))}
    job: dict[str, Any] = {"folder": tmp_path / "job", "shards": 3, "jobs": 1, "delay": 3 * HOUR}
    run_files(paths[:2], **keyed_settings(**job, **roles))
    run_files(paths, **keyed_settings(**job, **roles))

    def written() -> Any:
        parts = [pandas.read_parquet(path) for path in sorted((tmp_path / "job/rows").iterdir())]
        return pandas.concat([part for part in parts if len(part)])

    assert 0 < len(written()) < len(frame)
    run_files(paths, **keyed_settings(**job, **roles, last=True))
    expected = calibrate(frame, **keyed_settings(**roles)).set_index("id")["threshold"].to_dict()
    assert written().set_index("id")["threshold"].to_dict() == expected
    assert len(written()) == len(frame)


def test_frames_of_arrow_and_polars_come_back_as_they_went_in() -> None:
    frame = timed()
    for given_frame in (pyarrow.Table.from_pandas(frame), polars.from_pandas(frame)):
        streams = KeyedStreams(**keyed_settings(calibrator=ARC(0.1), **TIMED, id="id", delay=HOUR))
        found = streams.calibrate(given_frame, last=True)
        assert type(found) is type(given_frame)
        names = found.column_names if isinstance(found, pyarrow.Table) else found.columns
        assert list(names) == [*frame.columns, "threshold", "loss", "covered"]


WRONG: list[tuple[dict[str, Any], type[Exception], str]] = [
    ({"order": "n"}, ValueError, "pass either order= or time="),
    ({"delay": None}, ValueError, "time= requires delay="),
    ({"delay": 5}, TypeError, "delay must be a datetime.timedelta"),
    ({"delay": -HOUR}, ValueError, "delay must be at least 0:00:00"),
    ({"ttl": timedelta(0)}, ValueError, "ttl must be at least"),
    ({"time": None, "ttl": HOUR}, ValueError, "delay= requires time="),
    ({"time": None, "delay": None, "ttl": HOUR}, ValueError, "ttl= requires time="),
    ({"max_pending": 3}, ValueError, "max_pending= requires kind= and id="),
    ({**LATE, "max_pending": 0}, ValueError, "max_pending must be a whole number"),
]


@pytest.mark.parametrize(("change", "error", "says"), WRONG, ids=[says for *_, says in WRONG])
def test_limits_that_make_no_sense_are_rejected(
    change: Any, error: type[Exception], says: str
) -> None:
    with pytest.raises(error, match=says):
        KeyedStreams(**keyed_settings(calibrator=ARC(0.1), **TIMED | {"delay": HOUR} | change))


def test_a_time_that_is_a_number_is_rejected_when_it_comes() -> None:
    streams = KeyedStreams(**keyed_settings(calibrator=ARC(0.1), **TIMED, delay=HOUR))
    with pytest.raises(TypeError, match=r"time must be timestamps, .* column 'when' is int64"):
        streams.calibrate(timed().assign(when=1))


def test_times_may_be_text_with_or_without_a_zone() -> None:
    frame = timed()
    expected = calibrate(frame, **keyed_settings(**TIMED, id="id", calibrator=ARC(0.1)))[
        "threshold"
    ].tolist()
    for zone in ("", "Z", "+00:00"):
        texts = frame["when"].dt.strftime("%Y-%m-%dT%H:%M:%S.%f") + zone
        found = calibrate(
            frame.assign(when=texts), **keyed_settings(**TIMED, id="id", calibrator=ARC(0.1))
        )
        assert found["threshold"].tolist() == expected
