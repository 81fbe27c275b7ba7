"""The runner and the command, with a small experiment: what is stored, reused and run again."""

import shutil
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import ModuleType
from typing import ClassVar

import numpy as np
import pytest

import localarc
import localarc_lab
from experiments.commands import assert_one_sentence, reproduce, results
from localarc.reporting.provenance import source_digest
from localarc_lab import sources
from localarc_lab.experiments import EXPERIMENTS, Experiment, Method, Outcome, Plan, Task
from localarc_lab.experiments.experiment import FigureSpec, Row, Table, option
from localarc_lab.experiments.runner import run
from localarc_lab.sources import source_digests

PERFORMED: list[Task[str]] = []


@dataclass(frozen=True)
class Toy(Experiment[float, str]):
    """Adds numbers."""

    bonus: str = field(default="0", metadata=option("a number to add", ("0", "1")))
    file: Path | None = field(default=None, metadata=option("any file", is_path=True))

    name: ClassVar = "toy"
    title: ClassVar = "Toy"
    question: ClassVar = "Is it run?"
    claim: ClassVar = "It is."
    differences: ClassVar = ("Everything.",)

    def load(self, plan: Plan) -> float:
        return 1.0 if plan.quick else 2.0

    def digest(self, data: float) -> str:
        return str(data)

    def methods(self, plan: Plan) -> dict[str, Method]:
        return {"ARC": Method(), "L-ARC": Method(1.0)}

    def settings(self, plan: Plan) -> Sequence[str]:
        return ["first", "second"]

    def trials(self, plan: Plan) -> int:
        return plan.trials or 1

    def perform(self, data: float, task: Task[str], method: Method, plan: Plan) -> Outcome[str]:
        PERFORMED.append(task)
        value = data + float(self.bonus) + task.trial + plan.seed
        row = {"method": task.method, "setting": task.setting, "value": value}
        return Outcome(task, task.method, [row], {"values": np.array([value])}, {"risk": value})

    def summarize(self, data: float, outcomes: Sequence[Outcome[str]]) -> list[Row]:
        return [row for outcome in outcomes for row in outcome.rows]

    def findings(self, rows: Sequence[Row]) -> list[str]:
        return [f"{len(rows)} rows."]

    def tables(self, rows: Sequence[Row]) -> dict[str, Table]:
        return {"All": (["method"], [[row["method"]] for row in rows]), "None": (["method"], [])}

    def figures(self) -> tuple[FigureSpec[float, str], ...]:
        return (
            FigureSpec("line", "A line.", lambda axes, results: axes),
            FigureSpec("no", "Nothing.", lambda axes, results: axes, lambda results: False),
        )


@pytest.fixture(autouse=True)
def _toy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(EXPERIMENTS, "toy", Toy())
    PERFORMED.clear()


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A package of two modules, as if it were localarc's source code."""
    folder = tmp_path / "package"
    (folder / "sub").mkdir(parents=True)
    (folder / "a.py").write_text("risk = 1\n")
    (folder / "sub" / "b.py").write_text("")
    monkeypatch.setattr(sources, "HERE", folder)
    return folder


def test_a_task_that_nothing_has_changed_is_not_run_again(package: Path, tmp_path: Path) -> None:
    first = run(Toy(), Plan(), tmp_path / "out")
    again = run(Toy(), Plan(), tmp_path / "out")
    assert (first.reused, again.reused, len(PERFORMED)) == (0, 4, 4)
    assert first.rows == again.rows
    assert [o.task for o in first.outcomes] == [o.task for o in again.outcomes]
    assert [o.arrays["values"].tolist() for o in again.outcomes] == [[2.0]] * 4


@pytest.mark.parametrize(
    ("file", "text"), [("a.py", "risk = 10\n"), ("sub/b.py", "#\n"), ("sub/c.py", "")]
)
def test_a_changed_source_file_makes_every_task_run_again(
    file: str, text: str, package: Path, tmp_path: Path
) -> None:
    run(Toy(), Plan(), tmp_path / "out")
    (package / file).write_text(text)
    assert run(Toy(), Plan(), tmp_path / "out").reused == 0
    assert len(PERFORMED) == 8


def test_a_moved_source_file_makes_every_task_run_again(package: Path, tmp_path: Path) -> None:
    run(Toy(), Plan(), tmp_path / "out")
    (package / "a.py").rename(package / "sub" / "a.py")
    assert run(Toy(), Plan(), tmp_path / "out").reused == 0


@pytest.mark.slow
def test_the_command_never_serves_results_of_other_code(package: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert "reused" not in reproduce("toy", out, "--jobs", "1").stdout
    assert "reused 4 stored task(s)" in reproduce("toy", out, "--jobs", "1").stdout
    (package / "a.py").write_text("risk = 10\n")
    assert "reused" not in reproduce("toy", out, "--jobs", "1").stdout


@pytest.mark.parametrize(
    ("package", "files"),
    [
        (localarc, ("kernels/base.py", "__init__.py")),
        (localarc_lab, ("experiments/beams/raytracer/field.py", "sources.py")),
    ],
)
def test_the_digest_covers_every_module(
    package: ModuleType, files: tuple[str, ...], tmp_path: Path
) -> None:
    source, copy = Path(str(package.__file__)).parent, tmp_path / "copy"
    only_python = lambda folder, names: [  # noqa: E731
        name for name in names if not name.endswith(".py") and not (Path(folder) / name).is_dir()
    ]
    shutil.copytree(source, copy, ignore=only_python)
    assert source_digest(copy) in source_digests()
    for name in files:
        before = source_digest(copy)
        (copy / name).write_text((copy / name).read_text() + "\n")
        assert source_digest(copy) != before


@pytest.mark.parametrize(
    ("experiment", "plan"),
    [
        (Toy(bonus="1"), Plan()),
        (Toy(), Plan(seed=1)),
        (Toy(), Plan(quick=True)),
        (Toy(), Plan(length_scales=(1.0,))),
    ],
)
def test_another_option_plan_or_data_makes_every_task_run_again(
    experiment: Toy, plan: Plan, tmp_path: Path
) -> None:
    run(Toy(), Plan(), tmp_path)
    assert run(experiment, plan, tmp_path).reused == 0


def test_other_package_versions_make_every_task_run_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run(Toy(), Plan(), tmp_path)
    monkeypatch.setattr("localarc_lab.experiments.runner.versions", lambda: {"numpy": "0"})
    assert run(Toy(), Plan(), tmp_path).reused == 0


def test_the_path_of_the_data_and_the_choice_of_methods_do_not_matter(tmp_path: Path) -> None:
    run(Toy(file=Path("here")), Plan(methods=("ARC",)), tmp_path)
    assert run(Toy(file=Path("there")), Plan(), tmp_path).reused == 2


def test_a_damaged_task_is_run_again(tmp_path: Path) -> None:
    first = run(Toy(), Plan(), tmp_path)
    victim = next(tmp_path.glob("tasks/*.npz"))
    victim.write_bytes(victim.read_bytes()[:100])
    again = run(Toy(), Plan(), tmp_path)
    assert again.reused == 3
    assert again.rows == first.rows


def test_tasks_are_ordered_by_setting_trial_and_method(tmp_path: Path) -> None:
    steps: list[tuple[int, int]] = []
    done = run(Toy(), Plan(trials=2), tmp_path, progress=lambda *step: steps.append(step))
    tasks = [(o.task.setting, o.task.trial, o.task.method) for o in done.outcomes]
    assert tasks[:3] == [("first", 0, "ARC"), ("first", 0, "L-ARC"), ("first", 1, "ARC")]
    assert tasks[4:] == [("second", *rest) for _, *rest in tasks[:4]]
    assert steps == [(finished, 8) for finished in range(9)]
    assert done.outcome("ARC", "second", 1) is done.outcomes[6]
    assert done.outcome("ARC", "third") is None
    assert done.of_method("ARC", "second") == [done.outcomes[4], done.outcomes[6]]


def test_the_command_names_itself_with_its_options_but_no_path(tmp_path: Path) -> None:
    options = ["--methods", "ARC", "-o", "bonus=1", "--option", "file=secret=1.csv"]
    done = reproduce("toy", tmp_path, "--jobs", "1", *options)
    assert done.exit_code == 0, done.stderr
    found = results(tmp_path)
    assert found["command"] == (
        "localarc reproduce toy --seed 0 --methods ARC -o bonus=1 -o file=PATH"
    )
    assert found["options"] == {"bonus": "1", "file": "PATH"}
    assert found["plan"] == {
        "quick": False,
        "seed": 0,
        "trials": None,
        "methods": ["ARC"],
        "length_scales": None,
        "alpha": None,
        "rate": None,
    }
    assert found["certificates"][1] == {
        "method": "ARC",
        "setting": "second",
        "trial": 0,
        "risk": 3.0,
    }
    assert "secret" not in (tmp_path / "results.json").read_text()
    assert {path.name for path in tmp_path.glob("*.*g")} == {"line.png", "line.svg"}
    assert "All" in done.stdout
    assert "None" not in done.stdout


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["-o", "bonus"], "--option must be KEY=VALUE"),
        (["-o", "=1"], "--option must be KEY=VALUE"),
        (["-o", "bonus=2"], "bonus must be 0 or 1, got '2'"),
        (["-o", "malus=2"], "toy has no option 'malus'. Available: bonus, file."),
        (["-o", "bonus=0", "-o", "bonus=1"], "--option bonus is given more than once"),
        (["--methods", "ARC,LARC"], "no method 'LARC'. Available: ARC, L-ARC; of localarc compare"),
        (["--length-scales", "one"], "expected numbers"),
    ],
)
def test_a_bad_option_is_one_sentence(options: list[str], words: str, tmp_path: Path) -> None:
    assert_one_sentence(reproduce("toy", tmp_path, *options), words, tmp_path)
    assert not PERFORMED


def test_an_unknown_experiment_is_one_sentence(tmp_path: Path) -> None:
    done = reproduce("tyo", tmp_path)
    assert_one_sentence(done, "NAME must be one of electricity, polyps, fruit, beams", tmp_path)


def test_the_list_shows_every_experiment_with_its_options(tmp_path: Path) -> None:
    lines = reproduce("toy", tmp_path, "--list").stdout.splitlines()
    assert lines[-3:] == ["toy: Toy", "  -o bonus=...  a number to add", "  -o file=...  any file"]
    assert "  -o engine=...  ray tracer: images, or sionna (Sionna RT)" in lines


def test_an_option_that_one_experiment_has_is_rejected_by_the_others() -> None:
    for name in ("electricity", "polyps", "fruit"):
        with pytest.raises(ValueError, match=f"{name} has no option 'engine'"):
            EXPERIMENTS[name].with_options({"engine": "sionna"})
    assert EXPERIMENTS["beams"].with_options({}) == EXPERIMENTS["beams"]


def test_options_are_fields() -> None:
    assert Toy().with_options({"file": "a.csv", "bonus": "1"}) == Toy("1", Path("a.csv"))
    assert replace(Toy(), bonus="1").options() == {"bonus": "1", "file": None}


@pytest.mark.parametrize(("option", "value"), [("--jobs", 0), ("--trials", 0), ("--seed", -1)])
def test_options_are_rejected_before_anything_starts(
    tmp_path: Path, option: str, value: int
) -> None:
    done = reproduce("electricity", tmp_path / "out", "--quick", option, str(value))
    assert_one_sentence(done, f"'{option}'", tmp_path / "out")
    assert str(value) in done.stderr
