"""Sources: the code that computed a stored result; a result of other code is not used again."""

from pathlib import Path

from localarc.reporting.provenance import source_digest

HERE = Path(__file__).parent


def source_digests() -> list[str]:
    """The SHA-256 of the library's Python files, and of this package's."""
    return [source_digest(), source_digest(HERE)]
