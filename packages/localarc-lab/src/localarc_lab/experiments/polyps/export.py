"""Export: `python -m localarc_lab.experiments.polyps.export --weights FILE --out FILE`.

It computes the curves and features that calibration needs from images and a trained segmenter.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from localarc.curves import false_negatives
from localarc.validation import FloatArray
from localarc_lab import data
from localarc_lab.experiments.polyps import images, network
from localarc_lab.experiments.polyps.images import SOURCES, Images
from localarc_lab.experiments.polyps.model_outputs import LOGITS, Outputs
from localarc_lab.experiments.polyps.reduction import DIMENSIONS, neighbour_accuracy, projection
from localarc_lab.experiments.torch_device import best_device

_BATCH = 16


def predict(model: Any, pairs: Images, device: str) -> Iterator[tuple[Any, Any, Any]]:
    """Yield logits, true masks and features of all pairs in batches, as NumPy arrays."""
    import torch

    for pictures, masks in pairs.batches(_BATCH):
        batch = torch.from_numpy(pictures.transpose(0, 3, 1, 2).copy()).to(device).float() / 255
        exact = torch.backends.cudnn.flags(allow_tf32=False)  # as on a CPU
        with torch.inference_mode(), exact:
            logits, features = mirrored(model, batch)
        yield logits.cpu().numpy(), masks, features.cpu().numpy()


def mirrored(model: Any, batch: Any) -> tuple[Any, Any]:
    """Return logits and features, averaged over a picture and its three mirror images."""
    views = []
    for sides in ([], [-1], [-2], [-2, -1]):
        logits, features = network.forward(model, batch.flip(sides))
        views.append((logits.flip(sides), features))
    return sum(view[0] for view in views) / 4, sum(view[1] for view in views) / 4


def export(model: Any, pairs: Images, device: str = "cpu") -> tuple[Outputs, FloatArray]:
    """Return the outputs and the raw features of all pairs that have a true pixel."""
    parts = [measure(*batch) for batch in predict(model, pairs, device)]
    losses, sizes, truth, features = (np.concatenate([p[i] for p in parts]) for i in range(4))
    rows = np.flatnonzero(truth)
    kept = [pairs.pairs[row] for row in rows]
    trained = np.array([pair.trained for pair in kept])
    raw = features[rows].astype(np.float64)
    reduce = projection(raw[trained] if trained.any() else raw, DIMENSIONS, standardise=True)
    outputs = Outputs(
        losses[rows],
        sizes[rows],
        truth[rows],
        reduce(raw),
        np.array([SOURCES.index(pair.source) for pair in kept], dtype=np.int64),
        trained,
        tuple(pair.name for pair in kept),
        excluded=len(pairs) - len(rows),
    )
    return outputs, raw


def measure(
    logits: NDArray[np.float32], masks: NDArray[np.bool_], features: NDArray[np.float32]
) -> tuple[FloatArray, FloatArray, FloatArray, NDArray[np.float32]]:
    """Return loss and size curves on the grid, the true fractions, and the features unchanged."""
    curves = false_negatives(-logits, masks, grid=-LOGITS)
    steps = len(LOGITS) + 1  # the first is the empty mask
    sizes: Any = curves.sizes
    losses = curves.losses.reshape(-1, steps)[:, 1:]
    return losses, sizes.reshape(-1, steps)[:, 1:], masks.mean(axis=(1, 2)), features


def quality(outputs: Outputs) -> list[str]:
    """Return lines with overlap and false negatives at probability 0.5, by source and split."""
    half = int(np.abs(LOGITS).argmin())
    missed, size, truth = outputs.losses[:, half], outputs.sizes[:, half], outputs.truth
    dice = 2 * (1 - missed) * truth / (size + truth)
    lines = []
    for trained in (True, False):
        for i, source in enumerate(SOURCES):
            rows = (outputs.sources == i) & (outputs.trained == trained)
            if rows.any():
                lines.append(
                    f"{'seen' if trained else 'unseen':6} {source:17} {rows.sum():4} images: "
                    f"Dice {dice[rows].mean():.3f}, FNR {missed[rows].mean():.3f}, "
                    f"mask {size[rows].mean():.3f}, truth {truth[rows].mean():.3f}"
                )
    return lines


def main(arguments: list[str] | None = None) -> None:
    """Run the command."""
    parser = argparse.ArgumentParser(
        "python -m localarc_lab.experiments.polyps.export", None, __doc__
    )
    parser.add_argument("--weights", type=Path, required=True, help="weights that train wrote")
    parser.add_argument("--out", type=Path, required=True, help="output file")
    parser.add_argument(
        "--images", type=Path, help="folder of the zip files [default: the data set polyps]"
    )
    asked = parser.parse_args(arguments)
    pairs = images.find(asked.images or data.get("polyps"))
    device = best_device()
    outputs, raw = export(network.load(asked.weights, device), pairs, device)
    outputs.save(asked.out)
    print("\n".join(quality(outputs)))
    print(f"{outputs.excluded} images without a true pixel are excluded")
    for name, features in (("raw", raw), (f"{DIMENSIONS} dimensions", outputs.features)):
        accuracy = neighbour_accuracy(features, outputs.sources)
        print(f"10-nearest-neighbour source accuracy, {name}: {accuracy:.3f}")
    print(f"wrote {asked.out}, {asked.out.stat().st_size / 1e6:.2f} MB")


if __name__ == "__main__":
    main()
