"""The network: ResNet18, from a picture to one logit per class.

It is built from torch's containers, and `forward` defines the order of evaluation. Layers,
sizes and initial weights are those of He et al. (2016) as torchvision has them.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

_STAGES = ((64, 1), (128, 2), (256, 2), (512, 2))
"""Channels, and the stride of the first of two blocks."""

_MEAN, _SPREAD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)


def build(classes: int) -> Any:
    """Return a network with random weights."""
    from torch import nn

    blocks = nn.ModuleList()
    channels = 64
    for wider, stride in _STAGES:
        blocks.append(_block(channels, wider, stride))
        blocks.append(_block(wider, wider, 1))
        channels = wider
    stem = nn.Sequential(
        _conv(3, 64, 7, 2), nn.BatchNorm2d(64), nn.ReLU(), nn.MaxPool2d(3, stride=2, padding=1)
    )
    head = nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(channels, classes))
    return nn.ModuleDict({"stem": stem, "blocks": blocks, "head": head})


def _block(channels: int, wider: int, stride: int) -> Any:
    """Two convolutions with a skip connection."""
    from torch import nn

    body = nn.Sequential(
        _conv(channels, wider, 3, stride),
        nn.BatchNorm2d(wider),
        nn.ReLU(),
        _conv(wider, wider, 3, 1),
        nn.BatchNorm2d(wider),
    )
    around: Any = nn.Identity()
    if stride != 1 or channels != wider:
        around = nn.Sequential(_conv(channels, wider, 1, stride), nn.BatchNorm2d(wider))
    return nn.ModuleDict({"body": body, "around": around})


def _conv(channels: int, wider: int, width: int, stride: int) -> Any:
    from torch import nn

    layer = nn.Conv2d(channels, wider, width, stride, padding=width // 2, bias=False)
    nn.init.kaiming_normal_(layer.weight, mode="fan_out", nonlinearity="relu")
    return layer


def forward(model: Any, pictures: Any) -> Any:
    """Return logits (n, classes) of pictures (n, 3, side, side) in [0, 1]."""
    mean = pictures.new_tensor(_MEAN).reshape(1, 3, 1, 1)
    spread = pictures.new_tensor(_SPREAD).reshape(1, 3, 1, 1)
    x = model["stem"]((pictures - mean) / spread)
    for block in model["blocks"]:
        x = (block["body"](x) + block["around"](x)).relu()
    return model["head"](x)


def save(model: Any, path: Path) -> None:
    """Write the weights."""
    import torch

    path.parent.mkdir(parents=True, exist_ok=True)
    torch.save({name: value.cpu() for name, value in model.state_dict().items()}, path)


def load(path: Path, device: str = "cpu") -> Any:
    """Read a network that `save` wrote, ready to predict."""
    import torch

    weights = torch.load(path, map_location=device, weights_only=True)
    model = build(len(weights["head.2.bias"]))
    model.load_state_dict(weights)
    return model.to(device).eval()
