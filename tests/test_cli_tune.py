"""`localarc tune`: what it selects, reports and rejects."""

from __future__ import annotations

from pathlib import Path

import pytest

from commands import assert_rejected, read_rows, run_tune, write_quantiles, write_rounds
from localarc import ARC, LARC, RBF, Constant, tune
from localarc._tune import CAUTION
from localarc.streams import read_table


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
        "as options of localarc replay",
    ):
        assert words in result.stdout


def test_tune_without_sizes_selects_by_the_worst_neighbourhood(
    quantiles: Path, tmp_path: Path
) -> None:
    (tmp_path / "trade-off.png").write_text("old")
    result = run_tune(quantiles, tmp_path, "--rates", "0.5,1", "--neighbourhood", "1")
    assert result.status == 0, result.stderr
    assert "candidates are compared by their worst neighbourhood only" in result.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["tuning.csv"]
    found = read_rows(tmp_path / "tuning.csv")
    worst = [max(0.0, float(row["worst"]) - 0.1) for row in found]
    assert worst[[row["selected"] for row in found].index("1")] == min(worst)
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
