"""Reproducing with another target, another rate and methods of others or one's own."""

from __future__ import annotations

from pathlib import Path

import pytest

from experiments.commands import assert_one_sentence, reproduce, results
from localarc.figures.canvas import new_figure
from localarc_lab.experiments import EXPERIMENTS, Plan, run
from localarc_lab.experiments.experiment import Results
from localarc_lab.experiments.report import QUICK
from localarc_lab.experiments.table_rows import where

pytestmark = pytest.mark.slow

MINE = """
class Mine:
    learns_from = {"score", "groups"}

    def __init__(self, alpha):
        self.alpha, self.value, self.groups = alpha, STEP, set()

    def threshold(self, x, groups=None):
        return self.value

    def update(self, x, loss, score, groups):
        self.groups.add(groups)
        self.value += STEP * (loss - self.alpha)
        return self
"""
RISK = {"electricity": "risk", "fruit": "coverage", "polyps": "fnr", "beams": "risk"}


def write_mine(folder: Path, step: float) -> str:
    file = folder / "my_method.py"
    file.write_text(MINE.replace("STEP", str(step)))
    return f"{file}:Mine"


@pytest.fixture(scope="module", params=["electricity", "fruit", "polyps", "beams"])
def found(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Results[object, object]:
    if request.param == "electricity":
        request.getfixturevalue("elec2")
    folder = tmp_path_factory.mktemp(request.param)
    methods = ("ARC", "auto", "aci", "group-aci", write_mine(folder, 0.05))
    trials = None if request.param == "electricity" else 1
    plan = Plan(quick=True, trials=trials, methods=methods, alpha=0.2, rate=2.0)
    return run(EXPERIMENTS[request.param], plan, folder)


def test_methods_of_others_and_of_ones_own_run_beside_the_experiments(
    found: Results[object, object],
) -> None:
    names = list(dict.fromkeys(outcome.task.method for outcome in found.outcomes))
    assert names == ["ARC", "AutoLARC", "ACI", "ACI per group", "Mine"]
    for tables in found.tables().values():
        assert all(len(row) == len(tables[0]) for row in tables[1])
    shown = str(found.tables())
    for name in names:
        assert name in shown
    assert found.experiment.findings(found.rows)


def test_every_method_follows_the_target_that_is_stated(found: Results[object, object]) -> None:
    name = found.experiment.name
    online = where(found.rows, evaluation="online")
    rows = where(online, setting="0.2") if name == "beams" else where(online, group="all")
    assert {row["method"] for row in rows} == {"ARC", "AutoLARC", "ACI", "ACI per group", "Mine"}
    for row in rows:
        risk = 1.0 - row["coverage"] if name == "fruit" else row[RISK[name]]
        if row["method"] in (
            "ARC",
            "AutoLARC",
        ):  # others keep the share of bad rounds, not the loss
            assert risk == pytest.approx(0.2, abs=0.05), row["method"]


def test_the_rate_reaches_the_calibrator(found: Results[object, object]) -> None:
    texts = {o.task.method: o.calibrator for o in found.outcomes}
    assert "eta=2.0" in texts["ARC"]
    assert "alpha=0.2" in texts["ARC"]
    assert "alpha=0.2" in texts["ACI"]


def test_figures_are_drawn_and_say_that_they_are_quick(
    found: Results[object, object], tmp_path: Path
) -> None:
    from localarc_lab.experiments import report

    report.write(found, tmp_path, "command")
    assert QUICK in (tmp_path / "report.html").read_text()
    drawings = list(tmp_path.glob("*.svg"))
    assert drawings
    for spec in found.figures():
        drawing = new_figure(7.0, 4.2)
        report._draw(drawing, spec, found)
        assert drawing.get_supxlabel() == QUICK


def test_other_figures_do_not_say_that_they_are_quick(tmp_path: Path) -> None:
    from localarc_lab.experiments import report

    plan = Plan(trials=1, methods=("ARC",))
    done = run(EXPERIMENTS["polyps"], plan, tmp_path)
    drawing = new_figure(7.0, 4.2)
    report._draw(drawing, done.figures()[0], done)
    assert drawing.get_supxlabel() == ""
    report.write(done, tmp_path, "command")
    assert QUICK not in (tmp_path / "report.html").read_text()


def test_an_edited_class_is_run_again(tmp_path: Path) -> None:
    plan = Plan(quick=True, trials=1, methods=(write_mine(tmp_path, 0.05),))
    first = run(EXPERIMENTS["polyps"], plan, tmp_path)
    assert run(EXPERIMENTS["polyps"], plan, tmp_path).reused == len(first.outcomes)
    write_mine(tmp_path, 0.5)
    assert run(EXPERIMENTS["polyps"], plan, tmp_path).reused == 0


def test_the_command_takes_target_rate_and_methods(tmp_path: Path) -> None:
    options = ["--quick", "--trials", "1", "--alpha", "0.3", "--rate", "0.5", "--methods"]
    done = reproduce(
        "polyps", tmp_path, "--jobs", "1", *options, f"ARC,{write_mine(tmp_path, 0.1)}"
    )
    assert done.exit_code == 0, done.stderr
    stored = results(tmp_path)
    assert (stored["plan"]["alpha"], stored["plan"]["rate"]) == (0.3, 0.5)
    assert {row["alpha"] for row in stored["rows"]} == {0.3}
    assert {row["eta"] for row in stored["rows"]} == {0.5}
    assert "--alpha 0.3 --rate 0.5" in stored["command"]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--alpha", "1.5"], "alpha must lie strictly between 0 and 1"),
        (["--rate", "-1"], "rate must be positive"),
        (["--methods", "acci"], "this experiment has no method 'acci'"),
        (["--methods", "missing.py:Mine"], "missing.py is not a file"),
    ],
)
def test_a_wrong_plan_is_explained(tmp_path: Path, options: list[str], words: str) -> None:
    assert_one_sentence(reproduce("polyps", tmp_path, "--quick", *options), words, tmp_path)
