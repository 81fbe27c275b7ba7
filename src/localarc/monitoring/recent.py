"""Recent rounds: sums over blocks of them, of which the oldest is dropped as a whole."""

from __future__ import annotations

from collections.abc import Iterator

from localarc.monitoring.bets import Sums

_BLOCKS = 8


class Recent:
    """The last rounds: at most `window`, and about seven eighths of it at least.

    Blocks hold `ceil(window / 8)` rounds. The newest one fills up; when the next begins and all of
    them would exceed the window, the oldest is dropped.
    """

    __slots__ = ("block", "blocks", "most")

    def __init__(self, window: int) -> None:
        self.block = -(-window // _BLOCKS)
        self.most = window // self.block
        self.blocks: list[Sums] = []

    def add(self, loss: float) -> None:
        """Count one more round."""
        if self.blocks and self.blocks[-1].rounds < self.block:
            self.blocks[-1] = self.blocks[-1].with_loss(loss)
        else:
            self.blocks = [*self.blocks, Sums().with_loss(loss)][-self.most :]

    def since_each_start(self) -> Iterator[Sums]:
        """Sums of the rounds since the start of each block, the newest block first."""
        sums = Sums()
        for block in reversed(self.blocks):
            sums = sums.plus(block)
            yield sums

    @property
    def sums(self) -> Sums:
        """Sums of all recent rounds."""
        return Sums(*map(sum, zip(*self.blocks, strict=True))) if self.blocks else Sums()
