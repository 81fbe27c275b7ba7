"""The radio: from the channel of each antenna to the gain of each beam, with fading."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from localarc.validation import FloatArray
from localarc_lab.experiments.beams.codebook import ComplexArray, fourier, half_turn

SIGMA = 1e-4
"""The parameter of the Rayleigh fading, as in the paper."""

_BEAMS = 11

Fading = Callable[[ComplexArray, ComplexArray, np.random.Generator], FloatArray]
"""Gains of beams, (n, beams), from channels, (n, antennas), and a codebook, with fading."""


def faded_antennas(
    channels: ComplexArray, codebook: ComplexArray, random: np.random.Generator
) -> FloatArray:
    """Add a complex Gaussian, whose modulus is Rayleigh, to each antenna's channel: the paper's.

    The gain of beam b is the amplitude `|h^T b|`, which the paper calls SNR.
    """
    noise = random.normal(scale=SIGMA, size=(2, *channels.shape))
    return gains(channels + noise[0] + 1j * noise[1], codebook)


def faded_gains(
    channels: ComplexArray, codebook: ComplexArray, random: np.random.Generator
) -> FloatArray:
    """Add a Rayleigh variable to each beam's gain, which can only raise it: the released code's.

    It does not depend on the number of antennas that a beam combines.
    """
    exact = gains(channels, codebook)
    return np.asarray(exact + random.rayleigh(SIGMA, exact.shape))


def gains(channels: ComplexArray, codebook: ComplexArray) -> FloatArray:
    """Return `|h^T b|` for each user and each beam, without fading."""
    return np.abs(channels @ codebook.T)


@dataclass(frozen=True)
class Radio:
    """A kind of codebook and a kind of fading."""

    make_codebook: Callable[[int, int], ComplexArray]
    fade: Fading

    def codebook(self, antennas: int) -> ComplexArray:
        """Return the beams for a number of antennas."""
        return self.make_codebook(antennas, _BEAMS)


PAPER = Radio(fourier, faded_antennas)
RELEASED = Radio(half_turn, faded_gains)
