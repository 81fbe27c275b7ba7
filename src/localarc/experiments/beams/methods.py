"""Methods: how to make each one's calibrator, for any target."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from localarc.calibrators.arc import ARC
from localarc.calibrators.base import BaseCalibrator
from localarc.calibrators.larc import LARC
from localarc.calibrators.mondrian import Mondrian
from localarc.kernels import RBF
from localarc.memory import KeepAll, KeepLast, Memory

TARGETS = 0.025, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5
SHOWN = 0.1
"""The target of maps, of the running risk and of the memory study."""

LENGTH_SCALES = 100.0, 625.0, 2500.0
"""Square metres. The paper says 10, 25 and 50, in a formula that divides by their squares."""

WINDOWS = 500, 1000
_RANGE = -1.0, 0.0  # minus a predicted share


@dataclass(frozen=True)
class Recipe:
    """A method, and the targets at which it is run."""

    length_scale: float | None = None
    memory: Memory | str = "auto"
    by_distance: bool = False
    targets: tuple[float, ...] = TARGETS

    def __call__(self, alpha: float = SHOWN) -> BaseCalibrator:
        """A new calibrator."""
        if self.length_scale is not None:
            kernel = RBF.from_paper(self.length_scale)
            return LARC(alpha, kernel, 1.0, 1e-4, score_range=_RANGE, memory=self.memory)
        make = partial(ARC, alpha, 1.0, score_range=_RANGE)
        return Mondrian(make) if self.by_distance else make()

    @property
    def swept(self) -> bool:
        """Whether all targets are run, and not only the one of the memory study."""
        return self.targets == TARGETS

    def without_archive(self) -> Recipe:
        """The same thresholds in less memory, where the average is not asked for."""
        if not isinstance(self.memory, KeepLast):
            return self
        return Recipe(self.length_scale, KeepLast(self.memory.m, archive=False))


def recipes(scales: tuple[float, ...]) -> dict[str, Recipe]:
    """ARC, Mondrian and L-ARC in constant memory; then, at one target, with other memories."""
    local = {f"L-ARC l={scale:g}": Recipe(scale) for scale in scales}
    only = partial(Recipe, scales[0], targets=(SHOWN,))
    last = {f"KeepLast({m}) l={scales[0]:g}": only(memory=KeepLast(m)) for m in WINDOWS}
    exact = {f"KeepAll l={scales[0]:g}": only(memory=KeepAll())}
    return {"ARC": Recipe(), "Mondrian": Recipe(by_distance=True), **local, **last, **exact}
