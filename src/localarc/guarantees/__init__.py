"""Guarantees: what is promised about the mean loss, with every constant and assumption."""

from localarc.guarantees.bounds import Bound, Evidence
from localarc.guarantees.certificate import Certificate

__all__ = ["Bound", "Certificate", "Evidence"]
