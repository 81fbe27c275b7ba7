"""Recent rounds: sums over blocks of them, of which the oldest is dropped as a whole."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator
from operator import add

from localarc.monitoring.bets import Sums

_BLOCKS = 8
_NUMBERS = 3  # of a block's sums


class Recent:
    """The last rounds: at most `window`, and about seven eighths of it at least.

    Blocks hold `ceil(window / 8)` rounds. The newest one fills up; when the next begins and all of
    them would exceed the window, the oldest is dropped.
    """

    __slots__ = ("_block", "_most", "_sums")

    def __init__(self, window: int, blocks: Iterable[Sums] = ()) -> None:
        self._block = -(-window // _BLOCKS)
        self._most = window // self._block
        self._sums = array("d", [number for block in blocks for number in block])

    def copy(self) -> Recent:
        """The same, to be changed on its own."""
        new = Recent.__new__(Recent)
        new._block, new._most, new._sums = self._block, self._most, self._sums[:]
        return new

    def add(self, loss: float) -> None:
        """Count one more round."""
        sums = self._sums
        if not sums or sums[-3] >= self._block:
            if len(sums) == _NUMBERS * self._most:
                del sums[:_NUMBERS]
            sums.extend((0.0, 0.0, 0.0))
        sums[-3] += 1.0
        sums[-2] += loss
        sums[-1] += loss * (1.0 - loss)

    def is_possible_after(self, rounds: int) -> bool:
        """Whether `rounds` rounds can have produced these blocks."""
        sizes = [block.rounds for block in self.blocks]
        filled = all(size == self._block for size in sizes[:-1])
        newest = rounds and (rounds - 1) % self._block + 1
        return (
            filled
            and sizes[-1:] == ([newest] if rounds else [])
            and (len(sizes) == min(self._most, -(-rounds // self._block)))
        )

    @property
    def blocks(self) -> list[Sums]:
        """Sums of each block, the oldest first."""
        flat = self._sums
        starts = range(0, len(flat), _NUMBERS)
        return [Sums(int(flat[i]), flat[i + 1], flat[i + 2]) for i in starts]

    def since_each_start(self) -> Iterator[Sums]:
        """Sums of the rounds since the start of each block, the newest block first."""
        sums = Sums()
        for block in reversed(self.blocks):
            sums = Sums(*map(add, sums, block))
            yield sums

    def exceeds(self, mean: float) -> bool:
        """Whether the mean loss of the recent rounds is above a mean."""
        flat = self._sums
        return sum(flat[1::3]) > mean * sum(flat[::3])

    @property
    def sums(self) -> Sums:
        """Sums of all recent rounds."""
        flat = self._sums
        return Sums(int(sum(flat[::3])), sum(flat[1::3]), sum(flat[2::3]))
