"""Materials: reflection coefficients of surfaces.

Every surface is a single-layer slab in air, as in Recommendation ITU-R P.2040: a wave enters, is
reflected back and forth inside, and part of it leaves on the side of incidence.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from localarc import validation
from localarc.validation import FloatArray

ComplexArray: TypeAlias = NDArray[np.complex128]

SPEED_OF_LIGHT = 299_792_458.0
"""In metres per second."""

_VACUUM_PERMITTIVITY = 8.8541878128e-12


@dataclass(frozen=True, slots=True)
class Material:
    """A slab: relative permittivity `a f^b`, conductivity `c f^d` in S/m, thickness in metres.

    The frequency f is in GHz, and the four numbers are those of the table of ITU-R P.2040.

    >>> print(CONCRETE.permittivity(2.14e9).round(3))
    (5.24-0.704j)
    """

    name: str
    a: float
    b: float = 0.0
    c: float = 0.0
    d: float = 0.0
    thickness: float = 0.1

    def __post_init__(self) -> None:
        if validation.finite("a", self.a, "It is the relative permittivity at 1 GHz.") < 1:
            raise ValueError(f"a must be at least 1, the permittivity of vacuum, got {self.a}.")
        for name in ("b", "d"):
            validation.finite(name, getattr(self, name), "It is the power of the frequency in GHz.")
        validation.not_negative("c", self.c, "It is the conductivity in S/m at 1 GHz.")
        validation.positive("thickness", self.thickness, "It is in metres, e.g. 0.1.")

    def relative(self, frequency: float) -> float:
        """Return the real part of the relative permittivity, at a frequency in Hz."""
        return float(self.a * (frequency / 1e9) ** self.b)

    def conductivity(self, frequency: float) -> float:
        """Return the conductivity in S/m, at a frequency in Hz."""
        return float(self.c * (frequency / 1e9) ** self.d)

    def permittivity(self, frequency: float) -> np.complex128:
        """Return the complex relative permittivity; its imaginary part, the losses, is negative."""
        losses = self.conductivity(frequency) / (2 * np.pi * frequency * _VACUUM_PERMITTIVITY)
        return np.complex128(self.relative(frequency) - 1j * losses)


CONCRETE = Material("concrete", 5.24, 0.0, 0.0462, 0.7822)
BRICK = Material("brick", 3.91, 0.0, 0.0238, 0.16)
GLASS = Material("glass", 6.31, 0.0, 0.0036, 1.3394)
METAL = Material("metal", 1.0, 0.0, 1e7, 0.0)
MEDIUM_DRY_GROUND = Material("medium_dry_ground", 15.0, -0.1, 0.035, 1.63)
"""Rows of ITU-R P.2040 between 1 and 10 GHz."""


def reflection(
    material: Material, cosine: FloatArray, frequency: float
) -> tuple[ComplexArray, ComplexArray]:
    """Return coefficients for a field normal to (TE) and in (TM) the plane of incidence.

    `cosine` is the cosine of the angle between the ray and the surface normal.
    """
    permittivity = material.permittivity(frequency)
    inside: ComplexArray = np.sqrt(permittivity - (1 - cosine**2))
    turns = material.thickness * frequency / SPEED_OF_LIGHT
    crossing = np.exp(-4j * np.pi * turns * inside)
    across: ComplexArray = (cosine - inside) / (cosine + inside)
    within: ComplexArray = (permittivity * cosine - inside) / (permittivity * cosine + inside)
    return _slab(across, crossing), _slab(within, crossing)


def _slab(face: ComplexArray, crossing: ComplexArray) -> ComplexArray:
    """The total reflection of a slab; `crossing` is the phase of one round trip inside."""
    total: ComplexArray = face * (1 - crossing) / (1 - face**2 * crossing)
    return total
