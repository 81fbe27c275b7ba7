"""Garbage collection: what stays until the end is not looked at, and cycles are still freed."""

from __future__ import annotations

import subprocess
import sys

import pytest

CODE = """
import gc, weakref
import localarc_service.server
from localarc_service import garbage_collection
from localarc_service.streams.rehearsal import Shape, rehearse

class Cycle:
    def __init__(self):
        self.me = self

rehearse(Shape("auto"))
before = len(gc.get_objects())
garbage_collection.collect_rarely()
after = len(gc.get_objects())
first = weakref.ref(Cycle())
kept = [Cycle() for _ in range(20_000)]
alive = first() is not None
print(before, after, alive)
"""


@pytest.mark.slow
def test_a_collection_looks_at_few_objects_and_still_frees_cycles() -> None:
    done = subprocess.run([sys.executable, "-c", CODE], capture_output=True, text=True, check=True)
    before, after, alive = done.stdout.split()
    assert int(before) > 20_000
    assert int(after) < 1_000
    assert alive == "False"
