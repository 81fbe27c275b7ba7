"""Storable: files on top of `state` and `from_state`."""

from __future__ import annotations

import copy
import os
from typing import Self

from localarc import atomic_write, serialization
from localarc.algorithms import Algorithm


class Storable:
    """An object whose state can be written to a file."""

    algorithm = Algorithm()

    def state(self) -> bytes:
        """Everything that was learned, for storage."""
        raise NotImplementedError

    @classmethod
    def from_state(cls, data: bytes) -> Self:
        """The object whose `state` this was.

        Parameters
        ----------
        data : bytes
            What `state` returned.
        """
        raise NotImplementedError

    def __copy__(self) -> Self:
        """A separate object: nothing that was learned is shared."""
        return copy.deepcopy(self)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the state to a file, completely or not at all.

        Parameters
        ----------
        path : path
            The file to write; its folder must exist.
        """
        atomic_write.write(path, self.state())

    @classmethod
    def load(cls, path: str | os.PathLike[str], **functions: object) -> Self:
        """Read a file written by `save`.

        Parameters
        ----------
        path : path
            The file to read.
        **functions
            What `from_state` needs beside the bytes, by the name of its parameter: functions that
            were part of the object (a kernel, a rate, `group_of`), which are not stored.
        """
        data = serialization.read(path)
        try:
            return cls.from_state(data, **functions)
        except serialization.StateError as error:
            raise serialization.StateError(f"{path}: {error}") from error
