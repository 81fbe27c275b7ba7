"""`localarc reproduce`: run an experiment of the paper and write a report."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from localarc.cli.group import BadInput, resumable, user_errors
from localarc.cli.options import names, numbers, processes

if TYPE_CHECKING:
    from localarc_lab.experiments import Experiment, Plan, Results


def _options(_: Any, parameter: click.Parameter, values: tuple[str, ...]) -> dict[str, str]:
    """`-o KEY=VALUE`, any number of times."""
    bad = [value for value in values if not value.partition("=")[0] or "=" not in value]
    if bad:
        raise BadInput(f"--option must be KEY=VALUE, e.g. engine=sionna, got {bad[0]!r}.")
    pairs = [value.split("=", 1) for value in values]
    keys = [key for key, _ in pairs]
    repeated = [key for key in keys if keys.count(key) > 1]
    if repeated:
        raise BadInput(f"--option {repeated[0]} is given more than once.")
    return dict(pairs)


@click.command(short_help="Run an experiment of the paper and write a report.")
@click.argument("name", required=False)
@click.option(
    "--list", "list_them", is_flag=True, help="List the experiments with their options and exit."
)
@click.option(
    "--quick", is_flag=True, help="Use a small part of the data, as a check that everything works."
)
@click.option("--trials", type=click.IntRange(1), help="Number of trials.")
@click.option("--seed", type=click.IntRange(0), default=0, help="Random seed.")
@processes(-1)
@click.option(
    "--methods",
    callback=names,
    metavar="A,B",
    help="Run only these: the experiment's, those that compare --list shows, or classes of your "
    "own such as my_method.py:Mine.",
)
@click.option("--alpha", type=float, help="Target risk.  [default: the paper's]")
@click.option(
    "--rate",
    type=float,
    help="eta in eta / sqrt(t), for ARC, Mondrian and L-ARC.  [default: the paper's]",
)
@click.option(
    "--length-scales",
    callback=numbers,
    metavar="L,L",
    help="Values of the paper's l for L-ARC, in exp(-d^2 / l).",
)
@click.option(
    "-o",
    "--option",
    "options",
    multiple=True,
    callback=_options,
    metavar="KEY=VALUE",
    help="Option of the experiment, e.g. engine=sionna; --list shows them. Repeatable.",
)
@click.option(
    "--out", type=click.Path(path_type=Path), help="Output folder.  [default: localarc-NAME]"
)
@click.option("--quiet", is_flag=True, help="Print only notes and errors.")
def reproduce(
    name: str | None,
    list_them: bool,
    jobs: int,
    options: dict[str, str],
    out: Path | None,
    quiet: bool,
    **planned: Any,
) -> None:
    """Run the experiment NAME and write results.json, results.csv, figures and report.html.

    Finished tasks are stored in OUT/tasks, and an interrupted run resumes from them. A stored task
    is run again if the data, the options or localarc's source code have changed.
    """
    with user_errors():
        from localarc_lab.experiments import EXPERIMENTS, Plan, report, run

        if list_them:
            click.echo("\n".join(line for each in EXPERIMENTS.values() for line in _listing(each)))
            return
        if name not in EXPERIMENTS:
            raise BadInput(f"NAME must be one of {', '.join(EXPERIMENTS)}, got {name!r}.")
        from localarc.cli.console import task_bar, warnings_as_notes

        folder = out or Path(f"localarc-{name}")
        experiment = EXPERIMENTS[name].with_options(options)
        plan = Plan(**planned)
        with warnings_as_notes(), task_bar(quiet) as progress:
            with resumable(folder / "tasks", ".npz"):
                results = run(experiment, plan, folder, jobs, progress)
            paths = report.write(results, folder, _command(experiment, plan))
    if not quiet:
        _print(results, paths)


def _listing(experiment: Experiment[Any, Any]) -> list[str]:
    help_texts = experiment.option_help()
    options = [f"  -o {key}=...  {help_text}" for key, help_text in help_texts.items()]
    return [f"{experiment.name}: {experiment.title}", *options]


def _print(results: Results[Any, Any], paths: list[Path]) -> None:
    from localarc.cli.console import print_rows

    if results.reused:
        click.echo(f"reused {results.reused} stored task(s)")
    for title, table in results.tables().items():
        print_rows(title, *table)
    for sentence in results.experiment.findings(results.rows):
        click.echo(sentence)
    for path in paths:
        click.echo(f"wrote {path}")


def _command(experiment: Experiment[Any, Any], plan: Plan) -> str:
    """The command that gives these results again, on any machine."""
    parts = ["localarc", "reproduce", experiment.name, "--seed", str(plan.seed)]
    parts += ["--quick"] if plan.quick else []
    parts += ["--trials", str(plan.trials)] if plan.trials else []
    parts += ["--methods", ",".join(plan.methods)] if plan.methods else []
    if plan.length_scales:
        parts += ["--length-scales", ",".join(f"{scale:g}" for scale in plan.length_scales)]
    parts += ["--alpha", str(plan.alpha)] if plan.alpha is not None else []
    parts += ["--rate", str(plan.rate)] if plan.rate is not None else []
    for key, value in experiment.portable_options().items():
        parts += ["-o", f"{key}={value}"]
    return shlex.join(parts)
