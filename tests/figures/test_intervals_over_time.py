"""Intervals over time: the figure and its text state what the intervals covered."""

from __future__ import annotations

import datetime
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from matplotlib.image import imread

from localarc.figures import colours, intervals_over_time
from localarc.sets import Intervals

Y = np.random.default_rng(0).normal(size=400)
ENDS = np.full(400, -1.5), np.full(400, 1.5)
COVERED = float(((Y >= -1.5) & (Y <= 1.5)).mean())


def title(picture: Any) -> str:
    return str(picture.figure.get_suptitle())


def misses(picture: Any, panel: int = 0) -> int:
    lines = picture.figure.axes[panel].get_lines()
    return next(len(line.get_xdata()) for line in lines if line.get_label() == "missed")


def test_the_title_and_the_text_state_the_coverage_that_was_found() -> None:
    picture = intervals_over_time(Y, {"mine": ENDS})
    assert title(picture).startswith(f"mine: {100 * COVERED:.1f} % of 400 outcomes covered")
    assert picture.text.startswith(title(picture).replace("\n", " "))
    assert "mean width 3." in picture.text


def test_every_miss_among_the_rounds_shown_is_marked_once() -> None:
    assert misses(intervals_over_time(Y, ENDS, last=400)) == round(400 * (1 - COVERED))
    latest = Y[-50:]
    assert misses(intervals_over_time(Y, ENDS, last=50)) == int((np.abs(latest) > 1.5).sum())


def test_the_rolling_coverage_is_the_share_of_the_latest_outcomes() -> None:
    picture = intervals_over_time(Y, {"mine": ENDS}, window=80)
    line = next(li for li in picture.figure.axes[-1].get_lines() if li.get_label() == "mine")
    assert np.asarray(line.get_ydata())[-1] == pytest.approx((np.abs(Y[-80:]) <= 1.5).mean())


def test_several_methods_are_drawn_in_their_own_colours_and_compared_in_the_title() -> None:
    narrow = np.full(400, -1.0), np.full(400, 1.0)
    picture = intervals_over_time(Y, {"AutoLARC": ENDS, "ARC": narrow}, window=100)
    assert re.search(r"AutoLARC \d\d\.\d %, ARC \d\d\.\d %", title(picture).replace("\n", " "))
    drawn = {line.get_label(): line.get_color() for line in picture.figure.axes[-1].get_lines()}
    assert {name: drawn[name] for name in ("AutoLARC", "ARC")} == colours(["AutoLARC", "ARC"])


def test_methods_share_the_axis_of_outcomes_so_that_widths_compare() -> None:
    wide = np.full(400, -30.0), np.full(400, 30.0)
    first, second, _ = intervals_over_time(Y, {"AutoLARC": ENDS, "ARC": wide}).figure.axes
    assert first.get_ylim() == second.get_ylim()
    assert second.get_ylim()[1] > 30.0


def test_pending_outcomes_count_neither_as_covered_nor_as_missed() -> None:
    pending = Y.copy()
    pending[-100:] = np.nan
    picture = intervals_over_time(pending, ENDS, last=400)
    assert "of 300 outcomes covered" in picture.text
    assert misses(picture) == int((np.abs(Y[:300]) > 1.5).sum())


def test_an_infinite_interval_covers_everything_and_can_be_drawn() -> None:
    picture = intervals_over_time(Y, (np.full(400, -np.inf), np.full(400, np.inf)))
    assert "100.0 % of 400 outcomes covered" in picture.text
    assert "mean width inf" in picture.text
    picture.figure.draw_without_rendering()


def test_an_interval_whose_ends_cross_is_empty_and_missed() -> None:
    assert "0.0 % of 400 outcomes covered" in intervals_over_time(Y, (ENDS[1], ENDS[0])).text


@pytest.mark.parametrize(
    "times",
    [
        pd.date_range("2025-01-01", periods=400, freq="h"),
        pd.Series(pd.date_range("2025-01-01", periods=400, freq="h", tz="Europe/Paris")),
        pl.Series(pd.date_range("2025-01-01", periods=400, freq="h").to_pydatetime()),
        [datetime.date(2025, 1, 1) + datetime.timedelta(days=d) for d in range(400)],
        np.linspace(0.0, 7.0, 400),
    ],
    ids=["index", "zone", "polars", "dates", "numbers"],
)
def test_the_time_axis_shows_dates_and_numbers(times: Any) -> None:
    picture = intervals_over_time(Y, Intervals(*ENDS), times)
    picture.figure.draw_without_rendering()
    labels = " ".join(text.get_text() for text in picture.figure.axes[-1].get_xticklabels())
    assert ("2025-0" in labels) is not isinstance(times, np.ndarray)


def test_series_of_frames_are_drawn_like_arrays() -> None:
    series = intervals_over_time(pd.Series(Y), (pl.Series(ENDS[0]), pd.Series(ENDS[1])))
    assert series.text == intervals_over_time(Y, ENDS).text


def test_the_text_is_stored_in_the_file(tmp_path: Path) -> None:
    picture = intervals_over_time(Y, {"a & b": ENDS})
    for kind, stored in ((".png", picture.text), (".svg", picture.text.replace("&", "&amp;"))):
        assert stored.encode() in picture.save(tmp_path / f"intervals{kind}").read_bytes()
    assert 'role="img" aria-label="a &amp; b: ' in (tmp_path / "intervals.svg").read_text()
    assert imread(tmp_path / "intervals.png").shape[1] == 8.5 * 160


def test_a_notebook_shows_the_picture_with_its_text() -> None:
    picture = intervals_over_time(Y, {'"mine"': ENDS})
    assert picture._repr_html_().startswith('<img alt="&quot;mine&quot;: ')


WRONG: Mapping[str, tuple[dict[str, Any], str]] = {
    "lengths": ({"y": Y[:-1]}, "one entry per outcome, got 400 lower and 400 upper ends for 399"),
    "nothing known": ({"y": np.full(400, np.nan)}, "at least one outcome"),
    "no pair": ({"intervals": ENDS[0]}, r"a pair \(lower, upper\)"),
    "matrix": ({"y": Y.reshape(200, 2)}, r"one number per round, got shape \(200, 2\)"),
    "nan": ({"intervals": (ENDS[0] * np.nan, ENDS[1])}, "Use infinity for an open end"),
    "too many": ({"intervals": dict.fromkeys("abcde", ENDS)}, "one to 4 methods, got 5"),
    "percent": ({"coverage": 90}, r"Use 0\.9 for 90 %"),
    "window": ({"window": 401}, "window must be at most 400"),
    "last": ({"last": 0}, "last must be a whole number of at least 1"),
    "order": ({"time": np.arange(400)[::-1]}, "Sort the rounds by time"),
    "text": ({"time": ["Monday"] * 400}, "time must contain only numbers"),
    "times": ({"time": [1, 2]}, "time must have one entry per round, got 2 for 400"),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_input_is_rejected_with_advice(name: str) -> None:
    given: dict[str, Any] = {"y": Y, "intervals": ENDS}
    wrong, message = WRONG[name]
    with pytest.raises((ValueError, TypeError), match=message):
        intervals_over_time(**given | wrong)


def test_other_formats_are_left_to_matplotlib(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"picture\.figure\.savefig"):
        intervals_over_time(Y, ENDS).save(tmp_path / "intervals.tiff")
