"""Apply the faults one by one, run the tests that should notice, and print which survive."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from benchmarks.mutants.fault import Target
from benchmarks.mutants.faults import TARGETS
from benchmarks.mutants.sandbox import SOURCES, SandboxError, sandbox

TIMEOUT = 300.0  # seconds; a fault that lets tests run on for ever is found


@dataclass(frozen=True)
class Outcome:
    """Which faults of a file were found, in order."""

    target: Target
    found: tuple[bool, ...]

    def __str__(self) -> str:
        lines = [f"{self.target.file}: {sum(self.found)} of {len(self.found)} found"]
        pairs = zip(self.target.faults, self.found, strict=True)
        lines += [f"  survives: {old!r} -> {new!r}" for (old, new), found in pairs if not found]
        return "\n".join(lines)


def tried(target: Target) -> Outcome:
    """All faults of one file, in a copy of its own."""
    source = (SOURCES / target.file).read_text()
    found = []
    with sandbox() as copy:
        if not copy.passes(target.tests, TIMEOUT):
            raise SandboxError(f"without any fault, tests of {target.file} fail: {target.tests}")
        for number in range(len(target.faults)):
            with copy.replaced(target.file, target.faulty(number, source)):
                found.append(not copy.passes(target.tests, TIMEOUT))
    return Outcome(target, tuple(found))


def main(arguments: Sequence[str] | None = None) -> int:
    """Print what survives; the exit code is 1 if anything does."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.mutants", description=__doc__)
    parser.add_argument("files", nargs="*", help="only files whose name contains one of these")
    parser.add_argument("--jobs", type=int, default=1, help="files that are tried at once")
    options = parser.parse_args(arguments)
    wanted = options.files or [""]
    targets = [target for target in TARGETS if any(part in target.file for part in wanted)]
    for target in targets:
        target.check(SOURCES)
    start, found, total = time.perf_counter(), 0, 0
    with ThreadPoolExecutor(options.jobs) as pool:
        for outcome in pool.map(tried, targets):
            print(outcome, flush=True)
            found, total = found + sum(outcome.found), total + len(outcome.found)
    seconds = time.perf_counter() - start
    print(f"{found} of {total} faults found, {total - found} survive; {seconds:.0f} s")
    return 0 if found == total else 1


if __name__ == "__main__":
    sys.exit(main())
