"""Draw the figures of docs/auto.md: `python -m benchmarks.auto.figures [NAME ...]`."""

from __future__ import annotations

import argparse
import sys
from importlib import import_module

from benchmarks import machine

NAMES = ("hats", "scores", "learner", "bettors", "promises", "evenness")

if __name__ == "__main__":
    sys.path.insert(0, str(machine.ROOT / "tests"))  # for bettors.py, theorem E written out
    parser = argparse.ArgumentParser(description="Draw the figures of docs/auto.md.")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(NAMES)}")
    folder = machine.ROOT / "docs" / "auto"
    folder.mkdir(exist_ok=True)
    for name in parser.parse_args().names or NAMES:
        import_module(f"benchmarks.auto.figures.{name}").draw(folder / f"{name}.png")
        print(folder / f"{name}.png")
