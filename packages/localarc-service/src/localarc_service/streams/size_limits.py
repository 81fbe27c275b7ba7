"""Size limits: whether a stream that keeps its rounds fits into a snapshot."""

from __future__ import annotations

from localarc_client.wire.config import LarcConfig, StreamConfig
from localarc_client.wire.config_parts import KeepAllMemory, KeepLastMemory

MAX_BYTES = 2**28
"""Size limit of a stream's local part: a snapshot is one value in the database."""


def check_size(config: LarcConfig) -> None:
    """Raise ValueError if the rounds to keep do not fit."""
    most = MAX_BYTES // _bytes_of(1, config.features)
    if isinstance(config.memory, KeepLastMemory) and config.memory.m > most:
        raise ValueError(
            f"keep-last can hold at most {most} rounds of {config.features} feature(s), "
            f"{MAX_BYTES} bytes, got m = {config.memory.m}. Use a smaller m, or a dictionary."
        )


def check_room(config: StreamConfig, rounds: int) -> None:
    """Raise ValueError if one more round does not fit."""
    if not isinstance(config, LarcConfig) or not isinstance(config.memory, KeepAllMemory):
        return
    if _bytes_of(rounds + 1, config.features) > MAX_BYTES:
        raise ValueError(
            f"the stream keeps all of its {rounds} rounds and has reached its size limit: create "
            "a new stream with constant memory, such as a lattice or a dictionary."
        )


def _bytes_of(rounds: int, features: int) -> int:
    return 8 * rounds * (features + 3)
