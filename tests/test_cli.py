"""The command, as a user runs it."""

from __future__ import annotations

import csv
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from localarc import ARC, LARC, RBF, Constant, replay
from localarc._tune import tune
from localarc.streams.synthetic import heteroscedastic
from localarc.streams.tables import read_table

STREAM = heteroscedastic(400, seed=0)


def localarc(*arguments: object, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-W", "error", "-m", "localarc", *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=120,
        env=os.environ | environment,
    )


def replayed(file: Path, out: Path, *more: object) -> subprocess.CompletedProcess[str]:
    """A replay of the usual columns; an option that is given again counts instead."""
    usual = ["--features", "x1,x2", "--score", "s", "--alpha", "0.1", "--length-scale", "0.3"]
    return localarc("replay", file, *usual, "--out", out, *more)


def refused(done: subprocess.CompletedProcess[str], *expected: str) -> None:
    assert done.returncode == 2, done.stderr
    assert "Traceback" not in done.stderr
    assert done.stderr.count("\n") == 1
    assert done.stderr.startswith("localarc: ")
    assert done.stdout == ""
    for words in expected:
        assert words in done.stderr


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("data") / "rounds.csv"
    scores = STREAM.curves.breakpoints[1::2].tolist()
    groups = STREAM.groups or ()
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["x1", "x2", "s", "cost", "third"])
        rows = zip(STREAM.X.tolist(), scores, groups, strict=True)
        writer.writerows([*x, score, 0.5, group] for x, score, group in rows)
    return path


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def test_a_replay_writes_what_the_library_computes(table: Path, tmp_path: Path) -> None:
    out = tmp_path / "new" / "results"
    done = replayed(table, out, "--group", "third")
    assert done.returncode == 0, done.stderr
    assert sorted(p.name for p in out.iterdir()) == ["record.csv", "report.html", "summary.json"]
    stream = read_table(table, ["x1", "x2"], "s", group="third")
    expected = replay(LARC(0.1, RBF.from_paper(0.3)), stream.X, stream.curves)
    record = rows(out / "record.csv")
    assert list(record[0]) == ["round", "group", "threshold", "loss", "size"]
    np.testing.assert_array_equal([float(r["threshold"]) for r in record], expected.thresholds)
    summary = json.loads((out / "summary.json").read_text(), parse_constant=pytest.fail)
    assert summary["methods"][0]["risk"] == expected.risk
    assert summary["methods"][0]["score_range"]["stated"] is False
    for words in ("L-ARC", "easy", "hard", "±", "No score range was stated", "report.html"):
        assert words in done.stdout
    assert done.stderr == ""


def test_compare_runs_arc_beside_the_method(table: Path, tmp_path: Path) -> None:
    done = replayed(table, tmp_path, "--method", "mondrian", "--group", "third", "--compare")
    assert done.returncode == 0, done.stderr
    record = rows(tmp_path / "record.csv")
    assert [row["method"] for row in record] == ["Mondrian"] * 400 + ["ARC"] * 400
    summary = json.loads((tmp_path / "summary.json").read_text())
    assert [each["method"] for each in summary["methods"]] == ["Mondrian", "ARC"]
    assert "ARC" in done.stdout


def test_only_larc_needs_features(table: Path, tmp_path: Path) -> None:
    usual = ["replay", table, "--score", "s", "--alpha", "0.1", "--out", tmp_path / "out"]
    refused(localarc(*usual), "--method larc needs --features")
    done = localarc(*usual, "--method", "arc")
    assert done.returncode == 0, done.stderr
    assert replayed(table, tmp_path / "same", "--method", "arc").returncode == 0
    found, same = (rows(tmp_path / name / "record.csv") for name in ("out", "same"))
    assert found == same
    refused(localarc("tune", *usual[1:], "--length-scales", "1"), "--features")


def test_every_option_reaches_the_calibrator(table: Path, tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    done = replayed(
        *(table, tmp_path, "--loss", "cost", "--kernel", "matern32", "--length-scale", "0.2,5"),
        *("--rate", 0.5, "--regularization", 0.01, "--memory", "last:50", "--clip", 2),
        *("--score-range", "-1,30", "--loss-bound", 2, "--format", "parquet", "--quiet"),
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    from pyarrow.parquet import read_table as read_parquet

    record = read_parquet(tmp_path / "record.parquet")
    assert record.column_names == ["round", "threshold", "loss", "size"]
    assert record.num_rows == 400
    run = json.loads((tmp_path / "summary.json").read_text())["methods"][0]
    assert run["score_range"] == {"low": -1.0, "high": 30.0, "stated": True}
    for words in ("Matern32(length_scale=(0.2, 5.0)", "eta=0.5", "m=50", "clip=2.0"):
        assert words in run["calibrator"]


@pytest.fixture(scope="module")
def quantiles(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Rounds of quantile intervals, whose scores are negative when the truth is well inside."""
    path = tmp_path_factory.mktemp("data") / "quantiles.csv"
    scores = STREAM.curves.breakpoints[1::2] - 0.5
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["x1", "x2", "s", "w"])
        rows = zip(STREAM.X.tolist(), scores.tolist(), strict=True)
        writer.writerows([*x, score, 1.0] for x, score in rows)
    return path


@pytest.mark.parametrize("width", [[], ["--width", "w"]])
def test_sizes_of_negative_scores_take_a_width(
    quantiles: Path, tmp_path: Path, width: list[str]
) -> None:
    done = replayed(quantiles, tmp_path, *width)
    assert done.returncode == 0, done.stderr
    assert ("note: sizes are left out" in done.stderr) is not bool(width)
    sizes = [float(row["size"]) for row in rows(tmp_path / "record.csv") if row["size"]]
    assert len(sizes) == (400 if width else 0)
    thresholds = [float(row["threshold"]) for row in rows(tmp_path / "record.csv")]
    assert sizes == pytest.approx([max(0.0, 1.0 + 2.0 * each) for each in thresholds][: len(sizes)])
    assert ("group-size" in (tmp_path / "report.html").read_text()) is bool(width)


@pytest.mark.parametrize(
    ("rate", "words"),
    [
        ("0.5", "InverseSqrt(eta=0.5)"),
        ("constant:0.1", "Constant(eta=0.1)"),
        ("power:0.5:0.7", "Power(eta=0.5, exponent=0.7)"),
    ],
)
def test_a_rate_is_a_number_or_a_kind(table: Path, tmp_path: Path, rate: str, words: str) -> None:
    assert replayed(table, tmp_path, "--rate", rate).returncode == 0
    summary = json.loads((tmp_path / "summary.json").read_text())
    assert words in summary["methods"][0]["calibrator"]


def test_a_broken_assumption_is_a_note_and_not_a_python_warning(
    table: Path, tmp_path: Path
) -> None:
    done = replayed(table, tmp_path, "--loss", "cost", "--alpha", 0.6)
    assert done.returncode == 0
    assert done.stderr.startswith("note: an empty set costs less than alpha")
    assert "Warning" not in done.stderr
    assert done.stderr.count("\n") == 1


def test_a_folder_keeps_its_other_files(table: Path, tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("mine")
    (tmp_path / "record.csv").write_text("old")
    assert replayed(table, tmp_path, "--method", "arc").returncode == 0
    assert (tmp_path / "mine.txt").read_text() == "mine"
    assert (tmp_path / "record.csv").read_text() != "old"
    assert len(list(tmp_path.iterdir())) == 4


def test_an_earlier_record_of_another_kind_goes_with_its_run(table: Path, tmp_path: Path) -> None:
    (tmp_path / "record.parquet").write_text("old")
    (tmp_path / "mine.parquet").write_text("mine")
    assert replayed(table, tmp_path, "--alpha", 2).returncode == 2
    assert (tmp_path / "record.parquet").exists()
    assert replayed(table, tmp_path, "--method", "arc").returncode == 0
    names = sorted(path.name for path in tmp_path.iterdir())
    assert names == ["mine.parquet", "record.csv", "report.html", "summary.json"]


def test_the_file_that_is_read_is_not_replaced(table: Path, tmp_path: Path) -> None:
    for command, name in ((replayed, "record.csv"), (tuned, "tuning.csv")):
        (tmp_path / name).write_text(table.read_text())
        refused(command(tmp_path / name, tmp_path), "would be replaced by what is written")
        assert (tmp_path / name).read_text() == table.read_text()


HEAD = "x1,x2,s\n"
GOOD = HEAD + "1,2,0.5\n2,3,0.25\n"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", ["bad.csv is empty"]),
        (HEAD, ["no rows"]),
        ("x1,x2,t\n1,2,3\n", ["no column 's'", ": it has 'x1', 'x2', 't'"]),
        ("x1,x2,s,s\n1,2,3,4\n", ["more than one column 's'"]),
        (HEAD + "1,2,3\nabc,3,4\n", ["bad.csv", "row 2 (line 3), column 'x1'", "'abc'"]),
        (HEAD + "1,2,3\n2,3,nan\n", ["row 2 (line 3), column 's'", "finite"]),
        (HEAD + "1,2,3\n2,,4\n", ["row 2 (line 3), column 'x2'", "empty"]),
        (HEAD + "1,2,3\n2,4\n", ["row 2 (line 3): 2 cells"]),
        (HEAD + "1,2,3\n1,3,4\n", ["column 'x1'", "1 in every row"]),
    ],
)
def test_a_bad_table_is_one_sentence_and_leaves_nothing(
    tmp_path: Path, text: str, expected: list[str]
) -> None:
    (tmp_path / "bad.csv").write_text(text)
    refused(replayed(tmp_path / "bad.csv", tmp_path / "out"), *expected)
    assert [path.name for path in tmp_path.iterdir()] == ["bad.csv"]


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (["--alpha", "1.5"], ["alpha must lie strictly between 0 and the loss bound 1.0, got 1.5"]),
        (["--alpha", "0"], ["alpha must lie strictly between 0"]),
        (["--alpha", "nan"], ["alpha must be finite"]),
        (["--alpha", "high"], ["--alpha", "'high'"]),
        (["--method", "best"], ["--method", "'best'"]),
        (["--method", "mondrian"], ["--method mondrian needs --group"]),
        (["--method", "arc", "--compare"], ["--compare runs ARC beside another method"]),
        (["--length-scale", "-1"], ["length_scale must be positive, got -1"]),
        (["--length-scale", "wide"], ["--length-scale", "'wide'"]),
        (["--length-scale", "1,2,3"], ["length_scale must be one number or one per feature"]),
        (["--memory", "last:0"], ["--memory", "m must be a whole number of at least 1"]),
        *(
            (["--memory", kind], ["expected auto"])
            for kind in ("some", "last:x", "last", "lattice:x")
        ),
        (["--memory", "lattice:2"], ["--memory", "tolerance must lie between"]),
        (["--score-range", "3,1"], ["score_range must be ascending"]),
        (["--score-range", "1"], ["score_range must be two numbers"]),
        (["--rate", "fast"], ["--rate", "expected a number eta", "'fast'"]),
        (["--rate", "power:1"], ["--rate", "power:ETA:EXPONENT"]),
        (["--rate", "constant:0.1:2"], ["--rate", "constant:ETA"]),
        (["--rate", "power:1:2"], ["--rate", "exponent must lie in [0, 1)"]),
        (["--rate", "-1"], ["--rate", "eta must be positive"]),
        (["--rate", "100000"], ["rate(1) * regularization must be below 1"]),
        (["--loss", "cost"], ["no column 'cost'"]),
        (["--group", "g"], ["no column 'g'"]),
        (["--features", "x1,x1"], ["each once"]),
        (["--nonsense"], ["--nonsense"]),
    ],
)
def test_a_bad_option_is_one_sentence_and_leaves_nothing(
    tmp_path: Path, options: list[str], expected: list[str]
) -> None:
    (tmp_path / "good.csv").write_text(GOOD)
    refused(replayed(tmp_path / "good.csv", tmp_path / "out", *options), *expected)
    assert [path.name for path in tmp_path.iterdir()] == ["good.csv"]


def test_files_that_cannot_be_read_are_refused(tmp_path: Path) -> None:
    refused(replayed(tmp_path / "none.csv", tmp_path / "out"), "none.csv does not exist")
    refused(replayed(tmp_path, tmp_path / "out"), "not a table")
    (tmp_path / "t.parquet").write_bytes(b"PAR1 no PAR1")
    refused(replayed(tmp_path / "t.parquet", tmp_path / "out"), "t.parquet")
    assert not (tmp_path / "out").exists()


def test_a_folder_that_cannot_be_written_is_refused(table: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    refused(replayed(table, tmp_path / "file"), "is a file, not a folder")
    refused(replayed(table, tmp_path / "file" / "out"), "is a file, not a folder")
    (tmp_path / "out" / "summary.json").mkdir(parents=True)
    refused(replayed(table, tmp_path / "out"), "summary.json is a folder")
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["summary.json"]


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="needs a folder nobody can write to")
def test_a_read_only_folder_is_refused(table: Path) -> None:
    refused(replayed(table, Path("/proc/localarc")), "cannot write to /proc/localarc")


def test_the_demo_prints_its_table_and_names_its_files(tmp_path: Path) -> None:
    done = localarc("demo", "--rounds", 600, "--out", tmp_path / "demo")
    assert done.returncode == 0, done.stderr
    for words in ("easy", "middle", "hard", "risk, ARC", "risk, L-ARC"):
        assert words in done.stdout
    for name in ("easy-hard.png", "report.html"):
        assert str(tmp_path / "demo" / name) in done.stdout
        assert (tmp_path / "demo" / name).stat().st_size > 10_000
    refused(localarc("demo", "--rounds", 0, "--out", tmp_path / "none"), "rounds")
    refused(localarc("demo", "--seed", -1, "--out", tmp_path / "none"), "--seed", "-1")
    assert not (tmp_path / "none").exists()


def test_help_and_version_are_there_and_light() -> None:
    assert "replay" in localarc("--help").stdout
    assert "--score-range" in localarc("replay", "--help").stdout
    assert "[default: localarc-NAME]" in localarc("reproduce", "--help").stdout
    assert localarc("--version").stdout.startswith("localarc, version ")
    heavy = {"matplotlib", "numba", "pandas"}
    code = f"import localarc.cli, sys; print({heavy} & set(sys.modules))"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "set()"


@pytest.mark.parametrize(("option", "value"), [("--jobs", 0), ("--trials", 0), ("--seed", -1)])
def test_reproduce_refuses_before_it_starts(tmp_path: Path, option: str, value: int) -> None:
    out = tmp_path / "out"
    done = localarc("reproduce", "electricity", "--quick", option, value, "--out", out)
    refused(done, f"'{option}'", str(value))


def tuned(file: Path, out: Path, *more: object) -> subprocess.CompletedProcess[str]:
    usual = ["--features", "x1,x2", "--score", "s", "--alpha", "0.1", "--length-scales", "0.3,3"]
    return localarc("tune", file, *usual, "--out", out, *more)


def test_tune_chooses_what_the_library_chooses(table: Path, tmp_path: Path) -> None:
    out = tmp_path / "tuning"
    done = tuned(table, out, "--rates", "1,constant:0.1", "--neighbourhood", "1")
    assert done.returncode == 0, done.stderr
    assert sorted(p.name for p in out.iterdir()) == ["trade-off.png", "tuning.csv"]
    stream = read_table(table, ["x1", "x2"], "s")
    rates = (1.0, Constant(0.1))
    candidates: list[ARC | LARC] = [ARC(0.1, rate) for rate in rates]
    candidates += [LARC(0.1, RBF.from_paper(scale), rate) for scale in (0.3, 3.0) for rate in rates]
    expected = tune(stream.X, stream.curves, candidates, RBF.from_paper(1.0))
    found = rows(out / "tuning.csv")
    assert [row["rate"] for row in found] == ["1", "constant:0.1"] * 3
    assert [float(row["worst"]) for row in found] == [j.worst for j in expected.evaluations]
    assert [float(row["size"]) for row in found] == [j.size for j in expected.evaluations]
    assert [int(row["chosen"]) for row in found].index(1) == expected.chosen
    assert expected.held_out is not None
    for words in (
        "The first 300 rounds",
        "the last 100 rounds, held out",
        f"risk {expected.held_out.risk:.4f}",
        "used to choose and flatter",
        "as options of localarc replay",
    ):
        assert words in done.stdout


def test_tune_without_sizes_chooses_by_the_worst_neighbourhood(
    quantiles: Path, tmp_path: Path
) -> None:
    (tmp_path / "trade-off.png").write_text("old")
    done = tuned(quantiles, tmp_path, "--rates", "0.5,1", "--neighbourhood", "1")
    assert done.returncode == 0, done.stderr
    assert "the choice is by the risk of the worst neighbourhood alone" in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["tuning.csv"]
    found = rows(tmp_path / "tuning.csv")
    worst = [max(0.0, float(row["worst"]) - 0.1) for row in found]
    assert worst[[row["chosen"] for row in found].index("1")] == min(worst)
    assert "sizes" not in tuned(quantiles, tmp_path, "--width", "w").stderr
    assert (tmp_path / "trade-off.png").exists()


def test_tune_says_when_nothing_is_held_out_and_when_the_grid_ends_too_early(
    table: Path, tmp_path: Path
) -> None:
    done = tuned(table, tmp_path, "--held-out", 0, "--rates", "0.01,5", "--kernels", "rbf,laplace")
    assert done.returncode == 0, done.stderr
    assert "nothing is held out" in done.stderr
    assert "rate was chosen, offer" in done.stderr
    assert "held out:" not in done.stdout
    assert "quote the held-out ones" not in done.stdout


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--length-scales", "0.3,soon"], "expected numbers"),
        (["--length-scales", ""], "expected numbers such as 0.5,1 but got ''"),
        (["--jobs", "0"], "expected at least 1 process, or -1"),
        (["--kernels", "rbf,round"], "expected names among"),
        (["--held-out", "1"], "held_out must be below 1"),
        (["--neighbourhood", "1e-9"], "no neighbourhood holds"),
    ],
)
def test_tune_refuses_in_one_sentence(
    table: Path, tmp_path: Path, options: list[str], words: str
) -> None:
    refused(tuned(table, tmp_path / "out", *options), words)
    assert not (tmp_path / "out").exists()
