"""Methods: the calibrators that a stream can have, each as the service makes and uses it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

from localarc_client.wire.config import AutoConfig, GateConfig, MondrianConfig, StreamConfig
from localarc_service.streams.methods import adaptive, mondrian
from localarc_service.streams.methods.base import Method

if TYPE_CHECKING:
    from localarc import ARC, LARC, AutoLARC, Gate, Mondrian

__all__ = ["AnyCalibrator", "Method", "build_calibrator", "method_of"]

AnyCalibrator: TypeAlias = "ARC | LARC | Mondrian | AutoLARC | Gate"


def build_calibrator(config: StreamConfig) -> AnyCalibrator:
    """The calibrator that a config describes, before its first round; the status warns for it."""
    if isinstance(config, AutoConfig):
        from localarc_service.streams.methods import auto  # imports numba

        return auto.build(config)
    if isinstance(config, GateConfig):
        from localarc_service.streams.methods import gate  # imports numba

        return gate.build(config)
    if isinstance(config, MondrianConfig):
        return mondrian.build(config)
    return adaptive.build(config)


def method_of(calibrator: Any, config: StreamConfig) -> Method[Any]:
    """The calibrator of a config, as the service uses it."""
    if isinstance(config, AutoConfig):
        from localarc_service.streams.methods.auto import AutoMethod  # imports numba

        return AutoMethod(calibrator, config)
    if isinstance(config, GateConfig):
        from localarc_service.streams.methods.gate import GateMethod

        return GateMethod(calibrator, config)
    if isinstance(config, MondrianConfig):
        return mondrian.MondrianMethod(calibrator, config)
    return adaptive.AdaptiveMethod(calibrator, config)
