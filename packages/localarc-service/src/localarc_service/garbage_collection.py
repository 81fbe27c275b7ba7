"""Garbage collection that does not stop requests.

A full collection looks at every object that can be part of a cycle. Modules and compiled loops are
tens of thousands of them, which stay until the process ends, and make each collection a pause of a
tenth of a second. Once they are loaded, they are excluded: then a collection takes a millisecond.
"""

from __future__ import annotations

import gc

_NEW_OBJECTS = 10_000  # before the young ones are looked at; a request leaves almost none behind


def exclude_existing() -> None:
    """Never look at the objects that exist now again; those that become unused are still freed."""
    gc.freeze()


def collect_rarely() -> None:
    """Free what is unused, exclude what is not, and collect less often from now on."""
    gc.collect()
    exclude_existing()
    gc.set_threshold(_NEW_OBJECTS, 20, 20)
