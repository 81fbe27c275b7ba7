"""The scene as Mitsuba XML, which Sionna RT reads."""

from __future__ import annotations

import numpy as np

from localarc.validation import FloatArray
from localarc_lab.experiments.beams.raytracer.materials import Material
from localarc_lab.experiments.beams.raytracer.scene import Scene

_MARGIN = 1.0


def as_xml(scene: Scene, receivers: FloatArray) -> str:
    """Return boxes and ground as XML, with material constants at the transmitter's frequency."""
    names: dict[Material, str] = {}
    for material in (scene.ground_material, *(box.material for box in scene.boxes)):
        names.setdefault(material, f"material-{len(names)}")
    parts = [
        _material(material, name, scene.transmitter.frequency) for material, name in names.items()
    ]
    parts.append(
        _shape("rectangle", "ground", *_ground(scene, receivers), names[scene.ground_material])
    )
    for number, box in enumerate(scene.boxes):
        ends = np.array(box.lower), np.array(box.upper)
        parts.append(_shape("cube", f"box-{number}", *ends, names[box.material]))
    return "\n".join(['<scene version="2.1.0">', *parts, "</scene>"])


def _ground(scene: Scene, receivers: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Opposite corners of the ground: paths stay between transmitter, boxes and receivers."""
    corners = [corner for box in scene.boxes for corner in (box.lower, box.upper)]
    points = np.concatenate([[scene.transmitter.position, *corners], receivers])
    lower, upper = points.min(axis=0) - _MARGIN, points.max(axis=0) + _MARGIN
    lower[2] = upper[2] = scene.ground
    return lower, upper


def _material(material: Material, name: str, frequency: float) -> str:
    values = {
        "relative_permittivity": material.relative(frequency),
        "conductivity": material.conductivity(frequency),
        "thickness": material.thickness,
    }
    floats = "".join(f'<float name="{key}" value="{value!r}"/>' for key, value in values.items())
    return f'<bsdf type="radio-material" id="{name}">{floats}</bsdf>'


def _shape(kind: str, name: str, lower: FloatArray, upper: FloatArray, material: str) -> str:
    """A unit shape from -1 to 1, scaled and moved."""
    half, middle = (upper - lower) / 2, (upper + lower) / 2
    if kind == "rectangle":
        half[2] = 1.0  # it has no height to scale
    return (
        f'<shape type="{kind}" id="{name}"><transform name="to_world">'
        f"<scale {_xyz(half)}/><translate {_xyz(middle)}/></transform>"
        f'<ref id="{material}" name="bsdf"/></shape>'
    )


def _xyz(vector: FloatArray) -> str:
    return " ".join(f'{axis}="{float(value)!r}"' for axis, value in zip("xyz", vector, strict=True))
