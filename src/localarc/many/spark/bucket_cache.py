"""Recent buckets: what a worker has stored it need not decode again in the next micro-batch.

A bucket is current if the stored bytes end with its checksum. If they do not, another worker has
stored a later one, or a batch is rerun: the bytes are decoded, and of the bucket that was kept only
the index of its keys is used again, if they are the same.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, field
from typing import Any

from localarc.many.rows.bucket import Bucket

MAX_BYTES = 64 * 2**20
"""How many bytes of stored buckets a worker keeps decoded."""

_CHECKSUM = 32


@dataclass(frozen=True)
class Recent:
    """A bucket that was stored, with the checksum and the number of its bytes."""

    bucket: Bucket
    checksum: bytes
    size: int

    def is_stored_as(self, data: bytes) -> bool:
        """Whether these are the bytes."""
        return data[-_CHECKSUM:] == self.checksum


@dataclass
class BucketCache:
    """The latest bucket of each job and grouping key, the oldest dropped first."""

    max_bytes: int = MAX_BYTES
    _found: OrderedDict[tuple[str, Any], Recent] = field(default_factory=OrderedDict)
    _bytes: int = 0

    def take(self, job: str, key: Any) -> Recent | None:
        """The bucket that was kept, which is then the caller's; None if there is none."""
        found = self._found.pop((job, key), None)
        self._bytes -= 0 if found is None else found.size
        return found

    def put(self, job: str, key: Any, data: bytes, bucket: Bucket) -> None:
        """Keep a bucket that was stored as these bytes; the caller must not change it any more."""
        self.take(job, key)
        self._found[job, key] = Recent(bucket, data[-_CHECKSUM:], len(data))
        self._bytes += len(data)
        while self._bytes > self.max_bytes:
            self._bytes -= self._found.popitem(last=False)[1].size


CACHE = BucketCache()
"""Those of this worker process, whichever job they are of."""
