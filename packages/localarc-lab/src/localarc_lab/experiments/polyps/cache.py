"""The authors' cache: four arrays in a folder, `sigmoids`, `masks`, `features` and `img_names`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from localarc.curves import false_negatives
from localarc_lab.experiments.polyps.images import SOURCES
from localarc_lab.experiments.polyps.model_outputs import LOGITS, Outputs
from localarc_lab.experiments.polyps.reduction import DIMENSIONS, projection

_FILES = ("sigmoids", "masks", "features", "img_names")
_MARKS = ("Kvasir", "Clinic", "CVC-300", "Colon", "Larib")
"""What the name of an image contains, in the order of SOURCES."""


def read(folder: Path) -> Outputs:
    """Read outputs from a cache: sigmoids and masks are (n, height, width), features (n, ...).

    Features are standardised, as by the authors, and projected onto their principal axes.
    """
    sigmoids, masks, features, names = (_array(folder, name) for name in _FILES)
    if not len(sigmoids) == len(masks) == len(features) == len(names):
        raise ValueError(
            f"{folder} must contain equal numbers of sigmoids, masks, features and names, got "
            f"{len(sigmoids)}, {len(masks)}, {len(features)} and {len(names)}."
        )
    sources = np.array([_source(str(name)) for name in names], dtype=np.int64)
    truth = np.asarray(masks > 0.5)
    share = truth.reshape(len(truth), -1).mean(axis=1)
    rows = np.flatnonzero(share)
    losses, sizes = curves_of(sigmoids, truth)
    flat = features.reshape(len(features), -1).astype(np.float64)[rows]
    return Outputs(
        losses[rows],
        sizes[rows],
        share[rows],
        projection(flat, DIMENSIONS, standardise=True)(flat),
        sources[rows],
        np.zeros(len(rows), dtype=bool),
        tuple(str(names[row]) for row in rows),
        excluded=len(names) - len(rows),
    )


def curves_of(sigmoids: NDArray[Any], truth: NDArray[np.bool_]) -> tuple[Any, Any]:
    """Compute losses and sizes on the grid, one image at a time: a cache may exceed the memory."""
    grid = -1.0 / (1.0 + np.exp(-LOGITS))
    losses, sizes = np.zeros((2, len(sigmoids), len(LOGITS)))
    for i, (scores, mask) in enumerate(zip(sigmoids, truth, strict=True)):
        curve: Any = false_negatives(-np.asarray(scores, np.float64)[None], mask[None], grid)
        losses[i], sizes[i] = curve.losses[1:], curve.sizes[1:]
    return losses, sizes


def _array(folder: Path, name: str) -> NDArray[Any]:
    file = folder / f"{name}.npy"
    if not file.is_file():
        files = ", ".join(f"{array}.npy" for array in _FILES)
        raise ValueError(
            f"{folder} does not contain {file.name}. A cache consists of the files {files}."
        )
    loaded: NDArray[Any] = np.load(file, mmap_mode="r", allow_pickle=False)
    return loaded


def _source(name: str) -> int:
    for source, mark in enumerate(_MARKS):
        if mark in name:
            return source
    raise ValueError(
        f"the image name {name!r} does not identify its source. It must contain one of "
        f"{', '.join(_MARKS)}, for {', '.join(SOURCES)}."
    )
