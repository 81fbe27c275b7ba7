"""Training: `python -m localarc_lab.experiments.polyps.train --out FOLDER` writes the segmenter.

It takes minutes on a GPU and many hours on a CPU. `--limit` uses only some images, as a check.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import Any

import numpy as np

from localarc_lab import data
from localarc_lab.experiments.polyps import images, network
from localarc_lab.experiments.polyps.augment import augment
from localarc_lab.experiments.polyps.images import Images
from localarc_lab.experiments.torch_device import best_device

FILE = "segmenter.pt"
_RATE = 1e-3
_DECAY = 1e-2
_AT_ONCE = 64  # images read together


def train(
    pairs: Images,
    epochs: int = 100,
    batch: int = 16,
    seed: int = 0,
    device: str = "cpu",
    from_scratch: bool = False,
) -> Any:
    """Train a segmenter: cross-entropy and Dice, AdamW, one cycle of learning rates."""
    import torch

    torch.manual_seed(seed)
    random = torch.Generator().manual_seed(seed)
    model = network.build()
    if not from_scratch:
        network.start_from_imagenet(model)
    model = model.to(device, memory_format=torch.channels_last).train()
    pictures, masks = _on(device, pairs)
    steps = len(pairs) // batch  # the last, smaller batch of an epoch is skipped
    optimizer = torch.optim.AdamW(model.parameters(), lr=_RATE, weight_decay=_DECAY)
    cycle = torch.optim.lr_scheduler.OneCycleLR(optimizer, _RATE, total_steps=epochs * steps)
    for epoch in range(epochs):
        start, total = time.perf_counter(), 0.0
        for rows in torch.randperm(len(pairs), generator=random)[: steps * batch].split(batch):
            chosen = rows.to(device)
            seen, truth = augment(pictures[chosen].float() / 255, masks[chosen], random)
            with torch.autocast(device.split(":")[0], torch.bfloat16, enabled=device != "cpu"):
                logits, _ = network.forward(
                    model, seen.contiguous(memory_format=torch.channels_last)
                )
            cost = loss(logits.float(), truth)
            optimizer.zero_grad(set_to_none=True)
            cost.backward()
            optimizer.step()
            cycle.step()
            total += cost.item()
        seconds = time.perf_counter() - start
        print(f"epoch {epoch + 1} of {epochs}: loss {total / steps:.4f}, {seconds:.1f} s")
    return model.eval()


def loss(logits: Any, truth: Any) -> Any:
    """Return cross-entropy plus one minus the soft Dice overlap, averaged over images."""
    from torch.nn import functional

    entropy = functional.binary_cross_entropy_with_logits(logits, truth)
    p = logits.sigmoid()
    overlap = 2 * (p * truth).sum(dim=(1, 2)) + 1
    extent = p.sum(dim=(1, 2)) + truth.sum(dim=(1, 2)) + 1
    return entropy + (1 - overlap / extent).mean()


def _on(device: str, pairs: Images) -> tuple[Any, Any]:
    """All pictures and masks, as bytes, on the device."""
    import torch

    parts = list(pairs.batches(_AT_ONCE))
    pictures = np.concatenate([part[0] for part in parts]).transpose(0, 3, 1, 2)
    masks = np.concatenate([part[1] for part in parts])
    return torch.from_numpy(pictures.copy()).to(device), torch.from_numpy(masks).to(device)


def main(arguments: list[str] | None = None) -> None:
    """Run the command."""
    parser = argparse.ArgumentParser(
        "python -m localarc_lab.experiments.polyps.train", None, __doc__
    )
    parser.add_argument("--out", type=Path, required=True, help=f"output folder for {FILE}")
    parser.add_argument(
        "--images", type=Path, help="folder of the zip files [default: the data set polyps]"
    )
    parser.add_argument("--epochs", type=int, default=100)
    parser.add_argument("--batch", type=int, default=16, help="images per step")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--limit", type=int, help="train on only N images")
    parser.add_argument("--from-scratch", action="store_true", help="without ImageNet weights")
    asked = parser.parse_args(arguments)
    pairs = images.find(asked.images or data.get("polyps")).trained()
    if asked.limit is not None:
        pairs = pairs.take(range(min(asked.limit, len(pairs))))
    model = train(pairs, asked.epochs, asked.batch, asked.seed, best_device(), asked.from_scratch)
    network.save(model, asked.out / FILE)
    print(f"wrote {asked.out / FILE}")


if __name__ == "__main__":
    main()
