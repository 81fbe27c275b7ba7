"""ARC: one threshold for all inputs, eq. (aci_update_rule)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from localarc import validation
from localarc.calibrators.larc import LARC
from localarc.rates import Rate


class ARC(LARC):
    """Adaptive risk control: L-ARC without a kernel, one threshold whatever the input.

    >>> cal = ARC(alpha=0.1, rate=0.5)
    >>> cal.update(None, loss=1.0).threshold(None)
    0.45
    """

    def __init__(
        self,
        alpha: float,
        rate: Rate | float | Callable[[int], float] = 1.0,
        *,
        loss_bound: float = 1.0,
        score_range: tuple[float, float] | None = None,
        initial_threshold: float = 0.0,
    ) -> None:
        super().__init__(
            alpha,
            None,
            rate,
            0.0,
            loss_bound=loss_bound,
            score_range=score_range,
            initial_threshold=initial_threshold,
        )

    def threshold(self, x: Any) -> Any:
        """c_t for one input, whatever it is, or n times c_t for an (n, d) array."""
        return self._constant.constant if validation.is_single(x) else super().threshold(x)
