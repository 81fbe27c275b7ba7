"""Recent buckets: what a worker has stored it need not decode again in the next micro-batch.

An entry is found by its job and the checksum that ends the stored bytes, so it is that state or not
found: after a crash, a rerun or a move to another worker the bytes are decoded as usual.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, field

from localarc.keyed.bucket import Bucket

MAX_BYTES = 64 * 2**20
"""How many bytes of stored buckets a worker keeps decoded."""

_CHECKSUM = 32


@dataclass
class RecentBuckets:
    """Decoded buckets by job and checksum of their stored bytes, the oldest dropped first."""

    max_bytes: int = MAX_BYTES
    _found: OrderedDict[tuple[str, bytes], tuple[Bucket, int]] = field(default_factory=OrderedDict)
    _bytes: int = 0

    def take(self, job: str, data: bytes) -> Bucket | None:
        """The bucket that a job stored as these bytes, which is then the caller's; None if gone."""
        bucket, size = self._found.pop((job, bytes(data[-_CHECKSUM:])), (None, 0))
        self._bytes -= size
        return bucket

    def put(self, job: str, data: bytes, bucket: Bucket) -> None:
        """Keep a bucket that was stored as these bytes; the caller must not change it any more."""
        self.take(job, data)
        self._found[job, data[-_CHECKSUM:]] = bucket, len(data)
        self._bytes += len(data)
        while self._bytes > self.max_bytes:
            self._bytes -= self._found.popitem(last=False)[1][1]


RECENT = RecentBuckets()
"""Those of this worker process, whichever job they are of."""
