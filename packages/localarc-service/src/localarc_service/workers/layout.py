"""Which folder holds the data of a worker, and how many workers share a folder."""

from __future__ import annotations

from pathlib import Path

import msgspec

from localarc import atomic_write

FILE_NAME = "workers.json"
_LOG = "log.sqlite"  # of a folder without workers


class Layout(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How many workers share a data folder; written when the folder is first used by several."""

    workers: int


def worker_folder(data: Path, index: int) -> Path:
    """The data folder of one worker."""
    return data / f"worker-{index}"


def workers_of(data: Path) -> int:
    """How many workers a data folder was made for: 1 if it is new, or has no workers."""
    try:
        content = (data / FILE_NAME).read_bytes()
    except FileNotFoundError:
        return 1
    try:
        return msgspec.json.decode(content, type=Layout).workers
    except ValueError as error:
        raise ValueError(
            f"{data / FILE_NAME} cannot be read: {error}. It must say how many folders named "
            'worker-0, worker-1, ... there are, as {"workers": 2}.'
        ) from error


def store_folders(data: Path) -> list[Path]:
    """The folders with the stores of a data folder: one per worker, or the folder itself."""
    workers = workers_of(data)
    return [data] if workers == 1 else [worker_folder(data, index) for index in range(workers)]


def require_whole(data: Path) -> None:
    """Raise ValueError if a folder belongs to one worker: it would not have every stream."""
    whole = data.resolve().parent
    if (whole / FILE_NAME).exists():
        raise ValueError(f"{data} belongs to one worker of {whole}: pass --data {whole}.")


def use(data: Path, workers: int) -> None:
    """Raise ValueError unless a folder is new, or was made for that many workers."""
    is_new = not (data / FILE_NAME).exists() and not (data / _LOG).exists()
    if is_new and workers > 1:
        atomic_write.write(data / FILE_NAME, msgspec.json.encode(Layout(workers)))
    found = workers_of(data)
    if found != workers:
        raise ValueError(
            f"{data} holds the streams of {found} worker(s), not of {workers}: pass --workers "
            f"{found}, or copy it with `localarc rebalance --data {data} --to NEW --workers "
            f"{workers}`."
        )
