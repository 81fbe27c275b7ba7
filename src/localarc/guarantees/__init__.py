"""Guarantees: what is promised about the mean loss, with every constant and assumption."""

from localarc.guarantees.bounds import Bound, Evidence
from localarc.guarantees.certificate import Certificate
from localarc.guarantees.theorem_e import AutoCertificate, NodeCertificate, Place

__all__ = ["AutoCertificate", "Bound", "Certificate", "Evidence", "NodeCertificate", "Place"]
