"""Codebooks: the beams of a transmitter, one row of antenna weights per beam."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from localarc.validation import FloatArray

ComplexArray = NDArray[np.complex128]


def fourier(antennas: int, beams: int) -> ComplexArray:
    """Return the full DFT codebook: beam i shifts the phase by `2 pi i / beams` per antenna.

    Beams have norm 1 and cover all directions equally: `sum_i b_i b_i^H = (beams / antennas) I`.

    >>> abs(fourier(2, 2) @ fourier(2, 2).conj().T).round(9)
    array([[1., 0.],
           [0., 1.]])
    """
    steps = 2.0 * np.pi * np.arange(beams) / beams
    return np.asarray(_turning(steps, antennas) / np.sqrt(antennas))


def half_turn(antennas: int, beams: int) -> ComplexArray:
    """Return the released code's codebook: steps from -pi/2 to pi/2, norm `sqrt(antennas)`.

    With antennas half a wavelength apart, its beams point at most 30 degrees to either side.
    """
    return _turning(np.linspace(-np.pi / 2.0, np.pi / 2.0, beams), antennas)


def _turning(steps: FloatArray, antennas: int) -> ComplexArray:
    return np.asarray(np.exp(1j * steps[:, None] * np.arange(antennas)))
