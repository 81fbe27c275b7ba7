"""Training: writes outputs and weights.

    python -m localarc_lab.experiments.fruit.train --out FOLDER

It takes seconds on a GPU and minutes on a CPU. Training stops early on purpose: the classifier
should be useful but not yet confident. `--classes` uses only the first classes, as a quick check.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from localarc_lab import data
from localarc_lab.experiments.fruit import network, tiles
from localarc_lab.experiments.fruit.model_outputs import FILE, Outputs
from localarc_lab.experiments.fruit.tiles import Tiles
from localarc_lab.experiments.torch_device import best_device

WEIGHTS = "classifier.pt"
EPOCHS = 5
_RATE, _MOMENTUM, _BATCH = 1e-3, 0.9, 128
_AT_ONCE = 512  # pictures in one prediction


def train(
    seen: Tiles, classes: int, epochs: int = EPOCHS, seed: int = 0, device: str = "cpu"
) -> Any:
    """Train a classifier: cross-entropy, gradient descent with momentum, no augmentation."""
    import torch

    torch.manual_seed(seed)
    random = torch.Generator().manual_seed(seed)
    model = network.build(classes).to(device).train()
    pictures, labels = _on(device, seen.pictures), torch.from_numpy(seen.labels).to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=_RATE, momentum=_MOMENTUM)
    for epoch in range(epochs):
        start, total = time.perf_counter(), 0.0
        for rows in torch.randperm(len(seen), generator=random).split(_BATCH):
            chosen = rows.to(device)
            logits = network.forward(model, pictures[chosen].float() / 255)
            cost = torch.nn.functional.cross_entropy(logits, labels[chosen])
            optimizer.zero_grad(set_to_none=True)
            cost.backward()
            optimizer.step()
            total += cost.item() * len(rows)
        seconds = time.perf_counter() - start
        print(f"epoch {epoch + 1} of {epochs}: loss {total / len(seen):.4f}, {seconds:.1f} s")
    return model.eval()


def predict(model: Any, pictures: NDArray[np.uint8], device: str = "cpu") -> NDArray[np.float32]:
    """Return logits (n, classes)."""
    import torch

    exact = torch.backends.cudnn.flags(allow_tf32=False)  # as on a CPU
    with torch.inference_mode(), exact:
        parts = [
            network.forward(model, batch.float() / 255).cpu()
            for batch in _on(device, pictures).split(_AT_ONCE)
        ]
    found: NDArray[np.float32] = torch.cat(parts).numpy()
    return found


def _on(device: str, pictures: NDArray[np.uint8]) -> Any:
    """Pictures as bytes (n, 3, side, side) on the device."""
    import torch

    return torch.from_numpy(pictures.transpose(0, 3, 1, 2).copy()).to(device)


def main(arguments: list[str] | None = None) -> None:
    """Run the command."""
    parser = argparse.ArgumentParser(
        "python -m localarc_lab.experiments.fruit.train", None, __doc__
    )
    parser.add_argument("--out", type=Path, required=True, help="output folder")
    parser.add_argument(
        "--images", type=Path, help="folder of the zip files [default: the data set fruits360]"
    )
    parser.add_argument("--epochs", type=int, default=EPOCHS)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--classes", type=int, help="use only the first N classes")
    parser.add_argument("--logits", action="store_true", help="also write logits.npy")
    asked = parser.parse_args(arguments)
    folder = asked.images or data.get("fruits360")
    chosen = range(asked.classes or len(tiles.class_names(folder)))
    device = best_device()
    model = train(
        tiles.read(folder, "Training", chosen), len(chosen), asked.epochs, asked.seed, device
    )
    test = tiles.read(folder, "Test", chosen)
    logits = predict(model, test.pictures, device)
    outputs = Outputs.of(logits, test.labels)
    network.save(model, asked.out / WEIGHTS)
    if asked.logits:
        np.save(asked.out / "logits.npy", logits)
    outputs.save(asked.out / FILE)
    accuracy = float((logits.argmax(axis=1) == test.labels).mean())
    print(f"{len(test)} test pictures of {len(chosen)} classes, accuracy {accuracy:.4f}")
    print(f"wrote {asked.out / FILE}, {(asked.out / FILE).stat().st_size / 1e6:.2f} MB")


if __name__ == "__main__":
    main()
