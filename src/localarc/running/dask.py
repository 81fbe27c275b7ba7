"""Calls on a dask cluster: where one kills its worker it ends, and joblib's backend would wait."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

Result = TypeVar("Result")


class WorkerLostError(RuntimeError):
    """Tasks that killed their workers, by memory or by a crash; `rows` has the finished ones."""

    rows: tuple[dict[str, Any], ...] = ()


def active_client() -> Any:
    """The client of `joblib.parallel_config("dask")`, None outside of one."""
    import joblib

    backend, _ = joblib.parallel.get_active_backend()
    return getattr(backend, "client", None) if "Dask" in type(backend).__name__ else None


def as_they_finish(
    client: Any, call: Callable[..., Result], arguments: Sequence[tuple[Any, ...]]
) -> Iterator[Result]:
    """Yield results as calls finish; raise for lost workers once everything else has finished."""
    import distributed
    from distributed.scheduler import KilledWorker

    completed: Any = distributed.as_completed

    def submit(each: tuple[Any, ...]) -> Any:
        return client.submit(call, *each, pure=False)

    futures = [submit(each) for each in arguments]
    places = {future.key: i for i, future in enumerate(futures)}
    lost: list[int] = []
    try:
        for future in completed(futures):
            if isinstance(future.exception(), KilledWorker):
                lost.append(places[future.key])
            else:
                yield future.result()
    finally:
        client.cancel(futures)
    guilty = []
    for i in sorted(lost):  # alone: dask blames every task that was on a lost worker
        future = submit(arguments[i])
        if isinstance(future.exception(), KilledWorker):
            guilty.append(i)
        else:
            yield future.result()
    if guilty:
        raise WorkerLostError(_explained(guilty, len(arguments)))


def _explained(lost: list[int], total: int) -> str:
    shown = ", ".join(map(str, lost[:5])) + (", ..." if len(lost) > 5 else "")
    return (
        f"{len(lost)} of {total} tasks killed every worker that ran them: number {shown}, counted "
        "from 0. They need more memory, or they crash; the finished rows are in `error.rows`."
    )
