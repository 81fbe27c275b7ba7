"""Which worker of a service owns a stream, for the workers and for clients that know of them."""

from __future__ import annotations

from functools import lru_cache
from hashlib import blake2b

MAX_WORKERS = 64
WORKERS_HEADER = "localarc-workers"
"""Header of the responses of a service with several workers: how many there are."""


@lru_cache(maxsize=4096)
def owner_of(stream: str, workers: int) -> int:
    """The worker that owns a stream; it follows from the name alone, on every machine.

    >>> [owner_of(name, 2) for name in ("demand", "parcels", "fruit")]
    [0, 1, 0]
    """
    digest = blake2b(stream.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "big") % workers
