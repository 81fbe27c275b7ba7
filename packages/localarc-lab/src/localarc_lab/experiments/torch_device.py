"""The device that torch computes on."""

from __future__ import annotations


def best_device() -> str:
    """Return `"cuda"` where torch finds a GPU, otherwise `"cpu"`."""
    import torch

    return "cuda" if torch.cuda.is_available() else "cpu"
