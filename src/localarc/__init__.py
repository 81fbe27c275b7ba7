"""Online risk control for deployed models, overall and per region of the input space.

The public names below are imported when they are first used, so that `import localarc` is fast.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from localarc.calibrators.arc import ARC
    from localarc.calibrators.auto import AutoLARC, LabelSets, LabelTicket, Safeguard
    from localarc.calibrators.auto.pending_limit import PendingWarning
    from localarc.calibrators.gate import Decision, Gate, GateSummary, GateTerms
    from localarc.calibrators.health import PromiseWarning
    from localarc.calibrators.larc import LARC
    from localarc.calibrators.mondrian import Mondrian
    from localarc.calibrators.role import Calibrator, OnlineCalibrator, OnlineMethod
    from localarc.guarantees import Bound, Certificate, Evidence
    from localarc.guarantees.assumptions import AssumptionWarning
    from localarc.kernels import (
        RBF,
        Cauchy,
        Custom,
        Laplace,
        Matern32,
        Matern52,
        Radial,
        RationalQuadratic,
        Triangular,
    )
    from localarc.many import Panel
    from localarc.memory import Dictionary, KeepAll, KeepLast, Lattice
    from localarc.rates import Constant, InverseSqrt, Power
    from localarc.running.dask import WorkerLostError
    from localarc.running.record import Record
    from localarc.running.replay import replay, replay_many
    from localarc.running.sweep import Sweep, sweep
    from localarc.running.tune import Tuning, tune
    from localarc.serialization import StateError

    __version__: str

_MODULES = (
    *("curves", "figures", "forecasting", "guarantees", "kernels", "many", "measures", "memory"),
    *("models", "monitoring", "rates", "reporting", "sets", "streams", "testing"),
)
_HOME = {
    "localarc.running.replay": ("replay", "replay_many"),
    "localarc.running.dask": ("WorkerLostError",),
    "localarc.running.sweep": ("Sweep", "sweep"),
    "localarc.running.tune": ("Tuning", "tune"),
    "localarc.calibrators.arc": ("ARC",),
    "localarc.calibrators.auto": ("AutoLARC", "LabelSets", "LabelTicket", "Safeguard"),
    "localarc.calibrators.role": ("Calibrator", "OnlineCalibrator", "OnlineMethod"),
    "localarc.calibrators.gate": ("Decision", "Gate", "GateSummary", "GateTerms"),
    "localarc.calibrators.auto.pending_limit": ("PendingWarning",),
    "localarc.calibrators.health": ("PromiseWarning",),
    "localarc.calibrators.larc": ("LARC",),
    "localarc.calibrators.mondrian": ("Mondrian",),
    "localarc.guarantees.assumptions": ("AssumptionWarning",),
    "localarc.guarantees": ("Bound", "Certificate", "Evidence"),
    "localarc.kernels": (
        *("RBF", "Cauchy", "Custom", "Laplace", "Matern32", "Matern52"),
        *("Radial", "RationalQuadratic", "Triangular"),
    ),
    "localarc.memory": ("Dictionary", "KeepAll", "KeepLast", "Lattice"),
    "localarc.many": ("Panel",),
    "localarc.rates": ("Constant", "InverseSqrt", "Power"),
    "localarc.running.record": ("Record",),
    "localarc.serialization": ("StateError",),
}
_NAMES = {name: module for module, names in _HOME.items() for name in names}

__all__ = [
    "ARC",
    "LARC",
    "RBF",
    "AssumptionWarning",
    "AutoLARC",
    "Bound",
    "Calibrator",
    "Cauchy",
    "Certificate",
    "Constant",
    "Custom",
    "Decision",
    "Dictionary",
    "Evidence",
    "Gate",
    "GateSummary",
    "GateTerms",
    "InverseSqrt",
    "KeepAll",
    "KeepLast",
    "LabelSets",
    "LabelTicket",
    "Laplace",
    "Lattice",
    "Matern32",
    "Matern52",
    "Mondrian",
    "OnlineCalibrator",
    "OnlineMethod",
    "Panel",
    "PendingWarning",
    "Power",
    "PromiseWarning",
    "Radial",
    "RationalQuadratic",
    "Record",
    "Safeguard",
    "StateError",
    "Sweep",
    "Triangular",
    "Tuning",
    "WorkerLostError",
    "__version__",
    "replay",
    "replay_many",
    "sweep",
    "tune",
]


def __getattr__(name: str) -> object:
    value: object
    if name == "__version__":
        value = _version()
    elif name in _NAMES:
        value = getattr(import_module(_NAMES[name]), name)
    elif name in _MODULES:
        value = import_module(f"{__name__}.{name}")
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, *_MODULES})


def _version() -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("localarc")
    except PackageNotFoundError:  # a source tree on the path, never installed
        return "0+unknown"
