"""The arena: every online method on the same streams, with one command.

Examples
--------
>>> from localarc import arena
>>> len(arena.SUITE) >= 12
True
"""

from localarc.arena.entry import Entry
from localarc.arena.runner import run
from localarc.arena.standings import Standings
from localarc.arena.suite import SUITE
from localarc.arena.yardstick import Yardstick

__all__ = ["SUITE", "Entry", "Standings", "Yardstick", "run"]
