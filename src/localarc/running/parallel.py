"""Calls in parallel, wherever joblib runs them: in processes of this machine or on a cluster."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

from localarc.running import dask

Result = TypeVar("Result")


def as_they_finish(
    function: Callable[..., Result], arguments: Sequence[tuple[Any, ...]], jobs: int | None = None
) -> Iterator[tuple[int, Result]]:
    """Call a function with each tuple of arguments, with one BLAS thread each.

    Yields (index, result) pairs in the order in which calls finish, wherever joblib runs them.
    """
    import joblib
    from threadpoolctl import threadpool_limits

    if client := dask.active_client():
        calls = [(function, i, each) for i, each in enumerate(arguments)]
        yield from dask.as_they_finish(client, _call, calls)
        return
    try:
        parallel = joblib.Parallel(n_jobs=jobs, return_as="generator_unordered")
    except ValueError:  # some backends, Ray's among them, return all results at the end
        parallel = joblib.Parallel(n_jobs=jobs)
    delayed = (joblib.delayed(_call)(function, i, each) for i, each in enumerate(arguments))
    with threadpool_limits(limits=1):  # for tasks that are threads of this process
        yield from parallel(delayed)


def _call(
    function: Callable[..., Result], i: int, arguments: tuple[Any, ...]
) -> tuple[int, Result]:
    from threadpoolctl import threadpool_limits

    with threadpool_limits(limits=1):  # for tasks that have a process to themselves
        return i, function(*arguments)
