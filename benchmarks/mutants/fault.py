"""A fault: one piece of text of one source file, and what stands there by mistake."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


class FaultError(ValueError):
    """A fault does not fit the sources."""


@dataclass(frozen=True)
class Target:
    """A source file, the tests that should notice its faults, and the faults."""

    file: str  # in src/localarc
    tests: tuple[str, ...]  # in tests, the ones that find most first
    faults: tuple[tuple[str, str], ...]  # old text, new text

    def faulty(self, number: int, source: str) -> str:
        """The source with one of the faults; raises unless it has exactly one place."""
        old, new = self.faults[number]
        times = source.count(old)
        if times != 1:
            raise FaultError(
                f"{self.file}, fault {number + 1}: {old!r} was found {times} times, and must be "
                "found once. Quote what the source says now, with more of what is around it."
            )
        if old == new:
            raise FaultError(f"{self.file}, fault {number + 1}: {old!r} is replaced by itself.")
        return source.replace(old, new)

    def check(self, sources: Path) -> None:
        """Raise unless each fault has exactly one place, and makes a program."""
        source = (sources / self.file).read_text()
        for number in range(len(self.faults)):
            compile(self.faulty(number, source), self.file, "exec")
