"""Guarantees: what is promised about the mean loss, with every constant and assumption."""

from localarc.control.guarantees.bound import Bound, Evidence
from localarc.control.guarantees.certificate import Certificate

__all__ = ["Bound", "Certificate", "Evidence"]
