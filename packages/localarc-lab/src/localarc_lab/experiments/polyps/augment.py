"""Augmentation: random rotation, mirroring, zoom, shift and colour for every picture."""

from __future__ import annotations

import math
from typing import Any

_ZOOM = 0.6, 1.4
_SHIFT = 0.12
_LIGHT = 0.25
_TINT = 0.12


def augment(pictures: Any, masks: Any, generator: Any) -> tuple[Any, Any]:
    """Pictures (n, 3, h, w) in [0, 1] and masks (n, h, w), moved together and recoloured."""
    from torch.nn import functional

    grid = functional.affine_grid(
        _motions(len(pictures), generator).to(pictures.device), pictures.shape, align_corners=False
    )
    moved = functional.grid_sample(
        pictures, grid, mode="bilinear", padding_mode="zeros", align_corners=False
    )
    truth = functional.grid_sample(
        masks[:, None].float(), grid, mode="bilinear", padding_mode="zeros", align_corners=False
    )
    return recolour(moved, generator), (truth[:, 0] > 0.5).float()


def _motions(n: int, generator: Any) -> Any:
    """Random rotation, mirroring half of the time, zoom and shift: (n, 2, 3)."""
    import torch

    angle = 2 * math.pi * torch.rand(n, generator=generator)
    zoom = _between(*_ZOOM, n, generator)
    mirror = 1.0 - 2.0 * (torch.rand(n, generator=generator) < 0.5).float()
    shift = _between(-_SHIFT, _SHIFT, 2 * n, generator).reshape(n, 2)
    cos, sin = angle.cos() / zoom, angle.sin() / zoom
    rows = torch.stack([cos * mirror, -sin, shift[:, 0], sin * mirror, cos, shift[:, 1]], dim=1)
    return rows.reshape(n, 2, 3)


def recolour(pictures: Any, generator: Any) -> Any:
    """Change brightness, contrast, saturation and tint of each picture at random."""
    import torch

    n = len(pictures)

    def factor(reach: float, channels: int = 1) -> Any:
        drawn = _between(1 - reach, 1 + reach, n * channels, generator)
        return drawn.reshape(n, channels, 1, 1).to(pictures.device)

    tinted = pictures * factor(_LIGHT) * factor(_TINT, channels=3)
    level = tinted.mean(dim=(1, 2, 3), keepdim=True)
    contrasted = level + (tinted - level) * factor(_LIGHT)
    grey = contrasted.mean(dim=1, keepdim=True)
    return torch.clamp(grey + (contrasted - grey) * factor(_LIGHT), 0.0, 1.0)


def _between(low: float, high: float, n: int, generator: Any) -> Any:
    import torch

    return low + (high - low) * torch.rand(n, generator=generator)
