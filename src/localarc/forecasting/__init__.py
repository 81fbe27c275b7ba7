"""Forecasts: bands for every series, step and hour, whose outcomes become known later."""

from localarc.forecasting.bands import Bands
from localarc.forecasting.certificate import BandsCertificate

__all__ = ["Bands", "BandsCertificate"]
