"""Methods: the calibrators that a stream can have, each as the service uses it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

from localarc_service.storage.format import Config
from localarc_service.streams.methods.adaptive import AdaptiveMethod
from localarc_service.streams.methods.base import Method
from localarc_service.streams.methods.mondrian import MondrianMethod

if TYPE_CHECKING:
    from localarc import ARC, LARC, AutoLARC, Gate, Mondrian

__all__ = ["AnyCalibrator", "Method", "method_of"]

AnyCalibrator: TypeAlias = "ARC | LARC | Mondrian | AutoLARC | Gate"


def method_of(calibrator: Any, config: Config) -> Method[Any]:
    """The calibrator of a config, as the service uses it."""
    if config.method == "auto":
        from localarc_service.streams.methods.auto import AutoMethod  # imports numba

        return AutoMethod(calibrator, config)
    if config.method == "gate":
        from localarc_service.streams.methods.gate import GateMethod

        return GateMethod(calibrator, config)
    if config.method == "mondrian":
        return MondrianMethod(calibrator, config)
    return AdaptiveMethod(calibrator, config)
