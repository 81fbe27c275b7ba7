"""`localarc reproduce`: run an experiment of the paper, and report."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

import click

from localarc.cli.group import BadInput, user_errors
from localarc.cli.options import jobs as check_jobs
from localarc.cli.options import names, numbers

_KEYS = {
    "data": "source",
    "images": "from_images",
    "cache": "from_cache",
    "dataset": "dataset",
}
_FLAGS = {
    "data": "--data",
    "images": "--from-images",
    "cache": "--from-cache",
    "dataset": "--dataset",
}


@click.command(short_help="Run an experiment of the paper, and report.")
@click.argument("name", required=False)
@click.option("--list", "list_them", is_flag=True, help="Name the experiments and leave.")
@click.option("--quick", is_flag=True, help="A small part of the data, to see that all works.")
@click.option("--trials", type=click.IntRange(1), help="Number of trials.")
@click.option("--seed", type=click.IntRange(0), default=0, help="Seed of everything random.")
@click.option(
    "--jobs", type=int, default=-1, callback=check_jobs, help="Processes; -1 uses every core."
)
@click.option("--methods", callback=names, metavar="A,B", help="Only these methods.")
@click.option(
    "--length-scales",
    callback=numbers,
    metavar="L,L",
    help="Length scales of L-ARC, as in the paper.",
)
@click.option("--data", "source", type=click.Path(), help="Read the data from this file.")
@click.option("--from-images", type=click.Path(), help="Recompute from images and weights here.")
@click.option("--from-cache", type=click.Path(), help="Read arrays cached as the authors do.")
@click.option("--dataset", metavar="NAME", help="Another stream of the experiment, e.g. digits.")
@click.option("--engine", metavar="NAME", help="What computes the data, e.g. sionna for beams.")
@click.option("--as-released", is_flag=True, help="Follow the released code, not the paper.")
@click.option(
    "--out", type=click.Path(path_type=Path), help="Folder to write.  [default: localarc-NAME]"
)
@click.option("--quiet", is_flag=True, help="Print nothing but notes and errors.")
def reproduce(
    name: str | None, list_them: bool, jobs: int, out: Path | None, quiet: bool, **asked: Any
) -> None:
    """Run the experiment NAME: results.json, results.csv, figures and report.html.

    Finished tasks are kept in OUT/tasks, so a run that was stopped goes on where it was.
    """
    with user_errors():
        from localarc.experiments import EXPERIMENTS, Plan, report, run

        if list_them:
            for each in EXPERIMENTS.values():
                click.echo(f"{each.name}: {each.title}")
            return
        if name not in EXPERIMENTS:
            raise BadInput(f"NAME must be one of {', '.join(EXPERIMENTS)}, got {name!r}.")
        from localarc.cli.console import print_rows, task_bar, warnings_as_notes

        folder = out or Path(f"localarc-{name}")
        _refuse_foreign(asked, EXPERIMENTS[name])
        plan = Plan(**_sourced(asked, EXPERIMENTS[name].sources))
        with warnings_as_notes(), task_bar(quiet) as progress:
            results = run(EXPERIMENTS[name], plan, folder, jobs, progress)
            paths = report.write(results, folder, _command(name, plan))
    if not quiet:
        if results.reused:
            click.echo(f"{results.reused} task(s) were finished before and not run again")
        for title, table in results.tables().items():
            print_rows(title, *table)
        for sentence in results.experiment.findings(results.rows):
            click.echo(sentence)
        for path in paths:
            click.echo(f"wrote {path}")


def _refuse_foreign(asked: dict[str, Any], experiment: Any) -> None:
    """Options that only some experiments have."""
    engine, known = asked["engine"], " or ".join(experiment.engines)
    if engine is not None and engine not in experiment.engines:
        ways = f"give {known}" if known else "leave it out"
        raise BadInput(f"--engine {engine} cannot be used for {experiment.name}: {ways}.")
    if asked["as_released"] and not experiment.has_released:
        raise BadInput(f"--as-released has no meaning for {experiment.name}: leave it out.")


def _sourced(asked: dict[str, Any], accepted: tuple[str, ...]) -> dict[str, Any]:
    """The options with one source of data, where one is named, and its kind."""
    paths = {kind: asked.pop(key) for kind, key in _KEYS.items()}
    named = [kind for kind, path in paths.items() if path is not None]
    refused = [kind for kind in named if kind not in accepted] or named[1:]
    if refused:
        ways = " or ".join(_FLAGS[kind] for kind in accepted)
        raise BadInput(f"{_FLAGS[refused[0]]} cannot be used here: give {ways}, or nothing.")
    return asked | ({"source": str(paths[named[0]]), "source_kind": named[0]} if named else {})


def _command(name: str, plan: Any) -> str:
    """The command that gives these results again, wherever it is run."""
    parts = ["localarc", "reproduce", name, "--seed", str(plan.seed)]
    parts += ["--quick"] if plan.quick else []
    parts += ["--trials", str(plan.trials)] if plan.trials else []
    parts += ["--methods", ",".join(plan.methods)] if plan.methods else []
    if plan.length_scales:
        parts += ["--length-scales", ",".join(f"{scale:g}" for scale in plan.length_scales)]
    parts += ["--engine", plan.engine] if plan.engine else []
    parts += ["--as-released"] if plan.as_released else []
    if plan.source_kind != "data":
        named = plan.source if plan.source_kind == "dataset" else "DIR"
        parts += [_FLAGS[plan.source_kind], named]
    return shlex.join(parts)
