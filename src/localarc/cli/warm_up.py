"""`localarc warm-up`: compile loops in advance and store them on disk."""

from __future__ import annotations

import itertools
import os
import time
from collections.abc import Callable, Iterator
from functools import partial
from importlib.metadata import entry_points
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import click
import joblib

from localarc.cli.console import task_bar
from localarc.cli.elsewhere import not_installed
from localarc.cli.group import BadInput, user_errors
from localarc.cli.options import QUIET, names, processes
from localarc.cli.options import memory as parse_memory
from localarc.kernels import KERNELS
from localarc.memory import Memory

if TYPE_CHECKING:
    from localarc.running.warm_up import Loops

Task: TypeAlias = "Callable[[], Loops]"


class Compiled(NamedTuple):
    """What one task compiled, and how long that took."""

    loops: Loops
    seconds: float


def _kernels(context: click.Context, option: click.Parameter, value: str | None) -> tuple[str, ...]:
    """Parse names of kernels."""
    given = names(context, option, value) or ()
    unknown = [name for name in given if name not in KERNELS]
    if unknown:
        raise click.BadParameter(f"expected some of {', '.join(KERNELS)}, but got {unknown[0]!r}.")
    return given


def _memories(
    context: click.Context, option: click.Parameter, value: str | None
) -> dict[str, Memory | str]:
    """Parse memories, by what was written."""
    given = names(context, option, value) or ()
    return {text: parse_memory(context, option, text) for text in given}


def _features(context: click.Context, option: click.Parameter, value: str) -> tuple[int, ...]:
    """Parse numbers of features."""
    parts = [part.strip() for part in value.split(",")]
    if not all(part.isdecimal() and int(part) >= 1 for part in parts):
        raise click.BadParameter(f"expected numbers such as 1,2,3 but got {value!r}.")
    return tuple(map(int, parts))


@click.command(name="warm-up", short_help="Compile loops in advance, e.g. while building an image.")
@click.option(
    "--kernels", default="rbf", callback=_kernels, metavar="A,B", help="Kernels to compile for."
)
@click.option(
    "--memories",
    default="auto,all",
    callback=_memories,
    metavar="A,B",
    help="Memories: auto, all, last:M, lattice:TOLERANCE or dictionary:TOLERANCE.",
)
@click.option(
    "--features",
    default="1,2,3",
    callback=_features,
    metavar="N,N",
    help="Numbers of features; all above 8 share their loops.",
)
@click.option(
    "--service",
    is_flag=True,
    help="Also compile what `localarc serve` loads before it is ready.",
)
@click.option(
    "--service-only",
    is_flag=True,
    help="Compile nothing but that, e.g. for an image in which only the service runs.",
)
@processes(-1)
@QUIET
def warm_up_command(
    kernels: tuple[str, ...],
    memories: dict[str, Memory | str],
    features: tuple[int, ...],
    service: bool,
    service_only: bool,
    jobs: int,
    quiet: bool,
) -> None:
    """Compile the loops of AutoLARC, and of L-ARC and ARC with the given kernels, memories and
    numbers of features, and store them on disk, so that later processes start fast.

    They are stored in the folder NUMBA_CACHE_DIR, if that is set; else beside the package, if that
    is writable; else in the user's cache folder. Later processes use them from there, even if the
    folder is not writable then: with the same versions of localarc and numba, on the same type of
    processor.
    """
    tasks = {} if service_only else _library_tasks(kernels, memories, features)
    folders: set[str] = set()
    with task_bar(quiet) as report, user_errors():
        tasks |= _service_tasks() if service or service_only else {}
        for done, (title, compiled) in enumerate(_run(tasks, jobs), start=1):
            folders |= _reported(title, compiled, quiet)
            if report:
                report(done, len(tasks))
    if not quiet:
        click.echo(f"The compiled loops are in {os.path.commonpath(folders)}")


def _library_tasks(
    kernels: tuple[str, ...], memories: dict[str, Memory | str], features: tuple[int, ...]
) -> dict[str, Task]:
    """Compile for each combination, and for AutoLARC."""
    from localarc.running import warm_up

    tasks: dict[str, Task] = {}
    for kernel, memory, count in itertools.product(kernels, memories, features):
        title = f"{kernel}, {memory}, {count} feature(s)"
        tasks[title] = partial(_larc, kernel, memories[memory], count)
    return tasks | {"AutoLARC": warm_up.warm_up_auto}


def _larc(kernel: str, memory: Memory | str, features: int) -> Loops:
    """Compile for one combination."""
    from localarc.running import warm_up

    return warm_up.warm_up(KERNELS[kernel](), memory, features)


def _service_tasks() -> dict[str, Task]:
    """Compile for the usual streams of a service."""
    from localarc.running import warm_up

    found = list(entry_points(group="localarc.warm_up", name="service"))
    if not found:
        raise BadInput(f"The service is {not_installed('localarc-service')}")
    return {title: partial(warm_up.counted, use) for title, use in found[0].load()().items()}


def _run(tasks: dict[str, Task], jobs: int) -> Iterator[tuple[str, Compiled]]:
    """Compile in several processes; yields what each task did, as it is done."""
    parallel = joblib.Parallel(n_jobs=jobs, return_as="generator_unordered")
    yield from parallel(joblib.delayed(_timed)(title, task) for title, task in tasks.items())


def _timed(title: str, task: Task) -> tuple[str, Compiled]:
    start = time.perf_counter()
    return title, Compiled(task(), time.perf_counter() - start)


def _reported(title: str, compiled: Compiled, quiet: bool) -> frozenset[str]:
    """Print what one task did, and return where it is."""
    loops = compiled.loops
    if loops.not_stored:
        raise BadInput(
            f"{loops.not_stored} compiled loop(s) cannot be stored. Set NUMBA_CACHE_DIR to a "
            "writable folder."
        )
    if not quiet:
        done = f"{loops.stored} compiled, {loops.found} found on disk"
        click.echo(f"{title}: {done}, {compiled.seconds:.1f} s")
    return loops.folders
