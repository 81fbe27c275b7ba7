"""Codebooks: the beams that a transmitter can choose from, one row of antenna weights each."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from localarc.validation import FloatArray

ComplexArray = NDArray[np.complex128]


def fourier(antennas: int, beams: int) -> ComplexArray:
    """The full DFT codebook: beam i turns the phase by `2 pi i / beams` from antenna to antenna.

    Beams have norm 1 and cover all directions alike: `sum_i b_i b_i^H = (beams / antennas) I`.

    >>> abs(fourier(2, 2) @ fourier(2, 2).conj().T).round(9)
    array([[1., 0.],
           [0., 1.]])
    """
    steps = 2.0 * np.pi * np.arange(beams) / beams
    return np.asarray(_turning(steps, antennas) / np.sqrt(antennas))


def half_turn(antennas: int, beams: int) -> ComplexArray:
    """The released code's: steps from -pi/2 to pi/2, both included, and norm `sqrt(antennas)`.

    With antennas half a wavelength apart it looks at most 30 degrees to either side.
    """
    return _turning(np.linspace(-np.pi / 2.0, np.pi / 2.0, beams), antennas)


def _turning(steps: FloatArray, antennas: int) -> ComplexArray:
    return np.asarray(np.exp(1j * steps[:, None] * np.arange(antennas)))
