"""The step and width of a lattice for a given accuracy.

In one dimension exp(-(x - y)^2) = (2 / sqrt(pi)) * integral of phi_z(x) phi_z(y) over z, where
phi_z(x) = exp(-2 (x - z)^2). The lattice replaces the integral by a sum over z = n * step, and
keeps phi_z(x) at the 2 * reach nodes around x. There are two errors, with r = |x - y|:

- aliasing, because a sum replaces the integral: a factor within A of 1 (Poisson summation);
- truncation of nodes: at most 2 c sum_z exp(-2 z^2 - 2 (r - z)^2), over z = reach * step,
  (reach + 1) * step, ..., with c = 2 step / sqrt(pi): negligible where the kernel is not.

Points are either near, where A dominates, or far, where the kernel itself is small. In d dimensions
the kernel is a product of d such factors. The performance page has the proof.
"""

import functools
import math
from dataclasses import dataclass

MAX_REACH = 32  # a point then touches at most 9 tiles in a row, which lie on two pages
FINEST = 1e-15  # below this, rounding in the sums exceeds the error of the rule


@dataclass(frozen=True, slots=True)
class Rule:
    """Nodes at multiples of `step`, 2 * `reach` of them in each dimension for a point."""

    step: float
    reach: int

    def error(self, dimensions: int) -> float:
        """A bound on |k - k_lattice| for two points anywhere, for a Gaussian of scale 1."""
        border = self.step * self.reach / 2.0  # between near and far
        faint = math.exp(-(border**2))
        near = self._aliasing() + self._truncation(border)
        far = self._aliasing() + self._truncation(math.inf) / faint
        return max(
            faint**k * math.expm1(k * math.log1p(far) + (dimensions - k) * math.log1p(near))
            for k in range(dimensions + 1)  # dimensions in which the points are far
        )

    def weight(self, dimensions: int) -> float:
        """The factor (2 step / sqrt(pi))^d in front of the sum over nodes."""
        return (2.0 * self.step / math.sqrt(math.pi)) ** dimensions

    def _aliasing(self) -> float:
        return 2.0 * sum(math.exp(-((math.pi * k / (2.0 * self.step)) ** 2)) for k in range(1, 9))

    def _truncation(self, distance: float) -> float:
        """A bound on the dropped nodes for points up to `distance` apart."""
        nodes = [self.step * j for j in range(self.reach, self.reach + 50)]  # the rest vanishes
        lost = (math.exp(-2.0 * z**2 - 2.0 * max(z - distance, 0.0) ** 2) for z in nodes)
        everything = math.exp(-4.0 * nodes[0] ** 2)  # the kernel itself, where no node is left
        return max(2.0 * self.weight(1) * sum(lost), everything)


def steps_for(reach: int) -> list[float]:
    """Candidate steps within a tenth of the one at which both errors have the same exponent.

    They are short binary numbers, so that the nodes are exact in float64.
    """
    even = math.sqrt(math.pi / (math.sqrt(8.0) * reach))
    return [n / 256 for n in range(round(0.9 * even * 256), round(1.1 * even * 256) + 1)]


@functools.cache
def choose_rule(tolerance: float, dimensions: int) -> Rule:
    """The cheapest rule whose bound is within `tolerance`: fewest nodes, then smallest error."""
    if not FINEST <= tolerance <= 0.1:
        raise ValueError(
            f"a lattice's tolerance must lie between {FINEST} and 0.1, got {tolerance}. "
            "It bounds the error of the kernel; 1e-15 is rounding accuracy, 1e-8 is twice as fast."
        )
    for reach in range(2, MAX_REACH + 1):
        rules = (Rule(step, reach) for step in steps_for(reach))
        best = min(rules, key=lambda rule: rule.error(dimensions))
        if best.error(dimensions) <= tolerance:
            return best
    raise AssertionError("half of that reach is enough for every tolerance")
