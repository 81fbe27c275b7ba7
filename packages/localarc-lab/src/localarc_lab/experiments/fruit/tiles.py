"""Tiles: the pictures of Fruits-360, one mosaic per class, in the data set's two zip files."""

from __future__ import annotations

import csv
import io
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from localarc.validation import IntArray

SIDE = 64
_FILES = {"Training": "fruits360_training_64.zip", "Test": "fruits360_test_64.zip"}
_INDEX = "index.csv"


@dataclass(frozen=True, eq=False)
class Tiles:
    """Pictures (n, side, side, 3) as bytes, ordered by class, with their labels (n,)."""

    pictures: NDArray[np.uint8]
    labels: IntArray

    def __len__(self) -> int:
        return len(self.labels)


def class_names(folder: Path) -> list[str]:
    """Return the names of the classes, in the order of their labels."""
    names = {int(row["label"]): row["class_name"] for row in _rows(folder)}
    return [names[label] for label in sorted(names)]


def read(folder: Path, split: str, classes: Sequence[int] | None = None) -> Tiles:
    """Read the tiles of the Training or the Test split, of all classes or of some.

    With `classes`, labels are positions in it.
    """
    chosen = [row for row in _rows(folder) if row["split"] == split]
    by_label = {int(row["label"]): row for row in chosen}
    wanted = sorted(by_label) if classes is None else list(classes)
    parts = []
    with zipfile.ZipFile(folder / _FILES[split]) as archive:
        for label in wanted:
            row = by_label[label]
            mosaic = _picture(archive.read(f"{label:03d}.webp"))
            parts.append(_cut(mosaic, int(row["n_tiles"]), int(row["tiles_per_row"])))
    labels = np.repeat(np.arange(len(parts)), [len(part) for part in parts])
    return Tiles(np.concatenate(parts), labels)


def _rows(folder: Path) -> list[dict[str, str]]:
    missing = [name for name in (*_FILES.values(), _INDEX) if not (folder / name).is_file()]
    if missing:
        raise FileNotFoundError(
            f"{folder} does not contain {' and '.join(missing)}. "
            "Pass the folder of the data set fruits360; see localarc data list."
        )
    with (folder / _INDEX).open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def _picture(content: bytes) -> NDArray[np.uint8]:
    from PIL import Image

    with Image.open(io.BytesIO(content)) as picture:
        return np.asarray(picture.convert("RGB"))


def _cut(mosaic: NDArray[np.uint8], number: int, per_row: int) -> NDArray[np.uint8]:
    """The first `number` tiles of a mosaic, row by row."""
    rows = len(mosaic) // SIDE
    grid = mosaic[: rows * SIDE, : per_row * SIDE].reshape(rows, SIDE, per_row, SIDE, 3)
    return grid.swapaxes(1, 2).reshape(-1, SIDE, SIDE, 3)[:number]
