"""What a certificate guarantees, as numbers that JSON can hold."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from localarc.guarantees import Certificate

if TYPE_CHECKING:
    from localarc.guarantees.theorem_e import NodeCertificate


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


def finite(value: float) -> float | None:
    """The number, or None where JSON has none."""
    return value if math.isfinite(value) else None
