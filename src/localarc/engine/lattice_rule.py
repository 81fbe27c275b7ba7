"""How fine and how wide a lattice must be for a promised accuracy.

In one dimension exp(-(x - y)^2) = (2 / sqrt(pi)) * integral of phi_z(x) phi_z(y) over z, where
phi_z(x) = exp(-2 (x - z)^2). The lattice replaces the integral by a sum over z = n * step, and
drops phi_z(x) where |x - z| >= reach * step. Two things are lost:

- a sum stands for an integral: a factor within 2 sum_k exp(-(pi k / (2 step))^2) of 1 (Poisson);
- the dropped nodes: at most 4 c sum_{j >= reach} exp(-2 (step j)^2), with c = 2 step / sqrt(pi).

In d dimensions the kernel is a product of d such factors, each at most 1 before the error.
"""

import functools
import math
from dataclasses import dataclass

FINEST = 1e-15  # below this, rounding in the sums is larger than what the rule could promise
STEPS = [n / 256 for n in range(40, 257)]  # short binary numbers: the nodes are exact in float64


@dataclass(frozen=True, slots=True)
class Rule:
    """Nodes at multiples of `step`, 2 * `reach` of them in each dimension for a point."""

    step: float
    reach: int

    def error(self, dimensions: int) -> float:
        """A bound on |k - k_lattice| for two points anywhere, for a Gaussian of scale 1."""
        return math.expm1(dimensions * math.log1p(self._aliasing() + self._truncation()))

    def weight(self, dimensions: int) -> float:
        """The factor (2 step / sqrt(pi))^d in front of the sum over nodes."""
        return (2.0 * self.step / math.sqrt(math.pi)) ** dimensions

    def _aliasing(self) -> float:
        return 2.0 * sum(math.exp(-((math.pi * k / (2.0 * self.step)) ** 2)) for k in range(1, 9))

    def _truncation(self) -> float:
        far = range(self.reach, self.reach + 200)
        return 4.0 * self.weight(1) * sum(math.exp(-2.0 * (self.step * j) ** 2) for j in far)


@functools.cache
def rule_for(tolerance: float, dimensions: int) -> Rule:
    """The cheapest rule whose bound is within `tolerance`: fewest nodes, then smallest error."""
    if not FINEST <= tolerance <= 0.1:
        raise ValueError(
            f"a lattice's tolerance must lie between {FINEST} and 0.1, got {tolerance}. "
            "It bounds the error of the kernel; 1e-15 is rounding accuracy, 1e-8 is twice as fast."
        )
    for reach in range(2, 40):
        best = min((Rule(step, reach) for step in STEPS), key=lambda rule: rule.error(dimensions))
        if best.error(dimensions) <= tolerance:
            return best
    raise AssertionError("a reach of 40 is enough for every tolerance")
