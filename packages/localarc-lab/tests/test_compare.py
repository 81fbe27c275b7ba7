"""Comparisons: the same rounds for every method, the same numbers wherever they are computed."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from commands import assert_rejected, localarc, read_rows, write_quantiles, write_rounds
from localarc import ARC, RBF, AutoLARC, Calibrator, measures, replay
from localarc.curves import miscoverage
from localarc.running.from_data import lengths_by_share
from localarc.streams import Stream, heteroscedastic
from localarc_lab import peers
from localarc_lab.compare import Comparison, Local, Result, compare
from localarc_lab.compare.late_replay import late_replay
from localarc_lab.compare.methods import KNOWN

STREAM = heteroscedastic(600, seed=0)
MINE = """
class Mine:
    def __init__(self, alpha):
        self.alpha, self.value = alpha, 0.0

    def threshold(self, x):
        return self.value

    def update(self, x, loss):
        self.value += 0.1 * (loss - self.alpha)
        return self
"""


class Fixed:
    """A threshold that never changes, and what it was told."""

    def __init__(self, alpha: float) -> None:
        self.alpha = alpha
        self.told: list[float] = []

    def threshold(self, x: Any) -> float:
        return 1.0 + len(self.told)

    def update(self, x: Any, loss: float) -> Fixed:
        self.told.append(float(x[0]))
        return self


def numbers(found: Comparison) -> list[Result]:
    """All results but their times."""
    return [dataclasses.replace(result, microseconds=0.0) for result in found.results]


def test_a_method_runs_as_replay_runs_it() -> None:
    found = compare(["auto", "aci"], STREAM)
    named: dict[str, Calibrator] = {"AutoLARC": AutoLARC(0.1), "ACI": peers.ACI(0.1)}
    for title, cal in named.items():
        run = replay(cal, STREAM.X, STREAM.curves, STREAM.groups)
        record = found.records[0.1, title]
        assert np.array_equal(record.thresholds, run.thresholds)
        result = next(each for each in found.results if each.method == title)
        assert (result.risk, result.rounds) == (run.risk, 600)
        assert result.size == run.mean_size
        parts = [part.mean() for part in np.array_split(run.losses, 20)]
        assert result.values["twentieth"] == max(parts)
        worst = max(measures.group_risk(run.losses, STREAM.groups or ()), key=lambda row: row.risk)
        assert result.group == Local(
            str(worst.group), worst.risk, worst.standard_error, worst.count
        )


@pytest.mark.slow
def test_neighbourhoods_are_those_of_the_metrics() -> None:
    stream = heteroscedastic(2000, seed=3)
    found = compare(["arc", "rolling", "larc"], stream)
    for result in found.results:
        losses = found.records[0.1, result.method].losses
        for place, share in zip(result.neighbourhoods, (0.3, 0.1, 0.03), strict=True):
            kernel = RBF(lengths_by_share(stream.X, [share])[0])
            expected = measures.worst_neighbourhood(stream.X, losses, kernel)
            assert place.name == f"{100 * share:.0f} %"
            assert place.risk == pytest.approx(expected.risk)
            assert place.standard_error == pytest.approx(expected.standard_error)
            assert place.count == pytest.approx(expected.count)


def test_a_group_of_a_few_unlucky_rounds_is_not_the_worst() -> None:
    groups = ["rare" if t < 3 else "common" for t in range(600)]  # the first rounds are misses
    stream = Stream("rare", STREAM.X, STREAM.curves, tuple(groups))
    found = compare(["arc"], stream).results[0].group
    assert found is not None
    assert found.name == "common"


@pytest.mark.slow
def test_numbers_do_not_depend_on_jobs() -> None:
    methods = ["auto", "aci", "mvp", "olcp-hedge", "rff"]
    assert numbers(compare(methods, STREAM, jobs=2)) == numbers(compare(methods, STREAM))


@pytest.mark.slow
def test_every_named_method_runs_with_features_and_groups() -> None:
    found = compare(list(KNOWN), STREAM, alpha=0.2)
    assert [result.method for result in found.results] == [k.title for k in KNOWN.values()]
    assert all(0.05 < result.risk < 0.4 for result in found.results)


def test_without_features_and_groups_what_needs_none_runs() -> None:
    bare = Stream("bare", np.empty((600, 0)), STREAM.curves)
    free = [name for name, known in KNOWN.items() if not known.needs]
    found = compare(free, bare)
    assert len(found.results) == len(free)
    assert found.results[0].neighbourhoods == ()
    assert found.results[0].group is None
    assert found.wins(0.1)["AutoLARC"].total == 0
    for name, what in (("larc", "features"), ("mondrian", "groups")):
        with pytest.raises(ValueError, match=f"{name} requires {what}"):
            compare([name], bare)


def test_negative_scores_are_followed_below_zero() -> None:
    scores = STREAM.curves.breakpoints[1::2] - 100.0
    stream = Stream("negative", STREAM.X, miscoverage(scores), STREAM.groups)
    found = compare(["sf-ogd", "saocp", "pogo"], stream)
    for title in ("SF-OGD", "SAOCP"):
        assert found.records[0.1, title].thresholds[-1] < -80.0
    assert np.isnan(found.results[0].size)


def test_several_targets_have_a_table_each() -> None:
    found = compare(["auto", "arc"], STREAM, alpha=[0.1, 0.3])
    assert found.targets == [0.1, 0.3]
    assert [result.method for result in found.at(0.3)] == ["AutoLARC", "ARC"]
    assert found.at(0.3)[0].risk == pytest.approx(0.3, abs=0.05)
    assert len(found.columns()["method"]) == 4
    assert str(found).count("AutoLARC") == 2
    with pytest.raises(ValueError, match=r"no result for the target 0\.2"):
        found.at(0.2)


# ---- who wins ---------------------------------------------------------------------------------


def result(method: str, risk: float, error: float = 0.01) -> Result:
    place = Local("10 %", risk, error, 100.0)
    values = {measure.name: 0.1 for measure in measures.MEASURES}
    return Result(method, 0.1, 1000, values, None, (place,), 1.0)


def test_a_win_takes_two_standard_errors_of_the_difference() -> None:
    chance = 2.0 * np.hypot(0.01, 0.01)
    for gap, expected in ((0.99 * chance, (0, 1, 0)), (1.01 * chance, (1, 0, 0))):
        pair = Comparison("s", (result("a", 0.2), result("b", 0.2 + gap)), {})
        won = pair.wins(0.1)
        assert (won["a"].wins, won["a"].ties, won["a"].losses) == expected
        assert (won["b"].losses, won["b"].ties, won["b"].wins) == expected


def test_a_risk_without_a_standard_error_wins_nothing() -> None:
    pair = Comparison("s", (result("a", 0.2), result("one round", 1.0, float("nan"))), {})
    assert pair.wins(0.1)["a"].ties == 1


def test_no_method_is_given_later_outcomes() -> None:
    """What methods are built from is the same for any outcomes after the first rounds."""
    from localarc_lab.compare.methods import Setting

    scores = STREAM.curves.breakpoints[1::2].copy()
    scores[150:] *= 1000.0
    other = Stream("other", STREAM.X, miscoverage(scores, widths=0.0), STREAM.groups)
    for name, known in KNOWN.items():
        built = [repr(known.make(Setting(0.1, stream))) for stream in (STREAM, other)]
        assert built[0] == built[1], name


def test_staying_below_the_target_wins_nothing() -> None:
    pair = Comparison("s", (result("tiny risk", 0.0, 0.0), result("near target", 0.1, 0.0)), {})
    assert pair.wins(0.1)["tiny risk"].ties == 1


def test_no_table_shows_a_worst_neighbourhood_without_the_size() -> None:
    head, rows = compare(["auto", "arc"], STREAM).table(0.1)
    places = [i for i, name in enumerate(head) if name.startswith("worst ") and "%" in name]
    assert places
    assert head[places[-1] + 1] == "mean size"
    assert all(row[places[-1] + 1] != "-" for row in rows)


# ---- own methods ------------------------------------------------------------------------------


def test_a_class_from_a_file_takes_part(tmp_path: Path) -> None:
    file = tmp_path / "my_method.py"
    file.write_text(MINE)
    found = compare(["arc", f"{file}:Mine"], STREAM, jobs=2)
    assert [each.method for each in found.results] == ["ARC", "Mine"]
    assert 0.0 < found.results[1].risk < 0.5


def test_a_function_of_the_target_takes_part_under_its_name() -> None:
    found = compare({"fast": lambda alpha: ARC(alpha, rate=5.0), "default": "arc"}, STREAM)
    assert [each.method for each in found.results] == ["fast", "default"]
    fast = replay(ARC(0.1, rate=5.0), STREAM.X, STREAM.curves)
    assert np.array_equal(found.records[0.1, "fast"].thresholds, fast.thresholds)


def wants(lesson: str) -> Any:
    """A method that wants to learn from something that may not exist."""

    def make(alpha: float) -> ARC:
        made = ARC(alpha)
        made.learns_from = frozenset({lesson})
        return made

    return make


@pytest.mark.parametrize(
    ("methods", "error", "what"),
    [
        (["acci"], ValueError, "there is no method 'acci'. Known are auto, larc"),
        (["missing.py:Mine"], ValueError, "missing.py is not a file"),
        ([], ValueError, "at least one method"),
        (["arc", "arc"], ValueError, "'ARC' twice"),
        ([3], TypeError, "a method must be a name"),
        ([ARC(0.1)], TypeError, "a function of the target"),
        ([lambda alpha: 3], TypeError, "must make a calibrator"),
        ([lambda: ARC(0.1)], TypeError, r"def __init__\(self, alpha\)"),
        ([wants("group")], ValueError, r"learns_from must be a set with any of \['curve', 'gr"),
    ],
)
def test_an_unusable_method_is_rejected(methods: Any, error: type[Exception], what: str) -> None:
    with pytest.raises(error, match=what):
        compare(methods, STREAM)


def test_a_method_that_fails_is_named_with_its_stream(tmp_path: Path) -> None:
    file = tmp_path / "my_method.py"
    file.write_text(MINE.replace("0.1 *", "1 / 0 *"))
    with pytest.raises(ValueError, match=r"Mine failed on heteroscedastic: ZeroDivisionError"):
        compare([f"{file}:Mine"], STREAM, jobs=2)


def test_a_file_without_the_class_is_rejected(tmp_path: Path) -> None:
    file = tmp_path / "my_method.py"
    file.write_text(MINE)
    with pytest.raises(ValueError, match="has no class or function 'Yours'"):
        compare([f"{file}:Yours"], STREAM)


# ---- late losses ------------------------------------------------------------------------------


def test_a_late_loss_is_learned_after_so_many_rounds() -> None:
    stream = Stream("late", np.arange(5.0)[:, None], miscoverage([0.5] * 5))
    cal = Fixed(0.1)
    record = late_replay(cal, stream.X, stream, np.array([2, 0, 2, 0, 9]))
    assert cal.told == [1.0, 0.0, 3.0, 2.0]  # the last one is still pending
    assert record.thresholds.tolist() == [1.0, 1.0, 2.0, 3.0, 4.0]


@pytest.mark.parametrize("name", ["auto", "arc", "larc", "mondrian", "aci", "gcaci", "knn"])
def test_no_delay_is_replay(name: str) -> None:
    method = KNOWN[name]
    from localarc_lab.compare.methods import Setting

    cal, twin = (method.make(Setting(0.1, STREAM)) for _ in range(2))
    late = late_replay(cal, STREAM.X, STREAM, np.zeros(600, dtype=np.int64))
    run = replay(twin, STREAM.X, STREAM.curves, STREAM.groups)
    assert late.thresholds == pytest.approx(run.thresholds, abs=1e-12)
    assert np.array_equal(late.losses, run.losses)


def test_delays_are_for_all_rounds_or_for_each() -> None:
    both = [compare(["auto", "aci"], STREAM, delay=d) for d in (7, np.full(600, 7))]
    assert numbers(both[0]) == numbers(both[1])
    assert numbers(both[0]) != numbers(compare(["auto", "aci"], STREAM))
    for wrong in (-1, 0.5, [1, 2], "soon"):
        with pytest.raises(ValueError, match="delay must be a whole number"):
            compare(["arc"], STREAM, delay=wrong)


# ---- interruptions ----------------------------------------------------------------------------


@pytest.mark.slow
def test_finished_runs_are_used_again(tmp_path: Path) -> None:
    first = compare(["auto", "aci"], STREAM, folder=tmp_path)
    again = compare(["auto", "aci", "arc"], STREAM, folder=tmp_path)
    assert (first.reused, again.reused) == (0, 2)
    assert again.results[:2] == first.results  # with their times
    assert compare(["aci"], STREAM, delay=3, folder=tmp_path).reused == 0
    assert compare(["aci"], STREAM, alpha=0.2, folder=tmp_path).reused == 0
    other = heteroscedastic(600, seed=1)
    assert compare(["aci"], other, folder=tmp_path).reused == 0


def test_a_damaged_run_is_run_again(tmp_path: Path) -> None:
    first = compare(["aci"], STREAM, folder=tmp_path)
    for file in tmp_path.glob("*.record"):
        file.write_bytes(b"damaged")
    again = compare(["aci"], STREAM, folder=tmp_path)
    assert again.reused == 0
    assert numbers(again) == numbers(first)


def test_a_class_that_was_edited_is_run_again(tmp_path: Path) -> None:
    file = tmp_path / "my_method.py"
    file.write_text(MINE)
    compare([f"{file}:Mine"], STREAM, folder=tmp_path / "runs")
    assert compare([f"{file}:Mine"], STREAM, folder=tmp_path / "runs").reused == 1
    file.write_text(MINE.replace("0.1 *", "0.5 *"))
    assert compare([f"{file}:Mine"], STREAM, folder=tmp_path / "runs").reused == 0


def test_an_interruption_keeps_what_was_finished(tmp_path: Path) -> None:
    class Fails(Fixed):
        def update(self, x: Any, loss: float) -> Fixed:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        compare({"ACI": "aci", "fails": Fails}, STREAM, folder=tmp_path)
    seen: list[tuple[int, int]] = []
    compare(["aci"], STREAM, folder=tmp_path, progress=lambda *step: seen.append(step))
    assert seen == [(1, 1)]


# ---- the command ------------------------------------------------------------------------------

COLUMNS = ["--features", "x1,x2", "--score", "s"]


@pytest.fixture(scope="module")
def rounds(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_rounds(tmp_path_factory.mktemp("data") / "rounds.csv", STREAM)


@pytest.mark.slow
def test_the_command_writes_what_the_library_finds(rounds: Path, tmp_path: Path) -> None:
    chosen = ["--group", "third", "--alpha", "0.1", "--methods", "auto,aci,gcaci"]
    done = localarc("compare", rounds, *COLUMNS, *chosen, "--out", tmp_path / "out")
    assert done.status == 0, done.stderr
    names = ["comparison.csv", "comparison.json", "comparison.png", "report.html", "runs"]
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == names
    expected = compare(["auto", "aci", "gcaci"], STREAM)
    rows = read_rows(tmp_path / "out" / "comparison.csv")
    assert [row["method"] for row in rows] == ["AutoLARC", "ACI", "GCACI"]
    assert [float(row["risk"]) for row in rows] == [each.risk for each in expected.results]
    assert [float(row["size"]) for row in rows] == [each.size for each in expected.results]
    summary = json.loads((tmp_path / "out" / "comparison.json").read_text())
    assert summary["rows"][1]["neighbourhood 10 % risk"] == pytest.approx(
        expected.results[1].neighbourhoods[1].risk
    )
    page = (tmp_path / "out" / "report.html").read_text()
    for words in ("GCACI", "mean size", "worst 10 %", "won/tied/lost", "<svg"):
        assert words in page
    assert "mean size" in done.stdout
    again = localarc("compare", rounds, *COLUMNS, *chosen, "--out", tmp_path / "out")
    assert "reused 3 stored run(s)" in again.stdout


@pytest.mark.slow
def test_without_methods_auto_larc_is_compared_with_common_ones(
    rounds: Path, tmp_path: Path
) -> None:
    done = localarc("compare", rounds, *COLUMNS, "--alpha", "0.1", "--out", tmp_path)
    assert done.status == 0, done.stderr
    found = [row["method"] for row in read_rows(tmp_path / "comparison.csv")]
    assert found == ["AutoLARC", "ARC", "ACI", "DtACI", "PID", "SAOCP", "Rolling quantile"]
    more = ["--length-scale", "0.4", "--out", tmp_path / "larc", "--quiet"]
    done = localarc("compare", rounds, *COLUMNS, "--alpha", "0.1", *more)
    assert done.stdout == ""
    assert read_rows(tmp_path / "larc" / "comparison.csv")[0]["method"] == "L-ARC"
    assert "length_scale=0.4" in (tmp_path / "larc" / "comparison.json").read_text()


def test_the_command_takes_delays_from_a_column(rounds: Path, tmp_path: Path) -> None:
    text = rounds.read_text().splitlines()
    lines = [f"{text[0]},late", *(f"{line},{t % 5}" for t, line in enumerate(text[1:]))]
    file = tmp_path / "late.csv"
    file.write_text("\n".join(lines))
    usual = [*COLUMNS, "--alpha", "0.1", "--methods", "aci", "--out", tmp_path / "out"]
    done = localarc("compare", file, *usual, "--delay", "late")
    assert done.status == 0, done.stderr
    expected = compare(["aci"], STREAM, delay=np.arange(600) % 5)
    row = read_rows(tmp_path / "out" / "comparison.csv")[0]
    assert float(row["size"]) == expected.results[0].size


def test_unknown_sizes_leave_the_figure_out(tmp_path: Path) -> None:
    file = write_quantiles(tmp_path / "quantiles.csv")
    usual = [*COLUMNS, "--alpha", "0.1", "--methods", "auto,arc", "--out", tmp_path / "out"]
    done = localarc("compare", file, *usual)
    assert done.status == 0, done.stderr
    assert "set sizes are omitted" in done.stderr
    assert not (tmp_path / "out" / "comparison.png").exists()


def test_the_command_lists_its_methods() -> None:
    done = localarc("compare", "--list")
    assert done.status == 0
    assert len(done.stdout.splitlines()) == len(KNOWN)
    assert "mondrian        Mondrian (requires groups)" in done.stdout


INTERRUPTED = """
class Interrupted:
    def __init__(self, alpha):
        self.alpha = alpha

    def threshold(self, x):
        raise KeyboardInterrupt
"""


def test_an_interrupted_command_says_which_runs_are_kept(rounds: Path, tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text(INTERRUPTED + MINE.split("x):\n        return self.value\n")[1])
    out = tmp_path / "out"
    usual = ["compare", rounds, *COLUMNS, "--alpha", "0.1", "--out", out]
    stopped = localarc(*usual, "--methods", f"arc,{file}:Interrupted")
    assert stopped.status == 130
    assert "1 finished run(s) are kept in" in stopped.stderr
    assert "Run the same command again to go on." in stopped.stderr
    again = localarc(*usual, "--methods", "arc")
    assert "reused 1 stored run(s)" in again.stdout
    nothing = localarc(*usual[:-1], tmp_path / "new", "--methods", f"{file}:Interrupted")
    assert nothing.stderr == (
        "localarc: interrupted; no run had finished, and no output was written.\n"
    )


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--alpha", "0.1", "--methods", "acci"], "there is no method 'acci'"),
        (["--alpha", "2"], "alpha must lie strictly between 0"),
        (["--alpha", "0.1", "--delay", "soon"], "soon"),
        ([], "compare requires FILE, --score, --alpha and --out"),
        (["--alpha", "0.1", "--methods", "group-aci"], "group-aci requires groups"),
    ],
)
def test_the_command_says_what_is_wrong(
    rounds: Path, tmp_path: Path, arguments: list[str], words: str
) -> None:
    done = localarc("compare", rounds, *COLUMNS, *arguments, "--out", tmp_path / "out")
    assert_rejected(done, words)
