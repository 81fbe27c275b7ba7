"""Bands: forecasts in, bands out, outcomes later in any order."""

import copy
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pandas as pd
import pytest

from localarc import StateError, serialization
from localarc.forecasting import Bands
from localarc.validation import FloatArray

START = pd.Timestamp("2024-01-01")
HOUR = pd.Timedelta(hours=1)


def times(first: int, count: int) -> Any:
    return pd.date_range(START + first * HOUR, periods=count, freq="h")


def forecasts(now: int, steps: int = 4, names: tuple[str, ...] = ("a", "b")) -> Any:
    parts = [
        pd.DataFrame({"unique_id": n, "ds": times(now + 1, steps), "yhat": 10.0}) for n in names
    ]
    return pd.concat(parts, ignore_index=True)


def actuals(now: int, noise: FloatArray, names: tuple[str, ...] = ("a", "b")) -> Any:
    return pd.DataFrame({"unique_id": names, "ds": times(now, 1)[0], "y": 10.0 + noise})


def noises(rounds: int, seed: int = 0, scale: tuple[float, ...] = (1.0, 50.0)) -> FloatArray:
    return np.random.default_rng(seed).normal(size=(rounds, len(scale))) * scale


def follow(bands: Bands, first: int, noise: FloatArray, steps: int = 4) -> list[Any]:
    out = []
    for t in range(first, first + len(noise)):
        bands.observe(actuals(t, noise[t - first]))
        out.append(bands.predict(forecasts(t, steps)))
    return out


def history(noise: FloatArray, steps: int = 4, names: tuple[str, ...] = ("a", "b")) -> Any:
    """A forecast of 10 for all series, made at every hour, with the outcomes."""
    rounds, count = noise.shape
    cutoff, series, step = np.indices((rounds, count, steps)).reshape(3, -1)
    when = cutoff + step + 1
    y = np.vstack([noise, np.full((steps, count), np.nan)])[when, series]
    return pd.DataFrame(
        {
            "unique_id": np.array(names)[series],
            "ds": times(0, rounds + steps)[when],
            "cutoff": times(0, rounds)[cutoff],
            "yhat": 10.0,
            "y": 10.0 + y,
        }
    )


def misses(table: Any, first: int, name: str = "90") -> Any:
    """The forecasts made from hour `first` on whose outcome is known, and whether they missed."""
    table = table[(table.cutoff >= START + first * HOUR) & table.y.notna()]
    inside = (table[f"lo-{name}"] <= table.y) & (table.y <= table[f"hi-{name}"])
    return table.assign(missed=~inside, step=(table.ds - table.cutoff) // HOUR)


def test_bands_are_added_to_the_frame_and_its_index_and_order_stay() -> None:
    frame = forecasts(0).sample(frac=1.0, random_state=1).set_index(np.arange(8) * 3 + 7)
    out = Bands(horizon=4).predict(frame)
    pd.testing.assert_frame_equal(out[frame.columns], frame)
    assert list(out.columns) == ["unique_id", "ds", "yhat", "lo-90", "hi-90"]
    assert (out["lo-90"] <= out["hi-90"]).all()


def test_polars_frames_get_the_same_bands() -> None:
    pl = pytest.importorskip("polars")
    noise = noises(60)
    ours, theirs = Bands(horizon=4), Bands(horizon=4)
    for t in range(60):
        ours.observe(actuals(t, noise[t]))
        theirs.observe(pl.from_pandas(actuals(t, noise[t])))
        expected, found = ours.predict(forecasts(t)), theirs.predict(pl.from_pandas(forecasts(t)))
        assert isinstance(found, pl.DataFrame)
        np.testing.assert_array_equal(found["hi-90"].to_numpy(), expected["hi-90"].to_numpy())
    assert ours.state() == theirs.state()


def test_the_order_of_rows_changes_nothing() -> None:
    noise = noises(50)
    ours, theirs = Bands(horizon=4), Bands(horizon=4)
    for t in range(50):
        ours.observe(actuals(t, noise[t]))
        theirs.observe(actuals(t, noise[t])[::-1])
        expected = ours.predict(forecasts(t))
        pd.testing.assert_frame_equal(theirs.predict(forecasts(t)[::-1])[::-1], expected)


@pytest.mark.slow
def test_each_series_and_step_misses_as_often_as_stated_whatever_its_units() -> None:
    table = misses(Bands(horizon=4).replay(history(noises(1500))), 100)
    for part in ("unique_id", "step"):
        assert (abs(table.groupby(part).missed.mean() - 0.1) < 0.02).all()


@pytest.mark.slow
def test_hours_with_more_noise_get_wider_bands() -> None:
    noise = noises(2400) * np.where(np.arange(2400) % 24 < 12, 1.0, 4.0)[:, None]
    table = misses(Bands(horizon=4).replay(history(noise)), 1000)
    by_hour = table.groupby(table.ds.dt.hour).missed.mean()
    assert (abs(by_hour - 0.1) < 0.05).all()
    width = (table["hi-90"] - table["lo-90"]).groupby([table.unique_id, table.ds.dt.hour >= 12])
    assert (width.mean().unstack()[True] > 2.5 * width.mean().unstack()[False]).all()


@pytest.mark.slow
def test_bands_follow_a_change_of_noise() -> None:
    noise = noises(1400) * np.where(np.arange(1400) < 700, 1.0, 5.0)[:, None]
    out = Bands(horizon=4).replay(history(noise))
    assert abs(misses(out, 800).missed.mean() - 0.1) < 0.02


@pytest.mark.slow
@pytest.mark.parametrize("joint", [False, True])
def test_one_impossible_outcome_does_not_widen_bands_for_long(joint: bool) -> None:
    noise = noises(300)
    plain = Bands(horizon=4, joint=joint).replay(history(noise))
    noise[150, 0] = 1e4
    hit = Bands(horizon=4, joint=joint).replay(history(noise))
    later = (hit.cutoff >= START + 180 * HOUR) & (hit.unique_id == "a")
    assert (hit["hi-90"] - 10.0)[later].mean() < 1.5 * (plain["hi-90"] - 10.0)[later].mean()


@pytest.mark.slow
def test_scaling_a_series_scales_its_bands() -> None:
    noise = noises(80, scale=(1.0, 1.0))
    plain = follow(Bands(horizon=4), 0, noise)[-1]
    scaled_bands = Bands(horizon=4)
    for t in range(80):
        scaled_bands.observe(actuals(t, noise[t]).assign(y=lambda d: 1024.0 * d.y))
        scaled = scaled_bands.predict(forecasts(t).assign(yhat=10240.0))
    np.testing.assert_allclose(scaled["hi-90"], 1024.0 * plain["hi-90"], rtol=1e-12)


@pytest.mark.slow
def test_levels_are_nested_and_each_is_kept() -> None:
    out = Bands(coverage=[0.8, 0.5, 0.95], horizon=4).replay(history(noises(1200)))
    ends = ["lo-95", "lo-80", "lo-50", "hi-50", "hi-80", "hi-95"]
    assert list(out.columns[5:]) == ends
    known = np.isfinite(out["hi-50"])  # the first bands are unbounded, at all levels
    assert known.mean() > 0.9
    assert (np.diff(out.loc[known, ends].to_numpy(), axis=1) >= 0.0).all()
    for level in (50, 80, 95):
        assert abs(misses(out, 100, str(level)).missed.mean() - (1.0 - level / 100)) < 0.03


@pytest.mark.slow
def test_joint_bands_contain_whole_paths_as_often_as_stated() -> None:
    walk = np.cumsum(np.random.default_rng(3).normal(size=(1500, 2)), axis=0) * (1.0, 50.0)
    frame = history(walk)
    hour = ((frame.cutoff - START) // HOUR).to_numpy()
    frame["yhat"] = 10.0 + walk[hour, (frame.unique_id == "b").astype(int)]
    bands = Bands(horizon=4, joint=True)
    table = misses(bands.replay(frame), 200)
    paths = table.groupby(["unique_id", "cutoff"]).missed.any().groupby("unique_id").mean()
    assert (abs(paths - 0.1) < 0.02).all()
    assert bands.rounds == pytest.approx(2 * 1500, abs=20)
    width = (table["hi-90"] - table["lo-90"]).groupby([table.unique_id, table.step]).mean()
    assert (width.unstack().diff(axis=1).iloc[:, 1:] > 0.0).all(axis=None)  # as a random walk's


@pytest.mark.parametrize("half", [4.0, 0.5])
def test_bands_around_quantiles_correct_them(half: float) -> None:
    frame = history(noises(500, scale=(1.0, 1.0))).drop(columns="yhat")
    frame = frame.assign(low=10.0 - half, high=10.0 + half)
    out = Bands(horizon=4, quantiles=("low", "high")).replay(frame)
    width = (out["hi-90"] - out["lo-90"])[1000:]
    assert width.mean() == pytest.approx(3.3, abs=0.5)  # 3.29 for Gaussian noise


# ---- late, missing and repeated outcomes ---------------------------------------------------------


@pytest.mark.slow
def test_outcomes_may_come_in_any_order_and_much_later() -> None:
    rng, noise = np.random.default_rng(1), noises(250)
    bands, waiting, out = Bands(horizon=4), [], []
    for t in range(250):
        waiting.append(actuals(t, noise[t]))
        if t % 10 == 9:
            rng.shuffle(waiting)
            for frame in waiting[:-2]:
                bands.observe(frame)
            waiting = waiting[-2:]
        out.append(bands.predict(forecasts(t)))
    table = pd.concat(out).merge(history(noise)[["unique_id", "ds", "y"]].drop_duplicates())
    missed = (table.y - 10.0).abs() > table["hi-90"] - 10.0
    assert abs(missed[200:].mean() - 0.1) < 0.04


def test_an_outcome_that_never_comes_leaves_its_forecasts_open_until_they_expire() -> None:
    noise = noises(50)
    bands = Bands(horizon=4)
    for t in range(50):
        if t != 20:
            bands.observe(actuals(t, noise[t]))
        bands.predict(forecasts(t))
    still = 2 * (4 + 3 + 2 + 1)  # of the last four hours
    assert bands.pending == still + 2 * 4
    assert bands.expire(before=(START + 21 * HOUR).to_pydatetime()) == 2 * 4
    assert bands.pending == still
    assert bands.expire(before=np.datetime64("2024-01-01T21:00")) == 0


def test_observing_twice_or_what_was_never_forecast_changes_nothing() -> None:
    noise = noises(30)
    bands = Bands(horizon=4)
    follow(bands, 0, noise)
    before = bands.state()
    assert bands.observe(actuals(29, noise[29])) == 0
    assert bands.observe(actuals(30, noise[29], names=("c", "d"))) == 0
    assert bands.observe(actuals(30, np.full(2, np.nan))) == 0
    assert bands.state() == before


def test_observe_returns_how_many_forecasts_it_settled() -> None:
    bands = Bands(horizon=4)
    for t in range(6):
        bands.predict(forecasts(t))
    assert bands.observe(actuals(5, np.zeros(2))) == 2 * 4
    assert bands.observe(actuals(1, np.zeros(2))) == 2


def test_a_new_series_may_appear_at_any_time() -> None:
    bands = Bands(horizon=4)
    follow(bands, 0, noises(40))
    out = bands.predict(forecasts(40, names=("b", "new", "a")))
    assert bands.series == ("a", "b", "new")
    width = (out["hi-90"] - out["lo-90"]).groupby(out.unique_id).mean()
    assert width["new"] > 0.0  # from what the others have in common
    assert width["b"] > 10.0 * width["a"]


def test_replay_does_what_predict_and_observe_would_have_done() -> None:
    noise = noises(60)
    live, replayed = (Bands(coverage=[0.5, 0.9], horizon=4) for _ in range(2))
    out = pd.concat(follow(live, 0, noise), ignore_index=True)
    found = replayed.replay(history(noise).sample(frac=1.0, random_state=0)).sort_index()
    for column in ("lo-90", "lo-50", "hi-50", "hi-90"):
        np.testing.assert_allclose(found[column], out[column], rtol=1e-9)
    assert (replayed.pending, replayed.rounds) == (live.pending, live.rounds)


# ---- kinds of frames -----------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize(
    "convert",
    [
        lambda ds: (ds - START) // HOUR,
        lambda ds: ds.dt.tz_localize("Australia/Sydney"),
        lambda ds: ds.astype("datetime64[s]"),
    ],
    ids=["integers", "time zone", "seconds"],
)
def test_times_may_be_integers_have_a_zone_or_another_unit(convert: Callable[[Any], Any]) -> None:
    noise = noises(60)
    bands = Bands(horizon=4)
    for t in range(60):
        settled = bands.observe(actuals(t, noise[t]).assign(ds=lambda d: convert(d.ds)))
        assert settled == 2 * min(t, 4)
        bands.predict(forecasts(t).assign(ds=lambda d: convert(d.ds)))


def test_times_with_and_without_a_zone_are_not_mixed() -> None:
    """Taken for UTC, a local time would get the outcome of another hour."""
    zoned = forecasts(0).assign(ds=lambda d: d.ds.dt.tz_localize("Europe/Berlin"))
    bands = Bands(horizon=4)
    bands.predict(zoned)
    for again in (bands, Bands.from_state(bands.state())):
        with pytest.raises(TypeError, match="with a time zone as before, got times without a time"):
            again.observe(actuals(1, np.zeros(2)))
        with pytest.raises(TypeError, match="before must have a time zone"):
            again.expire(START)
    with pytest.raises(TypeError, match="with a time zone as before, got times without a time"):
        Bands(horizon=4).replay(zoned.assign(cutoff=START, y=0.0))
    in_utc = actuals(1, np.zeros(2)).assign(
        ds=lambda d: d.ds.dt.tz_localize("Europe/Berlin").dt.tz_convert("UTC")
    )
    assert bands.observe(in_utc) == 2  # another zone, the same times


def test_one_series_needs_no_column_that_names_it() -> None:
    bands = Bands(horizon=4, by=None)
    bands.predict(forecasts(0, names=("a",)).drop(columns="unique_id"))
    assert bands.observe(actuals(1, np.zeros(1), names=("a",)).drop(columns="unique_id")) == 1


def test_the_columns_of_a_named_model_start_with_its_name() -> None:
    frame = forecasts(0).rename(columns={"yhat": "AutoARIMA"}).assign(cutoff=START)
    assert "AutoARIMA-lo-90" in Bands(horizon=4).predict(frame)
    two = frame.assign(Naive=1.0)
    assert "Naive-hi-97.5" in Bands(coverage=0.975, horizon=4, model="Naive").predict(two)
    with pytest.raises(ValueError, match=r"found \['AutoARIMA', 'Naive'\]"):
        Bands(horizon=4).predict(two)


def test_input_frames_are_not_changed() -> None:
    frame = forecasts(0)
    kept = frame.copy()
    Bands(horizon=4).predict(frame)
    pd.testing.assert_frame_equal(frame, kept)


# ---- errors --------------------------------------------------------------------------------------

BAD_FORECASTS = {
    "no column 'ds'": lambda f: f.drop(columns="ds"),
    "yhat must be finite, at most .* got nan in row 2": lambda f: f.assign(
        yhat=f.yhat.where(f.index != 2)
    ),
    "yhat must contain numbers": lambda f: f.assign(yhat="x"),
    "two rows for the same series and time": lambda f: pd.concat([f, f[:1]]),
    "the horizon is 4": lambda f: pd.concat([f, forecasts(9)]),
    "ds must contain times or integers": lambda f: f.assign(ds=f.ds.astype(str)),
    "must contain times without a time zone as before": lambda f: f.assign(ds=range(8)),
    "ds must not be missing": lambda f: f.assign(ds=f.ds.where(f.index != 2)),
    "unique_id must not be missing": lambda f: f.assign(unique_id=None),
    "already has a column 'hi-90'": lambda f: f.assign(**{"hi-90": 0.0}),
    "must be a data frame": lambda f: f.to_dict(),
}
BAD_ACTUALS = {
    "no column 'y'": lambda a: a.drop(columns="y"),
    "y must be finite, at most 1e.100 in magnitude, got inf": lambda a: a.assign(y=np.inf),
    "two rows for the same series and time": lambda a: pd.concat([a, a]),
    "ds must contain times without a time zone as before, got integers": lambda a: a.assign(ds=3),
}


@pytest.mark.slow
@pytest.mark.parametrize("message", BAD_FORECASTS)
def test_a_failed_prediction_says_why_and_changes_nothing(message: str) -> None:
    bands = Bands(horizon=4)
    follow(bands, 0, noises(20))
    before = bands.state()
    with pytest.raises((ValueError, TypeError), match=message):
        bands.predict(BAD_FORECASTS[message](forecasts(20, names=("b", "new"))))
    assert bands.state() == before


@pytest.mark.parametrize("message", BAD_ACTUALS)
def test_a_failed_observation_says_why_and_changes_nothing(message: str) -> None:
    bands = Bands(horizon=4)
    follow(bands, 0, noises(20))
    before = bands.state()
    with pytest.raises((ValueError, TypeError), match=message):
        bands.observe(BAD_ACTUALS[message](actuals(20, np.zeros(2))))
    assert bands.state() == before


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"coverage": 90}, "strictly between 0 and 1"),
        ({"coverage": []}, "strictly between 0 and 1"),
        ({"coverage": [0.9, 0.9]}, "must not repeat"),
        ({"horizon": 0}, "horizon must be a whole number"),
        ({"by": 3}, "by must be the name of a column"),
        ({"quantiles": "q90"}, "quantiles must be two columns"),
        ({"quantiles": ("a", "b"), "model": "m"}, "not both"),
    ],
)
def test_settings_that_make_no_sense_are_rejected(settings: dict[str, Any], message: str) -> None:
    with pytest.raises((ValueError, TypeError), match=message):
        Bands(**settings)


def test_quantiles_that_cross_are_rejected() -> None:
    frame = forecasts(0).assign(low=2.0, high=1.0)
    with pytest.raises(ValueError, match=r"the lower quantile .* is above the upper one"):
        Bands(horizon=4, quantiles=("low", "high")).predict(frame)


# ---- state ---------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("joint", [False, True])
@pytest.mark.parametrize("coverage", [0.9, [0.5, 0.9]])
def test_bands_resume_in_the_middle_of_open_horizons_bit_for_bit(
    joint: bool, coverage: Any, tmp_path: Any
) -> None:
    noise = noises(80)
    bands = Bands(coverage, horizon=4, joint=joint)
    follow(bands, 0, noise[:40])
    bands.expire(before=(START + 30 * HOUR).to_pydatetime())
    bands.save(tmp_path / "bands")
    resumed = Bands.load(tmp_path / "bands")
    assert resumed.pending == bands.pending > 0
    ours, theirs = (follow(b, 40, noise[40:]) for b in (bands, resumed))
    for expected, found in zip(ours, theirs, strict=True):
        pd.testing.assert_frame_equal(found, expected, check_exact=True)
    assert resumed.state() == bands.state()
    resumed.predict(forecasts(200, names=("new", "newer", "newest")))


def test_a_state_of_something_else_or_damaged_is_rejected() -> None:
    from localarc import ARC

    with pytest.raises(StateError, match="of kind ARC"):
        Bands.from_state(ARC(alpha=0.1).state())
    data = bytearray(Bands().state())
    data[-40] ^= 1
    with pytest.raises(StateError, match="damaged"):
        Bands.from_state(bytes(data))


def test_a_copy_goes_on_by_itself() -> None:
    bands = Bands(horizon=4)
    follow(bands, 0, noises(20))
    other, before = copy.deepcopy(bands), bands.state()
    follow(other, 20, noises(20))
    assert bands.state() == before


@pytest.mark.slow
def test_an_open_forecast_takes_at_most_200_bytes() -> None:
    names = tuple(f"series {i}" for i in range(100))
    bands = Bands(horizon=24)
    for t in range(24):
        bands.predict(forecasts(t, 24, names))
        bands.observe(actuals(t, np.zeros(100), names))
    assert bands.pending == 100 * sum(range(1, 25))
    assert bands.nbytes / bands.pending <= 200.0


@pytest.mark.parametrize("coverage", ["text", None, [], [[0.5]], [[0.5], [0.6, 0.7]], object()])
def test_coverage_is_one_level_or_several(coverage: Any) -> None:
    with pytest.raises((TypeError, ValueError), match="coverage must"):
        Bands(coverage)
    with pytest.raises(ValueError, match="coverage must be one of"):
        Bands(0.9).certificate(coverage or "text")  # type: ignore[arg-type]


def test_text_is_no_answer_to_whether_bands_are_joint() -> None:
    with pytest.raises(TypeError, match="joint must be True or False, got 'no'"):
        Bands(joint="no")  # type: ignore[arg-type]


def forged(data: bytes) -> Iterator[tuple[str, bytes]]:
    """States with one number of one array changed to something that no run leaves there."""
    kind, content, arrays = serialization.decode(data)
    for name, array in arrays.items():
        if not array.size:
            continue
        wrong: list[float] = [-(2**62)] if array.dtype.kind != "f" else [np.nan, -np.inf]
        for value in wrong:
            if may_be(name, value):
                continue
            changed = array.copy()
            changed.flat[array.size // 2] = value
            yield f"{name}: {value}", serialization.encode(kind, content, {**arrays, name: changed})


def may_be(name: str, value: float) -> bool:
    """Times are any integers, lists are built anew, and a path may have no score yet."""
    rebuilt = name.endswith((": time", ": newest", ": earlier", ": later", ": same"))
    return rebuilt or (name == "paths: worst" and value == -np.inf)


@pytest.mark.parametrize("joint", [False, True])
def test_no_number_of_a_state_is_accepted_that_no_run_leaves(joint: bool) -> None:
    bands = Bands([0.5, 0.9], horizon=4, joint=joint)
    follow(bands, 0, noises(8))
    Bands.from_state(bands.state())
    accepted = []
    for what, data in forged(bands.state()):
        try:
            Bands.from_state(data)
        except StateError:
            continue
        accepted.append(what)
    assert accepted == []


def test_reversed_quantiles_and_a_list_as_a_series_are_state_errors() -> None:
    bands = Bands(horizon=4)
    follow(bands, 0, noises(8))
    kind, content, arrays = serialization.decode(bands.state())
    swapped = {**arrays, "rows: low": arrays["rows: high"] + 1.0}
    for names, stored in ((content["series"], swapped), ([["a"], *content["series"][1:]], arrays)):
        data = serialization.encode(kind, content | {"series": names}, stored)
        with pytest.raises(StateError, match="damaged"):
            Bands.from_state(data)


@pytest.mark.parametrize("method", ["predict", "observe"])
def test_series_without_a_hashable_name_and_repeated_columns_are_named(method: str) -> None:
    rows = pd.DataFrame({"unique_id": [["a"]], "ds": [0], "yhat": [0.0], "y": [0.0]})
    with pytest.raises(TypeError, match=r"unique_id must contain names.*got \['a'\]"):
        getattr(Bands(horizon=3), method)(rows)
    rows = pd.DataFrame([["a", 0, 0.0, 0.0, 1]], columns=["unique_id", "ds", "yhat", "y", "y"])
    with pytest.raises(ValueError, match="must have distinct columns, got 2 of the name 'y'"):
        getattr(Bands(horizon=3), method)(rows)
