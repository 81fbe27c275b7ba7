"""`localarc tune`: what it selects, reports and rejects."""

from __future__ import annotations

import shlex
from pathlib import Path

import numpy as np
import pytest

from commands import (
    assert_rejected,
    localarc,
    read_rows,
    run_tune,
    write_quantiles,
    write_rounds,
)
from localarc import ARC, LARC, RBF, AutoLARC, Constant, tune
from localarc.running.tune import CAUTION
from localarc.streams import Stream, heteroscedastic, read_table


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_rounds(tmp_path_factory.mktemp("data") / "rounds.csv")


@pytest.fixture(scope="module")
def quantiles(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_quantiles(tmp_path_factory.mktemp("data") / "quantiles.csv")


def test_tune_selects_what_the_library_selects(table: Path, tmp_path: Path) -> None:
    out = tmp_path / "tuning"
    result = run_tune(table, out, "--rates", "1,constant:0.1", "--neighbourhood", "1")
    assert result.status == 0, result.stderr
    assert sorted(p.name for p in out.iterdir()) == ["trade-off.png", "tuning.csv"]
    stream = read_table(table, ["x1", "x2"], "s")
    rates = (1.0, Constant(0.1))
    candidates: list[ARC | LARC] = [ARC(0.1, rate) for rate in rates]
    candidates += [LARC(0.1, RBF(scale), rate) for scale in (0.4, 1.2) for rate in rates]
    expected = tune(stream.X, stream.curves, candidates, RBF(1.0))
    found = read_rows(out / "tuning.csv")
    assert [row["rate"] for row in found] == ["1", "constant:0.1"] * 3
    assert [float(row["worst"]) for row in found] == [j.worst for j in expected.evaluations]
    assert [float(row["size"]) for row in found] == [j.size for j in expected.evaluations]
    assert [int(row["selected"]) for row in found].index(1) == expected.selected
    assert expected.held_out is not None
    for words in (
        "Candidates over the first 300 rounds",
        "the last 100 rounds, held out",
        f"risk {expected.held_out.risk:.4f}",
        CAUTION,
        expected.verdict,
        "as options of localarc replay",
    ):
        assert words in result.stdout
    auto = tune(stream.X, stream.curves, [AutoLARC(0.1)], RBF(1.0)).held_out
    assert auto is not None
    assert (
        f"AutoLARC on the same rounds, with nothing tuned: risk {auto.risk:.4f}, target"
        in result.stdout
    )
    assert f"mean size {auto.size:.4g}" in result.stdout


@pytest.mark.slow
def test_without_a_grid_tune_selects_from_the_candidates_of_the_library(
    table: Path, tmp_path: Path
) -> None:
    columns = ["--features", "x1,x2", "--score", "s", "--alpha", "0.1"]
    result = localarc("tune", table, *columns, "--out", tmp_path)
    assert result.status == 0, result.stderr
    stream = read_table(table, ["x1", "x2"], "s")
    expected = tune(stream.X, stream.curves, alpha=0.1)
    found = read_rows(tmp_path / "tuning.csv")
    assert len(found) == len(expected.candidates)
    # The command rounds what comes from the data to three digits, so that it can be typed.
    losses = [float(row["pinball"]) for row in found]
    assert losses == pytest.approx([j.pinball for j in expected.evaluations], rel=0.02)
    rates = [float(row["rate"].removeprefix("constant:")) for row in found]
    assert rates == [float(f"{rate:.3g}") for rate in rates]


@pytest.mark.slow
def test_the_options_that_tune_prints_are_those_of_replay(table: Path, tmp_path: Path) -> None:
    columns = ["--features", "x1,x2", "--score", "s", "--alpha", "0.1", "--held-out", "0"]
    tuned = localarc("tune", table, *columns, "--out", tmp_path / "tuning")
    line = next(line for line in tuned.stdout.splitlines() if line.startswith("selected"))
    chosen = shlex.split(line.partition(": ")[2])
    assert "--regularization" in chosen
    replayed = localarc("replay", table, *columns[:-2], *chosen, "--out", tmp_path / "run")
    assert replayed.status == 0, replayed.stderr
    losses = [float(row["loss"]) for row in read_rows(tmp_path / "run" / "record.csv")]
    row = next(
        row for row in read_rows(tmp_path / "tuning" / "tuning.csv") if row["selected"] == "1"
    )
    assert sum(losses) / len(losses) == pytest.approx(float(row["risk"]))


def test_tune_notes_a_missed_target(table: Path, tmp_path: Path) -> None:
    result = run_tune(table, tmp_path, "--rates", "0.001", "--neighbourhood", "1", "--quiet")
    assert result.status == 0, result.stderr
    assert "note: the target is not met: the worst neighbourhood has a risk of" in result.stderr
    assert "ARC was selected" not in result.stderr


def test_tune_notes_that_arc_was_selected(tmp_path: Path) -> None:
    stream = heteroscedastic(400, seed=0, shift=False)
    shuffled = np.random.default_rng(0).permutation(stream.X)  # which scores do not depend on
    table = write_rounds(tmp_path / "rounds.csv", Stream("even", shuffled, stream.curves))
    result = run_tune(table, tmp_path / "out", "--rates", "2", "--neighbourhood", "1", "--quiet")
    assert result.status == 0, result.stderr
    assert result.stderr.count("\n") == 1
    assert "note: ARC was selected, a single threshold for all inputs" in result.stderr


@pytest.mark.slow
def test_tune_without_sizes_writes_no_figure(quantiles: Path, tmp_path: Path) -> None:
    (tmp_path / "trade-off.png").write_text("old")
    result = run_tune(quantiles, tmp_path, "--rates", "0.5,1", "--neighbourhood", "1")
    assert result.status == 0, result.stderr
    assert "note: set sizes are omitted" in result.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["tuning.csv"]
    assert "sizes" not in run_tune(quantiles, tmp_path, "--width", "w").stderr
    assert (tmp_path / "trade-off.png").exists()


def test_tune_warns_without_held_out_rounds_and_at_the_end_of_the_grid(
    table: Path, tmp_path: Path
) -> None:
    result = run_tune(
        table, tmp_path, "--held-out", 0, "--rates", "0.01,5", "--kernels", "rbf,laplace"
    )
    assert result.status == 0, result.stderr
    assert "held out" in result.stderr
    assert "rate was selected; consider extending the grid" in result.stderr
    assert "held out:" not in result.stdout
    assert CAUTION not in result.stdout


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--length-scales", "0.3,soon"], "expected numbers"),
        (["--length-scales", ""], "expected numbers such as 0.5,1 but got ''"),
        (["--jobs", "0"], "expected at least 1 process, or -1"),
        (["--kernels", "rbf,round"], "expected names among"),
        (["--held-out", "1"], "held_out must be below 1"),
        (["--neighbourhood", "1e-9"], "no neighbourhood has"),
    ],
)
def test_a_bad_option_of_tune_is_a_one_line_error(
    table: Path, tmp_path: Path, options: list[str], words: str
) -> None:
    assert_rejected(run_tune(table, tmp_path / "out", *options), words)
    assert not (tmp_path / "out").exists()
