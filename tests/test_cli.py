"""The commands: results, messages and files; run in-process, unless a process is the point."""

from __future__ import annotations

import csv
import json
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from commands import (
    Result,
    assert_rejected,
    localarc,
    read_rows,
    run_tune,
    write_quantiles,
    write_rounds,
)
from localarc import LARC, RBF, AutoLARC, replay
from localarc.cli.group import BadInput, user_errors
from localarc.missing_data import DataError
from localarc.reporting import Run, assess
from localarc.streams import read_table


def columns(file: Path) -> list[object]:
    """A replay with nothing but columns and a target, still without a folder."""
    return ["replay", file, "--features", "x1,x2", "--score", "s", "--alpha", "0.1"]


def run_replay(file: Path, out: Path, *more: object) -> Result:
    """Replay with the usual columns and L-ARC; an option given again replaces the usual one."""
    return localarc(*columns(file), "--length-scale", "0.4", "--out", out, *more)


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_rounds(tmp_path_factory.mktemp("data") / "rounds.csv")


@pytest.fixture(scope="module")
def quantiles(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_quantiles(tmp_path_factory.mktemp("data") / "quantiles.csv")


def test_a_replay_writes_what_the_library_computes(table: Path, tmp_path: Path) -> None:
    out = tmp_path / "new" / "results"
    result = run_replay(table, out, "--group", "third")
    assert result.status == 0, result.stderr
    assert sorted(p.name for p in out.iterdir()) == ["record.csv", "report.html", "summary.json"]
    stream = read_table(table, ["x1", "x2"], "s", group="third")
    expected = replay(LARC(0.1, RBF(0.4)), stream.X, stream.curves)
    record = read_rows(out / "record.csv")
    assert list(record[0]) == ["round", "group", "threshold", "loss", "size"]
    np.testing.assert_array_equal([float(r["threshold"]) for r in record], expected.thresholds)
    summary = json.loads((out / "summary.json").read_text(), parse_constant=pytest.fail)
    assert summary["methods"][0]["risk"] == expected.risk
    assert summary["methods"][0]["score_range"]["stated"] is False
    for words in ("L-ARC", "easy", "hard", "±", "No score range was stated", "report.html"):
        assert words in result.stdout
    assert result.stderr == ""


def test_a_replay_says_that_sets_are_large_although_misses_are_right(tmp_path: Path) -> None:
    random = np.random.default_rng(0)
    scores = np.where(random.uniform(size=3000) < 0.01, 9999.0, abs(random.normal(size=3000)))
    rows = [f"{x},{s}" for x, s in zip(random.uniform(size=3000), scores, strict=True)]
    (tmp_path / "codes.csv").write_text("\n".join(["x,s", *rows]))
    asked = ("--features", "x", "--score", "s", "--alpha", "0.1", "--out", tmp_path / "out")
    result = localarc("replay", tmp_path / "codes.csv", *asked)
    assert result.status == 0, result.stderr
    (method,) = json.loads((tmp_path / "out" / "summary.json").read_text())["methods"]
    ratio = float(f"{method['size_ratio']:.2g}")
    sentence = f"{ratio:,g} times as large as a rolling quantile's"
    assert method["size_ratio"] > 20
    assert method["verdict"]["state"] == "cautious"
    assert sentence in method["verdict"]["text"]
    assert sentence in result.stdout
    assert sentence in (tmp_path / "out" / "report.html").read_text().replace("&#x27;", "'")


@pytest.mark.slow
def test_compare_also_runs_arc(table: Path, tmp_path: Path) -> None:
    result = run_replay(table, tmp_path, "--method", "mondrian", "--group", "third", "--compare")
    assert result.status == 0, result.stderr
    record = read_rows(tmp_path / "record.csv")
    assert [row["method"] for row in record] == ["Mondrian"] * 400 + ["ARC"] * 400
    summary = json.loads((tmp_path / "summary.json").read_text())
    assert [each["method"] for each in summary["methods"]] == ["Mondrian", "ARC"]
    assert "ARC" in result.stdout


@pytest.mark.slow
def test_without_a_kernel_the_method_is_autolarc(table: Path, tmp_path: Path) -> None:
    result = localarc(*columns(table), "--group", "third", "--out", tmp_path)
    assert result.status == 0, result.stderr
    stream = read_table(table, ["x1", "x2"], "s", group="third")
    cal = AutoLARC(0.1)
    expected = replay(cal, stream.X, stream.curves, stream.groups)
    verdict = assess(stream, Run("AutoLARC", cal, expected)).verdict
    found = [float(row["threshold"]) for row in read_rows(tmp_path / "record.csv")]
    np.testing.assert_array_equal(found, expected.thresholds)
    assert result.stdout.startswith(f"AutoLARC: {verdict.text.rstrip('.')}")
    assert "For future rounds, theorem E assumes" in result.stdout
    run = json.loads((tmp_path / "summary.json").read_text())["methods"][0]
    assert set(run["certificate"]["groups"]) == {"easy", "middle", "hard"}
    assert run["bound"]["name"] == "theorem E"


@pytest.mark.slow
def test_units_of_scores_and_features_change_no_decision(table: Path, tmp_path: Path) -> None:
    rows = read_rows(table)
    for row in rows:
        row["x1"] = str(float(row["x1"]) * 1024.0)
        row["s"] = str(float(row["s"]) / 1024.0)
    with (tmp_path / "scaled.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    records = []
    for name, file_ in (("one", table), ("other", tmp_path / "scaled.csv")):
        assert localarc(*columns(file_), "--out", tmp_path / name).status == 0
        records.append([row["loss"] for row in read_rows(tmp_path / name / "record.csv")])
    assert records[0] == records[1]


@pytest.mark.slow
def test_beside_autolarc_arc_has_a_rate_in_the_units_of_the_scores(
    table: Path, tmp_path: Path
) -> None:
    assert localarc(*columns(table), "--compare", "--out", tmp_path).status == 0
    runs = json.loads((tmp_path / "summary.json").read_text())["methods"]
    scores = [float(row["s"]) for row in read_rows(table)]
    spread = np.quantile(scores, 0.9) - np.quantile(scores, 0.1)
    assert f"rate=InverseSqrt(eta={float(f'{spread:.3g}')})" in runs[1]["calibrator"]
    assert localarc(*columns(table), "--compare", "--rate", 3, "--out", tmp_path).status == 0
    runs = json.loads((tmp_path / "summary.json").read_text())["methods"]
    assert "rate=InverseSqrt(eta=3.0)" in runs[1]["calibrator"]


def test_options_of_autolarc_reach_it(table: Path, tmp_path: Path) -> None:
    own = ("--limits", ",40", "--promise", "at most", "--evenness", 2, "--loss-bound", 3)
    result = localarc(*columns(table), *own, "--loss", "cost", "--out", tmp_path)
    assert result.status == 0, result.stderr
    run = json.loads((tmp_path / "summary.json").read_text())["methods"][0]
    words = ("limits=(None, 40.0)", "promise='at most'", "evenness=2.0", "loss_bound=3.0")
    assert all(each in run["calibrator"] for each in words)
    assert run["bound"]["side"] == "above"


@pytest.mark.slow
def test_only_larc_requires_features(table: Path, tmp_path: Path) -> None:
    usual = ["replay", table, "--score", "s", "--alpha", "0.1", "--out", tmp_path / "out"]
    assert_rejected(localarc(*usual, "--kernel", "rbf"), "--method larc requires --features")
    without = localarc(*usual, "--group", "third")
    assert without.status == 0, without.stderr
    assert without.stdout.startswith("AutoLARC: ")
    page = (tmp_path / "out" / "report.html").read_text()
    assert "The stream has no features, hence no neighbourhoods." in page
    assert "The next threshold of AutoLARC depends on the group" in page
    result = localarc(*usual, "--method", "arc")
    assert result.status == 0, result.stderr
    assert run_replay(table, tmp_path / "same", "--method", "arc").status == 0
    found, same = (read_rows(tmp_path / name / "record.csv") for name in ("out", "same"))
    assert found == same
    assert_rejected(localarc("tune", *usual[1:], "--length-scales", "1"), "--features")


@pytest.mark.slow
def test_every_option_reaches_the_calibrator(table: Path, tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    result = run_replay(
        *(table, tmp_path, "--loss", "cost", "--kernel", "matern32", "--length-scale", "0.2,5"),
        *("--rate", 0.5, "--regularization", 0.01, "--memory", "last:50", "--clip", 2),
        *("--score-range", "-1,30", "--loss-bound", 2, "--format", "parquet", "--quiet"),
    )
    assert result == Result(0, "", "")
    from pyarrow.parquet import read_table as read_parquet

    record = read_parquet(tmp_path / "record.parquet")
    assert record.column_names == ["round", "threshold", "loss", "size"]
    assert record.num_rows == 400
    run = json.loads((tmp_path / "summary.json").read_text())["methods"][0]
    assert run["score_range"] == {"low": -1.0, "high": 30.0, "stated": True}
    for words in ("Matern32(length_scale=(0.2, 5.0)", "eta=0.5", "m=50", "clip=2.0"):
        assert words in run["calibrator"]


@pytest.mark.slow
@pytest.mark.parametrize("width", [[], ["--width", "w"]])
def test_sizes_with_negative_scores_require_a_width(
    quantiles: Path, tmp_path: Path, width: list[str]
) -> None:
    result = run_replay(quantiles, tmp_path, *width)
    assert result.status == 0, result.stderr
    assert ("note: set sizes are omitted" in result.stderr) is not bool(width)
    sizes = [float(row["size"]) for row in read_rows(tmp_path / "record.csv") if row["size"]]
    assert len(sizes) == (400 if width else 0)
    thresholds = [float(row["threshold"]) for row in read_rows(tmp_path / "record.csv")]
    assert sizes == pytest.approx([max(0.0, 1.0 + 2.0 * each) for each in thresholds][: len(sizes)])
    assert ("group-size" in (tmp_path / "report.html").read_text()) is bool(width)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("rate", "words"),
    [
        ("0.5", "InverseSqrt(eta=0.5)"),
        ("constant:0.1", "Constant(eta=0.1)"),
        ("power:0.5:0.7", "Power(eta=0.5, exponent=0.7)"),
    ],
)
def test_a_rate_is_a_number_or_a_kind(table: Path, tmp_path: Path, rate: str, words: str) -> None:
    assert run_replay(table, tmp_path, "--rate", rate).status == 0
    summary = json.loads((tmp_path / "summary.json").read_text())
    assert words in summary["methods"][0]["calibrator"]


def test_a_violated_assumption_is_a_note_and_not_a_python_warning(
    table: Path, tmp_path: Path
) -> None:
    result = run_replay(table, tmp_path, "--loss", "cost", "--alpha", 0.6)
    assert result.status == 0
    assert result.stderr.startswith("note: an empty set costs less than alpha")
    assert "Warning" not in result.stderr
    assert result.stderr.count("\n") == 1


def test_a_folder_keeps_its_other_files(table: Path, tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("mine")
    (tmp_path / "record.csv").write_text("old")
    assert run_replay(table, tmp_path, "--method", "arc").status == 0
    assert (tmp_path / "mine.txt").read_text() == "mine"
    assert (tmp_path / "record.csv").read_text() != "old"
    assert len(list(tmp_path.iterdir())) == 4


def test_an_earlier_record_in_another_format_is_removed(table: Path, tmp_path: Path) -> None:
    (tmp_path / "record.parquet").write_text("old")
    (tmp_path / "mine.parquet").write_text("mine")
    assert run_replay(table, tmp_path, "--alpha", 2).status == 2
    assert (tmp_path / "record.parquet").exists()
    assert run_replay(table, tmp_path, "--method", "arc").status == 0
    names = sorted(path.name for path in tmp_path.iterdir())
    assert names == ["mine.parquet", "record.csv", "report.html", "summary.json"]


def test_the_input_file_is_not_replaced(table: Path, tmp_path: Path) -> None:
    for command, name in ((run_replay, "record.csv"), (run_tune, "tuning.csv")):
        (tmp_path / name).write_text(table.read_text())
        assert_rejected(command(tmp_path / name, tmp_path), "would be replaced by the output")
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
def test_a_bad_table_is_a_one_line_error_and_no_output(
    tmp_path: Path, text: str, expected: list[str]
) -> None:
    (tmp_path / "bad.csv").write_text(text)
    assert_rejected(run_replay(tmp_path / "bad.csv", tmp_path / "out"), *expected)
    assert [path.name for path in tmp_path.iterdir()] == ["bad.csv"]


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (["--alpha", "1.5"], ["alpha must lie strictly between 0 and the loss bound 1.0, got 1.5"]),
        (["--alpha", "0"], ["alpha must lie strictly between 0"]),
        (["--alpha", "nan"], ["alpha must be finite"]),
        (["--alpha", "high"], ["--alpha", "'high'"]),
        (["--method", "best"], ["--method", "'best'"]),
        (["--method", "mondrian"], ["--method mondrian requires --group"]),
        (["--method", "arc", "--compare"], ["--compare adds ARC to another method"]),
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
        (["--features", "x1,x1"], ["each only once"]),
        (["--nonsense"], ["--nonsense"]),
        (["--method", "auto", "--rate", "1"], ["--rate requires --method larc, arc or mondrian"]),
        (["--method", "auto", "--memory", "all"], ["--memory requires --method larc"]),
        (["--method", "arc", "--clip", "1"], ["--clip requires --method larc; remove it for"]),
        (["--evenness", "2"], ["--evenness requires --method auto; remove it for --method larc"]),
        (["--method", "auto", "--evenness", "0"], ["evenness"]),
        (["--limits", "3"], ["--limits", "expected a floor and a ceiling"]),
        (["--limits", ","], ["--limits", "expected a floor and a ceiling"]),
        (["--limits", "low,3"], ["--limits", "expected numbers"]),
        (["--method", "auto", "--limits", "3,1"], ["limits"]),
    ],
)
def test_a_bad_option_is_a_one_line_error_and_no_output(
    tmp_path: Path, options: list[str], expected: list[str]
) -> None:
    (tmp_path / "good.csv").write_text(GOOD)
    assert_rejected(run_replay(tmp_path / "good.csv", tmp_path / "out", *options), *expected)
    assert [path.name for path in tmp_path.iterdir()] == ["good.csv"]


def test_unreadable_files_are_rejected(tmp_path: Path) -> None:
    assert_rejected(run_replay(tmp_path / "none.csv", tmp_path / "out"), "none.csv does not exist")
    assert_rejected(run_replay(tmp_path, tmp_path / "out"), "not a table")
    (tmp_path / "t.parquet").write_bytes(b"PAR1 no PAR1")
    assert_rejected(run_replay(tmp_path / "t.parquet", tmp_path / "out"), "t.parquet")
    assert not (tmp_path / "out").exists()


def test_an_output_folder_that_cannot_be_written_is_rejected(table: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    assert_rejected(run_replay(table, tmp_path / "file"), "is a file, not a folder")
    assert_rejected(run_replay(table, tmp_path / "file" / "out"), "is a file, not a folder")
    (tmp_path / "out" / "summary.json").mkdir(parents=True)
    assert_rejected(run_replay(table, tmp_path / "out"), "summary.json is a folder")
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["summary.json"]


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="needs a folder nobody can write to")
def test_a_read_only_folder_is_rejected(table: Path) -> None:
    assert_rejected(run_replay(table, Path("/proc/localarc")), "cannot write to /proc/localarc")


@pytest.mark.slow
def test_the_demo_prints_its_table_and_its_files(tmp_path: Path) -> None:
    result = localarc("demo", "--rounds", 600, "--out", tmp_path / "demo")
    assert result.status == 0, result.stderr
    for words in ("easy", "middle", "hard", "risk, AutoLARC", "risk, ARC"):
        assert words in result.stdout
    for name in ("easy-hard.png", "report.html"):
        assert str(tmp_path / "demo" / name) in result.stdout
        assert (tmp_path / "demo" / name).stat().st_size > 10_000
    assert_rejected(localarc("demo", "--rounds", 0, "--out", tmp_path / "none"), "rounds")
    assert_rejected(localarc("demo", "--seed", -1, "--out", tmp_path / "none"), "--seed", "-1")
    assert not (tmp_path / "none").exists()


def test_every_command_has_help() -> None:
    assert "replay" in localarc("--help").stdout
    assert "--score-range" in localarc("replay", "--help").stdout
    assert localarc("--version").stdout.startswith("localarc, version ")


@pytest.mark.slow
def test_the_module_is_the_command_and_reports_errors_without_a_traceback(tmp_path: Path) -> None:
    command = [sys.executable, "-W", "error", "-m", "localarc", "replay", "none.csv"]
    options = ["--features", "x", "--score", "s", "--alpha", "0.1", "--out", "out"]
    done = subprocess.run(
        [*command, *options], capture_output=True, text=True, timeout=120, cwd=tmp_path
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("localarc: none.csv does not exist")
    assert done.stderr.count("\n") == 1


def test_an_interrupt_is_one_line_and_leaves_no_output(
    table: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("localarc.streams.read_table", interrupt)
    result = run_replay(table, tmp_path / "out")
    assert (result.status, result.stdout) == (130, "")
    # click ends the line of the ^C first.
    assert result.stderr.strip() == "localarc: interrupted; no output was written."
    assert not (tmp_path / "out").exists()


def test_data_that_cannot_be_had_is_the_users_to_fix_and_other_failures_are_ours() -> None:
    with pytest.raises(BadInput, match="not here"), user_errors():
        raise DataError("not here")
    with pytest.raises(RuntimeError, match="a bug"), user_errors():
        raise RuntimeError("a bug")


def test_importing_the_command_imports_no_heavy_package() -> None:
    heavy = {"matplotlib", "numba", "pandas"}
    code = f"import localarc.cli, sys; print({heavy} & set(sys.modules))"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "set()"


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("serve", "pip install ./packages/localarc-client ./packages/localarc-service"),
        ("reproduce", "pip install ./packages/localarc-lab"),
    ],
)
def test_a_command_of_a_distribution_that_is_missing_says_how_to_install_it(
    command: str, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("localarc.cli.elsewhere.entry_points", lambda **_: ())
    assert_rejected(localarc(command, "--help"), words)
    assert command not in localarc("--help").stdout
    assert_rejected(localarc("nothing"), "No such command 'nothing'")


def test_commands_of_other_distributions_are_listed_and_described() -> None:
    listed = localarc("--help").stdout
    assert "serve" in listed
    assert "Start the HTTP service." in listed
    assert "Run an experiment of the paper" in listed


def test_the_output_begins_with_the_verdict_and_notes_every_warning(tmp_path: Path) -> None:
    scores = np.random.default_rng(0).exponential(20.0, 2000)
    file = tmp_path / "minutes.csv"
    file.write_text("x,score\n" + "".join(f"{t % 7},{score}\n" for t, score in enumerate(scores)))
    options = ("--score", "score", "--alpha", "0.1", "--method", "arc")
    done = localarc("replay", file, *options, "--out", tmp_path / "out")
    assert done.status == 0, done.stderr
    assert done.stdout.startswith("ARC: Misses 3")
    assert re.search(r"note: rate=1 is small for scores .* Try rate=4\d\.", done.stderr)
