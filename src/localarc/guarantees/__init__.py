"""Guarantees: what is promised about the mean loss, with every constant and assumption."""

from __future__ import annotations

from typing import TYPE_CHECKING

from localarc.guarantees.bounds import Bound, Evidence
from localarc.guarantees.certificate import Certificate
from localarc.guarantees.verdict import Part, Verdict

if TYPE_CHECKING:
    from localarc.guarantees.theorem_e import AutoCertificate, NodeCertificate, Place

__all__ = [
    "AutoCertificate",
    "Bound",
    "Certificate",
    "Evidence",
    "NodeCertificate",
    "Part",
    "Place",
    "Verdict",
]


def __getattr__(name: str) -> object:
    """Import what reads the engine's sums, and with them numba, when it is first used."""
    if name not in ("AutoCertificate", "NodeCertificate", "Place"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from localarc.guarantees import theorem_e

    return getattr(theorem_e, name)
