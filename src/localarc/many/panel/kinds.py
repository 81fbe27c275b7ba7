"""Which calibrators a panel can hold; AutoLARC is imported where one is used, as it loads numba."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, TypeAlias, TypeGuard

from localarc.calibrators.arc import ARC
from localarc.calibrators.larc import LARC

if TYPE_CHECKING:
    from localarc.calibrators.auto import AutoLARC

Prototype: TypeAlias = "ARC | LARC | AutoLARC"
"""A calibrator of which a panel can hold many."""

NAMES = "ARC", "LARC", "AutoLARC"


def is_auto(calibrator: Any) -> TypeGuard[AutoLARC]:
    """Return whether it is an AutoLARC: none exists before its module is imported."""
    module = sys.modules.get("localarc.calibrators.auto")
    return module is not None and isinstance(calibrator, module.AutoLARC)


def class_of(name: str) -> Any:
    """Return the class of this name, one of `NAMES`."""
    if name == "AutoLARC":
        from localarc.calibrators.auto import AutoLARC

        return AutoLARC
    return {"ARC": ARC, "LARC": LARC}[name]
