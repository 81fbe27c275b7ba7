"""What a certificate guarantees, as numbers that JSON can hold."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from localarc.guarantees import Certificate, Part

if TYPE_CHECKING:
    from localarc.betting import NodeCertificate


def above_and_below(
    certificate: Certificate | NodeCertificate | None, deviation: float
) -> tuple[float | None, float | None]:
    """How far a group's risk can be above and below the target; None without a guarantee."""
    if certificate is None:
        return None, None
    if isinstance(certificate, Certificate):
        bounds = certificate.bound, certificate.bound
    else:
        bounds = certificate.above, certificate.below
    above, below = (bound.beside(deviation) for bound in bounds)
    return (
        finite(above.value) if above.holds else None,
        finite(below.value) if below.holds and below.side != "above" else None,
    )


def bounds_above(certificate: Any, groups: Iterable[Part], target: float) -> dict[str, float]:
    """How far above the target the risk can be: of all rounds (the empty name), and of groups."""
    tightest, found = certificate.tightest, {}
    if tightest is not None and tightest.side != "below":
        found[""] = finite(tightest.value)
    for group in groups:
        guaranteed = certificate.groups.get(group.name)
        found[str(group.name)] = above_and_below(guaranteed, group.risk - target)[0]
    return {name: value for name, value in found.items() if value is not None}


def finite(value: float) -> float | None:
    """The number, or None where JSON has none."""
    return value if math.isfinite(value) else None
