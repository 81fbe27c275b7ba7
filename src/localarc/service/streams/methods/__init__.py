"""Methods: the calibrators that a stream can have, each as the service uses it."""

from __future__ import annotations

from typing import Any, TypeAlias

from localarc import ARC, LARC, AutoLARC, Mondrian
from localarc.service.storage.format import Config
from localarc.service.streams.methods.adaptive import AdaptiveMethod
from localarc.service.streams.methods.auto import AutoMethod
from localarc.service.streams.methods.base import Method
from localarc.service.streams.methods.mondrian import MondrianMethod

__all__ = ["AnyCalibrator", "Method", "method_of"]

AnyCalibrator: TypeAlias = ARC | LARC | Mondrian | AutoLARC


def method_of(calibrator: AnyCalibrator, config: Config) -> Method[Any]:
    """The calibrator as the service uses it."""
    if isinstance(calibrator, AutoLARC):
        return AutoMethod(calibrator, config)
    if isinstance(calibrator, Mondrian):
        return MondrianMethod(calibrator, config)
    return AdaptiveMethod(calibrator, config)
