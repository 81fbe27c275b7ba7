"""Stream files: a table of rounds, described once in TOML for every command."""

from __future__ import annotations

import dataclasses
import hashlib
import os
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from localarc.streams.stream import Stream
from localarc.streams.tables import read_table
from localarc.tables.file_columns import TableError


@dataclass(frozen=True)
class StreamFile:
    """A stream that a TOML file describes: where its rounds are, and what its columns mean.

    Parameters
    ----------
    name : str
        Name of the stream. Default in a file: the name of the TOML file.
    file : Path
        The table, CSV or Parquet; in a file, relative to the TOML file.
    score : str
        Column with the score of the true outcome; lower is better.
    features : tuple of str, optional
        Columns of the input.
    group, loss, width : str, optional
        Columns with the group, the loss of a miss, and the width at threshold 0, as for
        `read_table`.
    loss_bound : float, default 1.0
        Largest possible loss.
    alpha : float, default 0.1
        The target.
    model : str, default "not stated"
        The base model whose errors are controlled.
    licence : str, default "not stated"
        Terms of use.
    sha256 : str, optional
        Checksum of the table; another table is then rejected.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = (pathlib.Path(folder) / "rounds.csv").write_text("hour,error\\n1,0.5\\n2,0.1\\n")
    ...     mine = pathlib.Path(folder) / "mine.toml"
    ...     _ = mine.write_text('file = "rounds.csv"\\nscore = "error"\\nfeatures = ["hour"]\\n')
    ...     stream = StreamFile.read(mine).stream()
    >>> stream.name, len(stream), stream.features
    ('mine', 2, ('hour',))
    """

    name: str
    file: Path
    score: str
    features: tuple[str, ...] = ()
    group: str | None = None
    loss: str | None = None
    width: str | None = None
    loss_bound: float = 1.0
    alpha: float = 0.1
    model: str = "not stated"
    licence: str = "not stated"
    sha256: str | None = None

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> StreamFile:
        """Read a TOML file; the table itself is read by `stream`.

        Parameters
        ----------
        path : str or path-like
            The TOML file.
        """
        source = Path(path)
        found = {"name": source.stem} | _checked(source, _parsed(source))
        found["file"] = source.parent / found["file"]
        return cls(**found | {"features": tuple(found.get("features", ()))})

    def stream(self) -> Stream:
        """Read the table, check it against the checksum, and return its rounds."""
        if self.sha256 is not None and self.file.is_file():
            digest = hashlib.sha256(self.file.read_bytes()).hexdigest()
            if digest != self.sha256:
                raise TableError(
                    f"{self.file} has SHA-256 {digest}, expected {self.sha256}. Restore the file, "
                    "or change sha256 if it is meant to be another one."
                )
        columns = (self.features, self.score, self.loss, self.group, self.loss_bound, self.width)
        return dataclasses.replace(read_table(self.file, *columns), name=self.name)


def _parsed(source: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(source.read_text(encoding="utf-8"))
    except OSError as error:
        raise TableError(f"{source} cannot be read: {error.strerror or error}.") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise TableError(f"{source} is not TOML: {error}.") from error


_NUMBERS = ("loss_bound", "alpha")
_KEYS = tuple(field.name for field in dataclasses.fields(StreamFile))


def _checked(source: Path, found: dict[str, Any]) -> dict[str, Any]:
    """Check names and types of all keys."""
    unknown = [key for key in found if key not in _KEYS]
    if unknown:
        raise TableError(f"{source}: unknown key {unknown[0]!r}. Known are {', '.join(_KEYS)}.")
    for key in ("file", "score"):
        if key not in found:
            raise TableError(f'{source} must state {key}, for example {key} = "{_EXAMPLES[key]}".')
    for key, value in found.items():
        if not _fits(key, value):
            raise TableError(
                f"{source}: {key} must be {_EXPECTED.get(key, 'text in quotes')}, got {value!r}."
            )
    return dict(found)


_EXAMPLES = {"file": "rounds.csv", "score": "residual"}
_EXPECTED = {
    "features": 'a list of columns such as ["hour", "demand"]',
    **dict.fromkeys(_NUMBERS, "a number"),
}


def _fits(key: str, value: object) -> bool:
    if key == "features":
        return isinstance(value, list) and all(isinstance(name, str) for name in value)
    if key in _NUMBERS:
        return isinstance(value, float | int) and not isinstance(value, bool)
    return isinstance(value, str) and bool(value)
