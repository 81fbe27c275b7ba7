"""Channels: what a city of boxes does to a radio wave on its way to a receiver."""

from localarc.experiments.beams.channels.engines import Engine, trace
from localarc.experiments.beams.channels.layouts import (
    AREA,
    RECEIVER_HEIGHT,
    city,
    draw_receivers,
    urban,
)
from localarc.experiments.beams.channels.materials import Material
from localarc.experiments.beams.channels.scene import Box, Scene, Transmitter, outdoors

__all__ = [
    "AREA",
    "RECEIVER_HEIGHT",
    "Box",
    "Engine",
    "Material",
    "Scene",
    "Transmitter",
    "city",
    "draw_receivers",
    "outdoors",
    "trace",
    "urban",
]
