"""Ray tracing: radio channels from a transmitter to receivers in a city of boxes."""

from localarc_lab.experiments.beams.raytracer.engines import Engine, trace
from localarc_lab.experiments.beams.raytracer.layouts import (
    AREA,
    RECEIVER_HEIGHT,
    city,
    draw_receivers,
    urban,
)
from localarc_lab.experiments.beams.raytracer.materials import Material
from localarc_lab.experiments.beams.raytracer.scene import Box, Scene, Transmitter, outdoors

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
