"""The arena: every online method on the same streams, with one command.

Examples
--------
>>> from localarc_lab import arena
>>> len(arena.SUITE) >= 12
True
"""

from localarc_lab.arena.entry import Entry
from localarc_lab.arena.runner import run
from localarc_lab.arena.standings import Standings
from localarc_lab.arena.suite import SUITE
from localarc_lab.arena.yardstick import Yardstick

__all__ = ["SUITE", "Entry", "Standings", "Yardstick", "run"]
