"""Images: pictures and masks of five sources, in the data set's two zip files."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

import numpy as np
from numpy.typing import NDArray

SOURCES = ("Kvasir", "CVC-ClinicDB", "CVC-300", "CVC-ColonDB", "ETIS-LaribPolypDB")
"""The five collections."""

_FILES = {True: "polyp_train_352.zip", False: "polyp_test_352.zip"}


@dataclass(frozen=True)
class Pair:
    """A picture and its mask in a zip file, and whether the network was trained on them."""

    source: str
    name: str
    trained: bool


@dataclass(frozen=True)
class Images:
    """The folder of the zip files, with its pairs in a fixed order: training pairs first."""

    folder: Path
    pairs: tuple[Pair, ...]

    def __len__(self) -> int:
        return len(self.pairs)

    def trained(self) -> Images:
        """Select the training pairs."""
        return Images(self.folder, tuple(pair for pair in self.pairs if pair.trained))

    def take(self, rows: Sequence[int]) -> Images:
        """Select pairs."""
        return Images(self.folder, tuple(self.pairs[row] for row in rows))

    def batches(self, size: int) -> Iterator[tuple[NDArray[np.uint8], NDArray[np.bool_]]]:
        """Read pictures (n, height, width, 3) and masks (n, height, width), `size` at a time."""
        archives = {trained: zipfile.ZipFile(self.folder / _FILES[trained]) for trained in _FILES}
        try:
            for start in range(0, len(self), size):
                both = [_pair(archives, pair) for pair in self.pairs[start : start + size]]
                yield np.stack([each[0] for each in both]), np.stack([each[1] for each in both])
        finally:
            for archive in archives.values():
                archive.close()


def find(folder: Path) -> Images:
    """List the pairs of both zip files in a folder."""
    missing = [name for name in _FILES.values() if not (folder / name).is_file()]
    if missing:
        raise ValueError(
            f"{folder} does not contain {' and '.join(missing)}. "
            "Pass the folder of the data set polyps; see localarc data list."
        )
    pairs = [pair for trained in _FILES for pair in _listed(folder / _FILES[trained], trained)]
    return Images(folder, tuple(pairs))


def _listed(archive: Path, trained: bool) -> list[Pair]:
    with zipfile.ZipFile(archive) as file:
        paths = [PurePosixPath(name) for name in file.namelist()]
    found = [Pair(path.parts[1], path.stem, trained) for path in paths if path.parts[0] == "images"]
    return sorted(found, key=lambda pair: (SOURCES.index(pair.source), pair.name))


def _pair(archives: dict[bool, zipfile.ZipFile], pair: Pair) -> tuple[Any, Any]:
    from PIL import Image

    archive = archives[pair.trained]
    picture = archive.read(f"images/{pair.source}/{pair.name}.webp")
    mask = archive.read(f"masks/{pair.source}/{pair.name}.png")
    with Image.open(io.BytesIO(picture)) as colours, Image.open(io.BytesIO(mask)) as truth:
        return np.asarray(colours.convert("RGB")), np.asarray(truth.convert("L")) > 127
